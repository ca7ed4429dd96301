// MPI calls on the critical path: the part of them that is not waiting for a late rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "reports/findings/findings.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/placement.hpp"
#include "reports/losses/python_objects.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kSmall = 8 * 1024;      // bytes: the least cost of a call outweighs that of its bytes
constexpr double kManyCalls = 200;       // of a rank
constexpr double kFewestCalls = 5;       // of a rank: fewer are seen once
constexpr double kFewestCreations = 10;  // of a rank, at one place: it is in a loop
constexpr double kInTurn = 2;            // time on the path ÷ time of a rank: ranks take turns
constexpr double kMoreThanOthers = 1.5;  // bytes of a rank ÷ mean of the others
constexpr double kMostly = 0.6;      // of a call on the path is of one rank: a partner of its transfers has the rest
constexpr double kTakeTurns = 1.3;   // as kInTurn, of all large messages together
constexpr double kWaitInTurn = 0.2;  // waiting in them ÷ the rest of their time
constexpr double kMoreWork = 0.1;    // work of a rank beyond the mean ÷ mean: not noise
constexpr double kForEachUse = 0.3;  // commits of types ÷ calls that use some
constexpr double kAtOnce = 0.9;      // of the time between start and end is in the wait

bool is_collective(const std::string& category) { return category == "collective"; }
bool starts_with_any(const std::string& name, std::initializer_list<const char*> begins) {
  return std::ranges::any_of(begins, [&](const char* begin) { return name.starts_with(begin); });
}

class CostlyCalls {
 public:
  CostlyCalls(const RunView& view, const PythonObjects& objects, std::vector<Loss>& out)
      : view_(view), a_(view.app), out_(out), bytes_(view.app.ranks), objects_(objects) {
    for (const FunctionProfile& f : a_.mpi) category_[f.function] = f.category;
    std::vector<double> received(a_.ranks);
    for (const Edge& edge : a_.edges) {
      if (edge.source == edge.target) continue;
      bytes_[edge.source] += static_cast<double>(edge.bytes);
      received[edge.target] += static_cast<double>(edge.bytes);
    }
    std::ranges::transform(bytes_, received, bytes_.begin(), std::ranges::max);
  }

  void find() {
    large_messages_take_turns_ = large_messages_take_turns();
    find_polling();
    for (const PathCall& call : view_.calls) {
      if (call.part->function == "MPI_Barrier" && view_.share(call.seconds) >= kMeaningful) barrier(call);
    }
    for (std::size_t i = 0; i < view_.calls.size(); ++i) {
      const PathCall& call = view_.calls[i];
      if (view_.share(call.seconds) < kMeaningful || std::ranges::count(view_.polled_sites, i) != 0) continue;
      if (call.part->function.starts_with("MPI_File_")) continue;  // losses_of_files.cpp
      if (call.part->function == "MPI_Barrier" || std::ranges::count(needless_, call.site) != 0) continue;
      if (objects_.include(call.site)) continue;  // python_objects.cpp
      judge(call);
    }
    keep_own_transfers();
    find_local_calls();
  }

 private:
  [[nodiscard]] std::string category(const PathCall& call) const {
    const auto found = category_.find(call.part->function);
    return found == category_.end() ? "" : found->second;
  }
  void add(const char* code, const PathCall& call, std::string text, std::vector<std::uint32_t> ranks = {},
           bool is_usual = false) {
    out_.push_back({.code = code,
                    .ceiling = call.seconds,
                    .own_seconds = call.wait_free,
                    .bucket = Bucket::transfer,
                    .text = std::move(text),
                    .ranks = std::move(ranks),
                    .is_usual = is_usual,
                    .evidence = {{"calls_per_rank", call.calls_per_rank}, {"bytes_per_call", call.bytes_per_call}}});
  }
  // "300 calls of MPI_Bcast, called from f (x.c:1), each of 8 B"
  [[nodiscard]] std::string calls_in_words(const PathCall& call) const {
    return fmt::format("{} of a rank to {}{}", human_counted(std::round(call.calls_per_rank), "call"),
                       name_of_call(a_, call),
                       call.bytes_per_call > 0 ? fmt::format(", {} each", human_bytes(call.bytes_per_call)) : "");
  }

  void find_polling() {
    if (view_.polled_sites.empty() || view_.share(view_.polling) < kMeaningful) return;
    const PathCall& most = view_.calls[view_.polled_sites.front()];
    double own = 0;
    for (const std::uint32_t i : view_.polled_sites) own += view_.calls[i].wait_free;
    std::string text = fmt::format("Ranks test for messages again and again: {}", calls_in_words(most));
    // Testing is waiting: for a rank that works meanwhile, if there is one.
    const SampledFunction* const alone = work_of_one_rank();
    if (alone == nullptr) own = wait_for_uneven_work(most, own);
    if (alone != nullptr)
      text = fmt::format(
          "{} works alone in {}, and the others test for its messages: {}",
          capitalised(ranks_in_words(a_, {alone->max_rank})),
          in_sentence(name_and_place(a_.samples, static_cast<std::size_t>(alone - a_.samples.functions.data()))),
          calls_in_words(most));
    out_.push_back({.code = alone != nullptr ? "serial.rank" : "poll.busy",
                    .ceiling = view_.polling - for_late_rank_,
                    .own_seconds = own,
                    .bucket = Bucket::transfer,
                    .text = std::move(text),
                    .ranks = alone != nullptr ? std::vector{alone->max_rank} : std::vector<std::uint32_t>{}});
  }
  // Giving up the processor between two tests is no work.
  [[nodiscard]] static bool is_work(const SampledFunction& f) { return is_code(f) && f.symbol != "(kernel)"; }

  // The ranks test while the one with most work still does it: that part of the testing is late.static.
  [[nodiscard]] double wait_for_uneven_work(const PathCall& most, double own) {
    constexpr double kOfThePolling = 0.3;
    const SampledFunction* longest = nullptr;
    const auto more = [](const SampledFunction& f) { return f.rank_max - f.rank_mean; };
    for (const SampledFunction& f : a_.samples.functions) {
      if (is_work(f) && f.symbol != most.part->symbol && (longest == nullptr || more(f) > more(*longest))) longest = &f;
    }
    if (longest == nullptr || more(*longest) < kOfThePolling * view_.polling ||
        more(*longest) < kMoreWork * longest->rank_mean)
      return own;
    for_late_rank_ = std::min(view_.polling, more(*longest));
    const double part = for_late_rank_ / view_.polling;
    out_.push_back(
        {.code = "late.static",
         .ceiling = for_late_rank_,
         .own_seconds = own * part,
         .bucket = Bucket::transfer,
         .text = fmt::format(
             "{} works longer than the others: {} of CPU time in {}, the mean is {}; the others test for its messages: "
             "{}",
             capitalised(ranks_in_words(a_, {longest->max_rank})), human_seconds(longest->rank_max),
             in_sentence(name_and_place(a_.samples, static_cast<std::size_t>(longest - a_.samples.functions.data()))),
             human_seconds(longest->rank_mean), calls_in_words(most)),
         .ranks = {longest->max_rank}});
    return own * (1 - part);
  }

  // The function with most work that one rank does nearly alone; nullptr: none.
  [[nodiscard]] const SampledFunction* work_of_one_rank() const {
    const SampledFunction* best = nullptr;
    for (const SampledFunction& f : a_.samples.functions) {
      const bool alone = is_work(f) && f.rank_max > kOfOneRank * f.rank_mean * a_.ranks;
      if (alone && (best == nullptr || f.rank_max > best->rank_max)) best = &f;
    }
    return best != nullptr && best->rank_max > 0.3 * view_.polling ? best : nullptr;
  }

  void judge(const PathCall& call) {
    const std::string kind = category(call);
    const std::string& function = call.part->function;
    const bool messages = is_message(call);
    if (call.pattern == "lock" || starts_with_any(function, {"MPI_Win_lock", "MPI_Win_unlock"})) return lock(call);
    if (call.calls_per_rank >= kFewestCreations &&
        starts_with_any(function, {"MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create", "MPI_Comm_free", "MPI_Cart_",
                                   "MPI_Graph_create", "MPI_Dist_graph", "MPI_Win_create", "MPI_Win_allocate",
                                   "MPI_Win_free", "MPI_Type_", "MPI_Group_", "MPI_Comm_idup"}))
      return add("ovh.create", call,
                 fmt::format("{}: {} in all", capitalised(calls_in_words(call)), human_seconds(call.seconds)));
    if (function == "MPI_Probe" || function == "MPI_Mprobe") return probe(call);
    if (is_collective(kind)) return collective(call);
    if (messages || kind == "wait") return message(call, messages);
    calls(call);
  }

  // Short calls that only use the process's own memory are not on the path one by one: samples tell their time.
  void find_local_calls() {
    constexpr double kVeryMany = 10'000;  // of a rank
    static constexpr auto kLocal =
        std::to_array<std::string_view>({"datatype", "status", "group", "attribute", "management"});
    for (const SampledFunction& f : a_.samples.functions) {
      const auto profile = std::ranges::find(a_.mpi, f.symbol, &FunctionProfile::function);
      const double seconds = f.total / a_.ranks;  // with the copies below it
      if (profile == a_.mpi.end() || view_.share(seconds) < kMentionedLoss) continue;
      const bool is_local = std::ranges::count(kLocal, profile->category) != 0;
      const double calls = static_cast<double>(profile->calls) / a_.ranks;
      const bool on_path = std::ranges::any_of(view_.calls, [&](const PathCall& call) {
        return call.part->function == f.symbol && view_.share(call.seconds) >= kMeaningful;
      });
      if (!is_local || on_path || calls < kVeryMany) continue;
      const CallSite* site = nullptr;
      for (const CallSite& each : a_.call_sites) {
        if (each.function == f.symbol && (site == nullptr || each.calls > site->calls)) site = &each;
      }
      out_.push_back({.code = "ovh.calls",
                      .ceiling = seconds,
                      .text = fmt::format("{} of a rank to {}{} take {} of CPU time (sampled)",
                                          human_counted(calls, "call"), in_sentence(f.symbol),
                                          site == nullptr ? "" : ", called from " + in_sentence(name_of(*site)) + ",",
                                          human_seconds(seconds))});
      if (f.symbol.starts_with("MPI_Pack") || f.symbol.starts_with("MPI_Unpack"))
        out_.back().advice =
            "Pack many values with one call (its count), or send from a buffer of your own, or a derived data type.";
    }
  }

  void calls(const PathCall& call) {
    add("ovh.calls", call, fmt::format("{} cost {}", capitalised(calls_in_words(call)), human_seconds(call.seconds)));
  }

  // Without the probe the receive waits for the message; the call itself is saved.
  void probe(const PathCall& call) {
    double least = call.site == nullptr ? 0 : call.site->min_seconds;
    for (const CallSite& site : a_.call_sites) {
      if (site.symbol == call.part->symbol && site.min_seconds > 0 && site.function.ends_with("ecv"))
        least = std::min(least, site.min_seconds);
    }
    add("poll.probe", call, fmt::format("A probe precedes each receive: {}", calls_in_words(call)));
    out_.back().ceiling = std::min(call.seconds, least * call.calls_per_rank);
  }

  void lock(const PathCall& call) {
    if (!in_turn(call) && call.waiting < call.wait_free) return calls(call);
    add("rma.lock", call,
        fmt::format("Ranks wait for each other to give back the lock of a window: {}, of {} each", calls_in_words(call),
                    human_seconds(call.site == nullptr ? 0 : call.site->mean_seconds)));
  }

  // The path is in calls of this site for longer than a rank: ranks take turns.
  [[nodiscard]] bool in_turn(const PathCall& call) const {
    if (call.site == nullptr || call.site->ranks < 3) return false;
    const double of_rank = call.wait_free / call.site->ranks;
    return call.share * call.part->seconds > kInTurn * of_rank && call.part->rank_seconds < 0.5 * call.part->seconds;
  }

  [[nodiscard]] bool is_message(const PathCall& call) const {
    return category(call) == "point-to-point" || call.part->function == "MPI_Sendrecv";
  }

  // The path is in large messages for longer than a rank, though no rank has more of them: they go one after the other.
  [[nodiscard]] bool large_messages_take_turns() const {
    double on_path = 0, of_ranks = 0, waiting = 0;
    for (const PathCall& call : view_.calls) {
      if (!is_message(call) || call.bytes_per_call <= kSmall) continue;
      on_path += call.share * call.part->seconds;
      of_ranks += call.wait_free;
      waiting += call.waiting;
    }
    return a_.ranks >= 3 && on_path > kTakeTurns * of_ranks / a_.ranks && waiting > kWaitInTurn * of_ranks &&
           !has_more(static_cast<std::uint32_t>(std::ranges::max_element(bytes_) - bytes_.begin()));
  }

  [[nodiscard]] double mean_of_others(std::uint32_t rank) const {
    return (std::accumulate(bytes_.begin(), bytes_.end(), 0.0) - bytes_[rank]) / (a_.ranks - 1);
  }
  [[nodiscard]] bool has_more(std::uint32_t rank) const {
    return bytes_[rank] > kMoreThanOthers * mean_of_others(rank);
  }

  void ring(const PathCall& call, std::string text) {
    if (call.site != nullptr)
      own_transfers_ = std::max(own_transfers_, call.wait_free / std::max(call.site->ranks, 1u));
    add("chain.ring", call, std::move(text));
  }
  // If all transfers of a ring run at the same time, those of one rank remain.
  void keep_own_transfers() {
    double in_turn = 0;
    for (const Loss& loss : out_) in_turn += loss.code == "chain.ring" ? loss.ceiling : 0;
    for (Loss& loss : out_) {
      if (loss.code == "chain.ring") loss.ceiling *= std::max(0.0, 1 - own_transfers_ / in_turn);
    }
  }

  void barrier(const PathCall& call) {
    const bool guards = std::ranges::any_of(a_.posix, [](const FunctionProfile& f) { return f.bytes > 0; }) ||
                        std::ranges::any_of(a_.mpi, [](const FunctionProfile& f) {
                          return f.category == "one-sided" || f.function.starts_with("MPI_File_");
                        });
    const CallSite* twin = nullptr;  // a collective that waits for all ranks, called as often
    for (const CallSite& site : a_.call_sites) {
      const bool all =
          starts_with_any(site.function, {"MPI_Allreduce", "MPI_Alltoall", "MPI_Allgather", "MPI_Barrier"});
      if (call.site == nullptr || &site == call.site || !all || site.calls != call.site->calls) continue;
      if (twin == nullptr || site.symbol == call.site->symbol) twin = &site;
    }
    if (guards || twin == nullptr)
      return add("ovh.collective", call,
                 fmt::format("{} cost {} beside the waiting for late ranks", capitalised(calls_in_words(call)),
                             human_seconds(call.seconds)));
    needless_.push_back(twin);
    add("sync.barrier", call,
        fmt::format("{}; {} in {} waits for all ranks as often", capitalised(calls_in_words(call)),
                    in_sentence(twin->function), in_sentence(name_of(*twin))));
  }

  void collective(const PathCall& call) {
    const std::string& function = call.part->function;
    const double cost =
        call.site != nullptr && call.site->calls > 0 ? call.wait_free / static_cast<double>(call.site->calls) : 0;
    const std::string words = fmt::format("{}, of {} each without waiting", calls_in_words(call), human_seconds(cost));
    if (call.calls_per_rank >= kManyCalls &&
        starts_with_any(function, {"MPI_Alltoall", "MPI_Gatherv", "MPI_Scatterv"}) && call.bytes_per_call < 1)
      return add("ovh.toobig", call, fmt::format("All ranks take part, and hardly one has data: {}", words));
    if (const auto writer = writer_of_gathered(call)) {
      return add("io.rank0", call,
                 fmt::format("{} gathers what it writes to files: {}", capitalised(ranks_in_words(a_, {*writer})),
                             calls_in_words(call)),
                 {*writer});
    }
    if (call.site != nullptr && call.site->run_bytes != 0 && call.bytes_per_call > kSmall)
      return pieces(call, *call.site);
    if (function.starts_with("MPI_Alltoall")) return add("ovh.alltoall", call, capitalised(words));
    if (call.calls_per_rank < kManyCalls || call.bytes_per_call > kSmall)
      return add(
          "ovh.collective", call,
          fmt::format("{}: the operation itself costs {} of the run", capitalised(words), human_seconds(call.seconds)),
          {}, call.calls_per_rank < kFewestCalls);
    const std::vector<const CallSite*> alike = same_calls(call);
    if (alike.size() < 2) return add("ovh.element", call, capitalised(words));
    std::string places;
    for (const CallSite* site : alike) places += (places.empty() ? "" : ", ") + in_sentence(name_of(*site));
    add("ovh.fuse", call,
        fmt::format("{} places call {} equally often, {} times each, with {} on average: {}", alike.size(), function,
                    human_count(std::round(call.calls_per_rank)), human_bytes(call.bytes_per_call), places));
  }

  // The rank that writes nearly all that is written to files, if it is about as much as is gathered there.
  [[nodiscard]] std::optional<std::uint32_t> writer_of_gathered(const PathCall& call) const {
    constexpr double kAbout = 2.5;  // bytes ÷ bytes: a gather counts once or on every rank
    const std::vector<double>& io = a_.per_rank.io_seconds;
    if (!call.part->function.starts_with("MPI_Gather") || call.site == nullptr || io.size() < 2) return {};
    const auto most = std::ranges::max_element(io);
    double written = 0;
    for (const FunctionProfile& f : a_.posix) written += static_cast<double>(f.bytes_sent);
    const auto gathered = static_cast<double>(call.site->bytes);
    if (!(written > 0) || gathered > kAbout * written || written > kAbout * gathered ||
        *most < kOfOneRank * std::accumulate(io.begin(), io.end(), 0.0))
      return {};
    return static_cast<std::uint32_t>(most - io.begin());
  }

  // Sites of the same collective with the same number of calls, with small data; the call's own among them.
  [[nodiscard]] std::vector<const CallSite*> same_calls(const PathCall& call) const {
    constexpr std::size_t kShown = 5;
    std::vector<const CallSite*> sites;
    if (call.site == nullptr) return sites;
    for (const CallSite& site : a_.call_sites) {
      const bool alike = site.function == call.site->function && site.calls == call.site->calls &&
                         static_cast<double>(site.bytes) <= kSmall * static_cast<double>(site.calls);
      if (alike && sites.size() < kShown) sites.push_back(&site);
    }
    return sites;
  }

  void message(const PathCall& call, bool is_transfer) {
    const std::string& function = call.part->function;
    if (is_transfer && call.bytes_per_call <= kSmall && call.calls_per_rank >= kManyCalls) return tiny(call);
    if (call.site != nullptr && call.site->run_bytes != 0) return pieces(call, *call.site);
    if (of_one_rank(call)) return;
    if (function.starts_with("MPI_Wait") && transfer_in_wait(call)) return;
    if (const double saved = bytes_saved_by_placement(a_); saved > 0.3)
      return add("place.ranks", call,
                 fmt::format("Ranks that exchange most are on different hosts: {}; ordered by their messages, {} fewer "
                             "bytes would cross between hosts",
                             calls_in_words(call), human_share(saved)));
    if (is_message(call) && (in_turn(call) || large_messages_take_turns_))
      return ring(call, fmt::format("Ranks transfer their messages one after the other: {}", calls_in_words(call)));
    if (is_transfer && call.bytes_per_call <= kSmall) return calls(call);
    add("ovh.volume", call,
        fmt::format("{} move their bytes for {} on the critical path", capitalised(calls_in_words(call)),
                    human_seconds(call.seconds)));
  }

  // Data that MPI copies piece by piece; `user`: the call that names it.
  void pieces(const PathCall& call, const CallSite& user) {
    double commits = 0;
    for (const CallSite& site : a_.call_sites)
      commits += site.function == "MPI_Type_commit" ? static_cast<double>(site.calls) : 0;
    if (commits > kForEachUse * static_cast<double>(user.calls)) {
      add("ovh.create", call,
          fmt::format("A data type of pieces of {} is made for each transfer, and prepared by MPI again: {} of a rank "
                      "to MPI_Type_commit, used in {}",
                      human_bytes(static_cast<double>(user.run_bytes)), human_counted(commits / a_.ranks, "call"),
                      in_place(user)));
      return;
    }
    const std::string pieces = fmt::format("consists of pieces of {}, which MPI copies one by one",
                                           human_bytes(static_cast<double>(user.run_bytes)));
    add("ovh.types", call,
        &user == call.site ? fmt::format("The data type in {} {}", calls_in_words(call), pieces)
                           : fmt::format("The data type in {} {}; its transfers end in {}", in_place(user), pieces,
                                         calls_in_words(call)));
  }

  // Small messages: of a pipeline if its function works between them.
  void tiny(const PathCall& call) {
    double work = 0;
    for (const PathWork& each : view_.work) {
      if (!call.part->symbol.empty() && each.part->symbol == call.part->symbol) work += each.seconds;
    }
    const bool pipeline = work > 0.5 * call.seconds;
    add(pipeline ? "chain.grain" : "ovh.tiny", call,
        pipeline ? fmt::format("Work goes from rank to rank in small blocks: {}", calls_in_words(call))
                 : capitalised(calls_in_words(call)),
        {}, !pipeline && are_needed());
  }

  // An iteration has hardly more than a message to each neighbour and one back: there is nothing to pack.
  [[nodiscard]] bool are_needed() const {
    constexpr double kFewest = 2.5;
    const SnapshotSeries* const main = main_series(a_.snapshots);
    if (main == nullptr) return false;
    std::uint64_t most = 0;
    for (const Edge& edge : a_.edges) most = std::max(most, edge.source == edge.target ? 0 : edge.messages);
    return static_cast<double>(most) <= kFewest * static_cast<double>(rounds_in(*main));
  }

  // Calls of one rank that the others wait for. Returns whether they are.
  [[nodiscard]] bool of_one_rank(const PathCall& call) {
    if (a_.ranks < 3 || call.part->rank_seconds < kMostly * call.part->seconds) return false;
    const std::uint32_t rank = call.part->rank;
    if (!has_more(rank)) return false;
    std::set<std::uint32_t> to, from;
    double in = 0, out = 0;
    std::uint64_t most_to = 0, least_to = ~std::uint64_t{0};
    for (const Edge& edge : a_.edges) {
      if (edge.source == rank && edge.target != rank) {
        to.insert(edge.target);
        out += static_cast<double>(edge.bytes);
        most_to = std::max(most_to, edge.bytes);
        least_to = std::min(least_to, edge.bytes);
      } else if (edge.target == rank && edge.source != rank) {
        from.insert(edge.source);
        in += static_cast<double>(edge.bytes);
      }
    }
    const bool alone = call.site != nullptr && call.site->ranks == 1;
    const std::string who = capitalised(ranks_in_words(a_, {rank})), words = name_of_call(a_, call);
    if (alone && to.size() == a_.ranks - 1 && out > 0.9 * (in + out) && most_to < 2 * least_to) {
      add("ovh.hand", call,
          fmt::format("{} sends the same amount to each other rank, one after the other, in {}{}", who, words,
                      where_others_wait(a_, true)),
          {rank});
    } else if (from.size() == a_.ranks - 1 && in > 0.9 * (in + out)) {
      add("hub.root", call,
          fmt::format("{} takes messages from all other ranks, one after the other, in {}: {}{}", who, words,
                      human_bytes(in), where_others_wait(a_, true)),
          {rank});
    } else if (alone && is_star(rank, to.size() + from.size()) && most_to < 2 * least_to && in < 2 * out &&
               out < 2 * in) {
      add("ovh.hand", call,
          fmt::format("{} takes data from each other rank and sends about as much back, one after the other, in {}{}",
                      who, words, where_others_wait(a_, true)),
          {rank});
      out_.back().advice =
          "Use the collective operation of MPI (MPI_Allreduce, or MPI_Reduce and MPI_Bcast): all ranks take part in "
          "it.";
    } else {
      add("late.comm", call,
          fmt::format("{} sends or receives {}, another rank {} on average; it spends its time in {}{}", who,
                      human_bytes(bytes_[rank]), human_bytes(mean_of_others(rank)), words, where_others_wait(a_, true)),
          {rank});
    }
    return true;
  }

  // Most bytes are between this rank and the others, in both directions.
  [[nodiscard]] bool is_star(std::uint32_t rank, std::size_t partners) const {
    constexpr double kOfOthers = 0.3;  // ÷ bytes of the rank
    double own = 0, others = 0;
    for (const Edge& edge : a_.edges) {
      if (edge.source == edge.target) continue;
      (edge.source == rank || edge.target == rank ? own : others) += static_cast<double>(edge.bytes);
    }
    return partners == 2 * (std::size_t{a_.ranks} - 1) && others < kOfOthers * own;
  }

  // Operations of `start` that a call can end.
  [[nodiscard]] static double at_once(const PathCall& call, const CallSite& start) {
    return std::max(1.0, static_cast<double>(start.operations) / static_cast<double>(call.site->calls));
  }

  // How well the waits for the operations of `start` fit this call: 1 if all of its time is in them, as many at once as
  // its calls could end.
  [[nodiscard]] static double like_waits_of(const PathCall& call, const CallSite& start) {
    if (call.site == nullptr || call.site->calls == 0) return 0;
    const double ratio = start.waited_seconds / (at_once(call, start) * call.site->seconds);
    return std::min(ratio, 1 / ratio);
  }

  // Between start and wait the ranks do not work: they describe data types to MPI.
  [[nodiscard]] bool makes_types_meanwhile(const PathCall& call, const CallSite& start, double between) const {
    double making = 0;
    for (const CallSite& site : a_.call_sites) making += site.function.starts_with("MPI_Type_") ? site.seconds : 0;
    return making > 0.5 * between / at_once(call, start);
  }

  // "MPI_Irecv in exchange (halo.c:7)"
  [[nodiscard]] static std::string in_place(const CallSite& site) {
    const bool known = !site.symbol.empty() || !site.source_file.empty() || !site.module.empty();
    return known ? fmt::format("{} in {}", in_sentence(site.function), in_sentence(name_of(site)))
                 : in_sentence(site.function);
  }

  // Non-blocking transfers that end in this wait. Returns whether it explains the call.
  [[nodiscard]] bool transfer_in_wait(const PathCall& call) {
    double flight = 0, waited = 0, operations = 0;
    const CallSite *start = nullptr, *in_pieces = nullptr;
    for (const CallSite& site : a_.call_sites) {
      if (site.operations == 0 || site.ranks == 0) continue;
      // Starts whose waits take as long as this call.
      if (site.waited_seconds < 0.5 * call.wait_free || site.bytes == 0) continue;
      if (site.run_bytes != 0 && bytes_of_call(site) > kSmall &&
          (in_pieces == nullptr || like_waits_of(call, site) > like_waits_of(call, *in_pieces)))
        in_pieces = &site;
      if (start != nullptr && like_waits_of(call, site) <= like_waits_of(call, *start)) continue;
      start = &site;
      flight = site.flight_seconds;
      waited = site.waited_seconds;
      operations = static_cast<double>(site.operations);
    }
    if (start == nullptr || !(flight > 0) || operations == 0) return false;
    const double bytes = bytes_of_call(*start);
    if (in_pieces != nullptr && like_waits_of(call, *in_pieces) > 0.5 * like_waits_of(call, *start)) {
      pieces(call, *in_pieces);
      return true;
    }
    if (bytes <= kSmall) {
      if (call.calls_per_rank < kManyCalls) return true;  // a few small transfers cost nothing: ranks did not run
      add("ovh.tiny", call,
          fmt::format("{} complete transfers of {}, which {} starts", capitalised(calls_in_words(call)),
                      human_bytes(bytes), in_place(*start)),
          {}, are_needed());
      return true;
    }
    const std::string started = in_place(*start);
    // The call that starts it is no work in between.
    if (waited + operations * start->mean_seconds >= kAtOnce * flight) {
      add("prog.false_overlap", call,
          fmt::format("Transfers that {} starts are waited for at once, in {}: nothing is done while they run", started,
                      name_of_call(a_, call)));
    } else if (makes_types_meanwhile(call, *start, flight - waited)) {
      return false;
    } else {
      add("prog.none", call,
          fmt::format("Transfers that {} starts move only in {}: {} of the time from start to end is in the wait, "
                      "though ranks work for {} in between",
                      started, name_of_call(a_, call), human_share(waited / flight),
                      human_seconds((flight - waited) / operations)));
    }
    return true;
  }

  const RunView& view_;
  const Application& a_;
  std::vector<Loss>& out_;
  std::map<std::string, std::string> category_;
  std::vector<double> bytes_;  // sent or received, whichever is more, by rank
  double own_transfers_ = 0;   // s: the longest of a rank at the places of a ring
  bool large_messages_take_turns_ = false;
  const PythonObjects& objects_;           // whose calls are charged there
  double for_late_rank_ = 0;               // s of the polling
  std::vector<const CallSite*> needless_;  // that have a barrier before each call: the barrier goes first
};

}  // namespace

void find_costly_calls(const RunView& view, const PythonObjects& objects, std::vector<Loss>& out) {
  CostlyCalls(view, objects, out).find();
}

}  // namespace ardoise::reports

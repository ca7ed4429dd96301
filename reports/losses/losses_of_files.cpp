// Reading and writing on the critical path, by POSIX calls and by MPI-IO.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "reports/findings/file_view.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kSmallRequest = 16 * 1024;  // bytes
constexpr double kManyRequests = 100;        // of a rank
constexpr double kUsesOfAnOpen = 2;          // reads or writes; with more, the data is worth an open
constexpr double kMost = 0.5;                // of the time in files
constexpr double kAlone = 0.95;              // likewise: the others do nothing
constexpr double kNoticed = 0.2;             // likewise: a part with a loss of its own
constexpr double kUneven = 2;                // most bytes of a rank ÷ mean
constexpr double kBeyondOne = 0.4;           // of the time in files on the path: beyond that of a rank
constexpr double kForATurn = 0.3;            // of all waiting: for the message of another rank

bool is_sync(const std::string& function) {
  return function == "fsync" || function == "fdatasync" || function == "msync" || function == "sync_file_range" ||
         function == "syncfs";
}

// Calls that name a file and open none.
bool is_of_names(const std::string& function) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"stat", "access", "unlink", "rename", "mkdir", "opendir"});
  return std::ranges::find(kNames, function) != kNames.end();
}

struct FileTimes {
  double all = 0, metadata = 0, sync = 0, data = 0, bytes = 0, opens = 0, data_calls = 0;
  double names = 0, of_names = 0;  // calls that name a file and open none; s
  double text = 0;                 // in fprintf, without the kernel (sampled)
  const FunctionProfile *opener = nullptr, *syncer = nullptr, *mover = nullptr;
};

FileTimes times_of(const Application& a) {
  FileTimes t;
  const auto most = [](const FunctionProfile*& best, const FunctionProfile& f) {
    if (best == nullptr || f.seconds > best->seconds) best = &f;
  };
  for (const FunctionProfile& f : a.posix) {
    t.all += f.seconds;
    if (is_sync(f.function) || f.function == "fflush") {
      t.sync += f.seconds;
      most(t.syncer, f);
    } else if (f.category == "metadata") {
      t.metadata += f.seconds;
      if (f.function == "open" || f.function == "fopen") t.opens += static_cast<double>(f.calls);
      if (is_of_names(f.function)) {
        t.names += static_cast<double>(f.calls);
        t.of_names += f.seconds;
      }
      most(t.opener, f);
    } else {
      t.data += f.seconds;
      t.bytes += static_cast<double>(f.bytes);
      t.data_calls += static_cast<double>(f.calls);
      most(t.mover, f);
      if (f.function == "fprintf") t.text = f.seconds;
    }
  }
  double sampled = 0;
  for (const SampledFunction& f : a.samples.functions) sampled += f.symbol == "fprintf" ? f.self : 0;
  t.text = a.samples.unit == "seconds" ? std::min(t.text, sampled) : 0;
  return t;
}

class FileLosses {
 public:
  FileLosses(const RunView& view, std::vector<Loss>& out)
      : view_(view), a_(view.app), facts_(view.app), times_(times_of(view.app)), out_(out) {}

  void find() {
    if (view_.share(view_.path.io) >= kMeaningful && times_.all > 0) posix();
    for (const PathCall& call : view_.calls) {
      if (call.part->function.starts_with("MPI_File_") && view_.share(call.seconds) >= kMeaningful) mpi_io(call);
    }
  }

 private:
  // part: of the time in files on the path.
  void add(const char* code, std::string text, std::vector<std::uint32_t> ranks = {}, double part = 1) {
    out_.push_back({.code = code,
                    .ceiling = view_.path.io * part,
                    .own_seconds = facts_.io_seconds * part,
                    .bucket = Bucket::io,
                    .text = std::move(text),
                    .ranks = std::move(ranks),
                    .evidence = {{"calls", times_.data_calls}, {"bytes", times_.bytes}}});
  }
  [[nodiscard]] std::string site_of(const FunctionProfile* function) const {
    if (function == nullptr) return "";
    std::string site = facts_.main_call_site(function->function);
    if (site.find("+0x") != std::string::npos) {  // in a library without symbols
      if (std::string sampled = caller_of_calls(a_.samples, function->function); !sampled.empty())
        site = std::move(sampled);
    }
    return fmt::format(", most of it in {}{}", in_sentence(function->function),
                       site.empty() ? "" : ", called from " + site);
  }
  [[nodiscard]] std::string mean_request() const {
    return human_bytes(times_.data_calls > 0 ? times_.bytes / times_.data_calls : 0);
  }

  void posix() {
    const auto& io = a_.per_rank.io_seconds;
    const double all = std::accumulate(io.begin(), io.end(), 0.0);
    const auto top = std::ranges::max_element(io);
    const bool of_one = a_.ranks > 1 && all > 0 && *top > kAlone * all;
    const bool small = times_.data_calls > kManyRequests && times_.bytes < kSmallRequest * times_.data_calls;
    if (of_one) return one_rank(static_cast<std::uint32_t>(top - io.begin()), small);
    const double at_once = 1 - in_turn();  // of the time in files on the path
    double left = at_once;
    if (const double part = at_once * times_.sync / times_.all; part > kNoticed) {
      add("io.sync",
          fmt::format("{} of the time in files is spent until data is on the disk{}",
                      human_share(times_.sync / times_.all), site_of(times_.syncer)),
          {}, part);
      left -= part;
    }
    if (const double part = at_once * waits_for_disk(); part > kNoticed) left -= part;
    if (const double part = at_once * times_.metadata / times_.all;
        part > kNoticed && times_.opens + times_.names > kManyRequests) {
      // A file that stays open also collects the small writes.
      const double whole = small && are_few_files() && times_.data_calls < kUsesOfAnOpen * times_.opens ? left : part;
      metadata(whole);
      left -= whole;
    }
    if (const double part = at_once * times_.text / times_.all; part > kNoticed) {
      text(part);
      left -= part;
    }
    if (left > 1 - kMost) data(left, small);
  }

  // Even the fastest of many small writes takes as long as a disk needs: the file has no cache. Returns their part of
  // the time in files.
  double waits_for_disk() {
    constexpr double kOfDisk = 30e-6;  // s; a write to the cache takes 1 to 5 us
    const CallSite* most = nullptr;
    double seconds = 0;
    for (const CallSite& site : a_.call_sites) {
      const bool writes = site.function.starts_with("write") || site.function.starts_with("pwrite");
      if (!writes || static_cast<double>(site.calls) < kManyRequests || site.min_seconds < kOfDisk ||
          bytes_of_call(site) > kSmallRequest)
        continue;
      seconds += site.seconds;
      if (most == nullptr || site.seconds > most->seconds) most = &site;
    }
    const double part = most == nullptr ? 0 : std::min(1.0, seconds / times_.all);
    if (part <= kNoticed) return 0;
    add("io.sync",
        fmt::format("Each of {} to {}, called from {}, {} each, waits until the data is on the disk, for at least {}",
                    human_counted(static_cast<double>(most->calls), "call"), in_sentence(most->function),
                    in_sentence(name_of(*most)), human_bytes(bytes_of_call(*most)), human_seconds(most->min_seconds)),
        {}, part);
    out_.back().advice =
        "Open the file without O_SYNC, O_DSYNC and O_DIRECT, collect small records in memory, and call fdatasync "
        "where data must survive a crash.";
    return part;
  }

  void text(double part, std::vector<std::uint32_t> ranks = {}) {
    const std::string who = ranks.empty() ? "Numbers are" : capitalised(ranks_in_words(a_, ranks)) + " has numbers";
    add("io.text",
        fmt::format("{} turned into text for {} of the time in files{}{}", who, human_share(times_.text / times_.all),
                    site_of(times_.mover), ranks.empty() ? "" : where_others_wait(a_, true)),
        std::move(ranks), part);
  }

  // Ranks that read or write as long as each other, one after the other. Returns the part of the time in files on the
  // path that would pass at the same time.
  double in_turn() {
    const auto& io = a_.per_rank.io_seconds;
    const double serial = view_.path.io - view_.mean_io;
    if (a_.ranks < 2 || serial < kBeyondOne * view_.path.io || *std::ranges::max_element(io) > kUneven * view_.mean_io)
      return 0;
    double all = 0, messages = 0;
    const WaitSite* most = nullptr;
    for (const WaitSite& site : a_.waiting.call_sites) {
      all += site.waiting_seconds;
      if (site.pattern != "late_sender") continue;
      messages += site.waiting_seconds;
      if (most == nullptr || site.waiting_seconds > most->waiting_seconds) most = &site;
    }
    if (most == nullptr || messages < kForATurn * all) return 0;
    out_.push_back({.code = "chain.token",
                    .ceiling = serial,
                    .text = fmt::format("Ranks read and write files one after the other: {} a rank, {} on the critical "
                                        "path{}. They wait for their turn in {}",
                                        human_seconds(view_.mean_io), human_seconds(view_.path.io),
                                        site_of(times_.mover), name_of_site(*most))});
    return serial / view_.path.io;
  }

  // Reads and writes, `part` of the time in files.
  void data(double part, bool small) {
    const auto& io = a_.per_rank.io_seconds;
    const double all = std::accumulate(io.begin(), io.end(), 0.0);
    const auto top = std::ranges::max_element(io);
    if (const FileProfile* const shared = shared_input()) return reread(*shared, part);
    if (prints(part) || scattered(part)) return;
    if (small)
      return add("io.small",
                 fmt::format("{} reads and writes move {} each on average{}{}", human_count(times_.data_calls),
                             mean_request(), site_of(times_.mover), busiest_file()),
                 {}, part);
    if (!io.empty() && all > 0 && *top > kUneven * all / a_.ranks &&
        uneven(static_cast<std::uint32_t>(top - io.begin()), part))
      return;
    volume(part);
  }

  void one_rank(std::uint32_t rank, bool small) {
    const double seconds = a_.per_rank.io_seconds[rank];
    if (times_.text > kMost * times_.all) return text(1, {rank});
    if (times_.of_names > kMost * times_.all) return names(1, {rank});
    const std::string who = capitalised(ranks_in_words(a_, {rank}));
    const bool few_bytes = times_.bytes < kSmallRequest * std::max(times_.data_calls, times_.opens);
    const bool reads = small && bytes_read() > kMost * times_.bytes;
    if (small || (few_bytes && times_.sync + times_.metadata > kMost * times_.all)) {
      return add(
          reads ? "io.small" : "io.log",
          fmt::format("{} {} {} times, {} each on average, for {}{}{}", who, reads ? "reads" : "writes or reads",
                      human_count(times_.data_calls), mean_request(), human_seconds(seconds),
                      site_of(times_.mover != nullptr ? times_.mover : times_.opener), where_others_wait(a_, true)),
          {rank});
    }
    add("io.rank0",
        fmt::format("{} does the file I/O, {} in {}{}{}", who, human_bytes(times_.bytes), human_seconds(seconds),
                    site_of(times_.mover), where_others_wait(a_, true)),
        {rank}, 1 - 1.0 / a_.ranks);
  }

  [[nodiscard]] double bytes_read() const {
    double bytes = times_.bytes;
    for (const FunctionProfile& f : a_.posix) bytes -= static_cast<double>(f.bytes_sent);
    return bytes;
  }

  // Most opens are of files that were opened before.
  [[nodiscard]] bool are_few_files() const {
    std::size_t once = 0;
    for (const FileProfile& f : a_.files) once += f.opens == 1 && !sums_several_files(f) ? 1 : 0;
    return static_cast<double>(once) <= kMost * times_.opens &&
           std::ranges::none_of(a_.files, [&](const FileProfile& f) {
             return f.path == kFurtherFiles && static_cast<double>(f.opens) > kMost * times_.opens;
           });
  }

  void names(double part, const std::vector<std::uint32_t>& ranks = {}) {
    const bool one = !ranks.empty();
    add("io.meta",
        fmt::format("{} names of files in {}, for {} of the time in files{}{}",
                    one ? capitalised(ranks_in_words(a_, ranks)) + " asks for or changes" : "Ranks ask for or change",
                    human_counted(times_.names, "call"), human_share(times_.of_names / times_.all),
                    site_of(times_.opener), one ? where_others_wait(a_, true) : ""),
        ranks, part);
    out_.back().advice =
        "Ask once and keep the answer; let one rank look for a file, and broadcast the result (MPI_Bcast); or let a "
        "message tell that a file is there.";
  }

  void metadata(double part) {
    if (times_.of_names > kMost * times_.metadata) return names(part);
    const bool many_files = !are_few_files();
    add(many_files ? "io.nn" : "io.meta",
        fmt::format("{} {} times; opening, closing and positioning take {} of the time in files{}",
                    many_files ? "Many files are opened, in all" : number_of_files(a_.files) + " are opened",
                    human_count(times_.opens), human_share(times_.metadata / times_.all), site_of(times_.opener)),
        {}, part);
    if (!many_files && read_again(a_) != nullptr)
      out_.back().advice = "Read each file once, and keep its data in memory.";
  }

  // A file of which each rank reads about as much.
  [[nodiscard]] const FileProfile* shared_input() const {
    for (const FileProfile& f : a_.files) {
      if (a_.ranks > 1 && f.ranks == a_.ranks && !sums_several_files(f) && !f.path.starts_with('(') &&
          f.bytes_read > 9 * f.bytes_written && f.seconds > kMost * times_.all)
        return &f;
    }
    return nullptr;
  }
  // One pass at the fastest rate that was seen is needed.
  void reread(const FileProfile& file, double part) {
    double one_pass = 0;
    for (const CallSite& site : a_.call_sites) {
      if (site.function == times_.mover->function && site.ranks != 0)
        one_pass += static_cast<double>(site.calls) / site.ranks * site.min_seconds;
    }
    part *= std::max(0.0, 1 - one_pass / std::max(view_.path.io, 1e-12));
    constexpr double kFewestTimes = 3;
    const double opens = static_cast<double>(file.opens) / a_.ranks;
    add("io.reread",
        fmt::format("All {} ranks read {}, {} each{}{}", a_.ranks, in_sentence(base_name(file.path)),
                    human_bytes(static_cast<double>(file.bytes_read) / a_.ranks),
                    opens < kFewestTimes ? "" : fmt::format(", opening it {} times", human_count(std::round(opens))),
                    site_of(times_.mover)),
        {}, part);
    if (opens >= kFewestTimes)
      out_.back().advice =
          "Read the file once, and keep its data. If each rank needs the same, let one rank read and distribute it "
          "with "
          "MPI_Bcast.";
  }

  [[nodiscard]] bool prints(double part) {
    double seconds = 0, writes = 0;
    std::uint32_t ranks = 0;
    for (const FileProfile& f : a_.files) {
      if (f.path != "(standard output)" && f.path != "(standard error)") continue;
      seconds += f.seconds;
      writes += static_cast<double>(f.writes);
      ranks = std::max(ranks, f.ranks);
    }
    if (seconds < kMost * times_.all || 2 * ranks < a_.ranks) return false;
    add("io.stdout",
        fmt::format("{} print, {} times in all{}", counted(ranks, "rank"), human_count(writes), site_of(times_.mover)),
        {}, part);
    return true;
  }

  [[nodiscard]] bool scattered(double part) {
    const FileProfile* worst = nullptr;
    for (const FileProfile& f : a_.files) {
      const AccessShares shares = access_shares(f);
      const double requests = static_cast<double>(f.reads + f.writes);
      if (sums_several_files(f) || shares.accesses < 1000 || shares.random() + shares.strided < kMost ||
          static_cast<double>(f.bytes_read + f.bytes_written) > kSmallRequest * requests)
        continue;
      if (worst == nullptr || f.seconds > worst->seconds) worst = &f;
    }
    if (worst == nullptr || worst->seconds < kMost * times_.all) return false;
    const AccessShares shares = access_shares(*worst);
    const bool strided = shares.strided > shares.random();
    add("io.random",
        fmt::format("{} of the {} accesses to {}, {} each, {}{}",
                    human_share(strided ? shares.strided : shares.random()), human_count(shares.accesses),
                    in_sentence(base_name(worst->path)), usual_size(*worst),
                    strided ? "have a constant stride" : "neither continue the one before nor have a constant stride",
                    site_of(times_.mover)),
        {}, part);
    return true;
  }

  [[nodiscard]] std::string busiest_file() const {
    const auto calls = [](const FileProfile& f) { return f.reads + f.writes; };
    const auto busiest = std::ranges::max_element(a_.files, {}, calls);
    if (busiest == a_.files.end() || sums_several_files(*busiest)) return "";
    const auto alike =
        std::ranges::count_if(a_.files, [&](const FileProfile& f) { return calls(f) >= calls(*busiest) / 2; });
    const std::string name = in_sentence(base_name(busiest->path));
    return alike == 1 ? fmt::format("; most are of {}", name)
                      : fmt::format("; most are of {} files like {}", alike, name);
  }

  [[nodiscard]] bool uneven(std::uint32_t rank, double part) {
    const DensityMap* const map = facts_.density("POSIX");
    if (map == nullptr || rank >= map->bytes.size()) return false;
    const double mean = static_cast<double>(std::accumulate(map->bytes.begin(), map->bytes.end(), std::uint64_t{0})) /
                        static_cast<double>(map->bytes.size());
    if (static_cast<double>(map->bytes[rank]) < kUneven * mean) return false;
    add("io.uneven",
        fmt::format("{} reads or writes {}, the mean is {}{}{}", capitalised(ranks_in_words(a_, {rank})),
                    human_bytes(static_cast<double>(map->bytes[rank])), human_bytes(mean), site_of(times_.mover),
                    where_others_wait(a_, true)),
        {rank}, part * std::max(0.0, 1 - view_.mean_io / std::max(view_.path.io, 1e-12)));
    return true;
  }

  void volume(double part) {
    double written = 0;
    for (const FunctionProfile& f : a_.posix) written += static_cast<double>(f.bytes_sent);
    const bool output = written > kMost * times_.bytes;
    add(output ? "io.checkpoint" : "io.volume",
        fmt::format("Ranks {} {} in blocks of {} on average, {}/s{}", output ? "write" : "read",
                    human_bytes(times_.bytes), mean_request(),
                    human_bytes(times_.bytes / std::max(times_.data / a_.ranks, 1e-12)), site_of(times_.mover)),
        {}, part);
  }

  [[nodiscard]] static double best_rate(const PathCall& call) {
    return call.site == nullptr || call.site->min_seconds <= 0 ? 0 : call.bytes_per_call / call.site->min_seconds;
  }
  // The program describes pieces to MPI, and its fastest write of many bytes is slow.
  [[nodiscard]] bool through_pieces(const PathCall& call) const {
    constexpr double kFewestBytes = 64 * 1024, kSlow = 0.3e9;  // bytes; bytes a second
    const auto calls = [&](auto... names) {
      return std::ranges::any_of(a_.mpi,
                                 [&](const FunctionProfile& f) { return (f.function.starts_with(names) || ...); });
    };
    return call.part->function.find("write") != std::string::npos && call.bytes_per_call > kFewestBytes &&
           best_rate(call) > 0 && best_rate(call) < kSlow && calls("MPI_File_set_view") &&
           calls("MPI_Type_vector", "MPI_Type_indexed", "MPI_Type_create_");
  }

  void mpi_io(const PathCall& call) {
    const bool collective = call.part->function.find("_all") != std::string::npos ||
                            call.part->function.find("_ordered") != std::string::npos;
    const bool small =
        call.bytes_per_call > 0 && call.bytes_per_call < kSmallRequest && call.calls_per_rank > kManyRequests;
    const bool moves = call.bytes_per_call > 0;
    const char* code = !moves                        ? "io.meta"
                       : !collective && a_.ranks > 1 ? "io.independent"
                       : small                       ? "io.small"
                                                     : "io.volume";
    if (!collective && !small && moves && through_pieces(call)) {
      out_.push_back(
          {.code = "io.independent",
           .ceiling = call.seconds,
           .own_seconds = call.wait_free,
           .bucket = Bucket::transfer,
           .text = fmt::format("{} of a rank to {}, {} each on average, write through a view "
                               "(MPI_File_set_view) whose pieces may go to the file one by one: {}/s at best",
                               human_counted(std::round(call.calls_per_rank), "call"), name_of_call(a_, call),
                               human_bytes(call.bytes_per_call), human_bytes(best_rate(call)))});
      return;
    }
    const bool small_alone = small && !collective;
    if (!small && moves) code = call.part->function.find("write") != std::string::npos ? "io.checkpoint" : "io.volume";
    out_.push_back(
        {.code = code,
         .ceiling = call.seconds,
         .own_seconds = call.wait_free,
         .bucket = Bucket::transfer,
         .text = fmt::format("{} of a rank to {}{}", human_counted(std::round(call.calls_per_rank), "call"),
                             name_of_call(a_, call),
                             moves ? fmt::format(", {} each on average", human_bytes(call.bytes_per_call)) : ""),
         .advice = small_alone && a_.ranks > 1
                       ? "Collect many of them in memory, and write or read large blocks: a few large calls, then also "
                         "collective ones (MPI_File_write_at_all, MPI_File_read_at_all)."
                       : "",
         .evidence = {{"calls_per_rank", call.calls_per_rank}, {"bytes_per_call", call.bytes_per_call}}});
  }

  const RunView& view_;
  const Application& a_;
  Facts facts_;
  FileTimes times_;
  std::vector<Loss>& out_;
};

}  // namespace

void find_file_losses(const RunView& view, std::vector<Loss>& out) { FileLosses(view, out).find(); }

}  // namespace ardoise::reports

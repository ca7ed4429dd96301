// Errors: with weights w the sum W_f of a function's samples estimates its time; the variance of its share p = W_f / W
// is taken as ((1 - p)² Σ_f w² + p² Σ_others w²) / W², which for equal weights is the binomial p (1 - p) / n. The
// equivalent n (at p = 0 and 1: W² / Σ w²) gives Wilson's score interval (E. B. Wilson, JASA 22, 1927), which is not
// empty at the edges either. The model holds the distance of its farther end from p, times W: 99 %.
//
// Calls: the CPU time of an MPI or POSIX call is limited by the wall time of all calls of its function. A sample
// represents all time since the previous one, so a few samples may exceed that; the rest goes to the calling functions.
#include "knowledge_sources/plugins/samples/sample_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/contexts/context_tree.hpp"
#include "knowledge_sources/plugins/samples/rank_clusters.hpp"
#include "knowledge_sources/plugins/samples/totals_by_rank.hpp"
#include "reports/call_tree.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr double kDeviations = 2.5758293;  // of a normal distribution: 99 % lie within
constexpr double kMattering = 0.95;        // share of all time whose functions are followed by rank and over time
constexpr std::size_t kMostFollowed = 24;

constexpr std::array<const char*, instrument::kSamplingCauses> kCauses{"start", "memory", "stream", "cost",
                                                                       "rise",  "user",   "event"};

// Sums of samples, in the unit of the profile.
struct Sums {
  std::uint64_t samples = 0;
  double self = 0, squares = 0;
  void add(const Sums& more) {
    samples += more.samples;
    self += more.self;
    squares += more.squares;
  }
};

double error_of(const Sums& part, const Sums& all) {
  if (!(all.self > 0)) return 0;
  const double p = std::min(1.0, part.self / all.self), others = std::max(0.0, all.squares - part.squares);
  const double variance = ((1 - p) * (1 - p) * part.squares + p * p * others) / (all.self * all.self);
  const double n = variance > 0 ? p * (1 - p) / variance : all.self * all.self / all.squares;
  if (!(n > 0)) return all.self;
  const double z = kDeviations * kDeviations / n;  // z² / n
  const double centre = (p + z / 2) / (1 + z), half = std::sqrt(z * (p * (1 - p) + z / 4)) / (1 + z);
  return all.self * std::max(p - (centre - half), centre + half - p);
}

struct Calls {
  std::uint64_t calls = 0, bytes_sent = 0, bytes_received = 0;
  double seconds = 0;
};

// Time of a function's calls, in seconds: sampled and by the clock.
struct CallTime {
  double sampled = 0, exact = 0;
  std::uint64_t calls = 0;
  [[nodiscard]] double believed() const { return calls != 0 && sampled > exact ? exact / sampled : 1; }
};

class Builder {
 public:
  Builder(const Sampled& sampled, const Resolver& resolver, reports::Application& application)
      : sampled_(sampled),
        resolver_(resolver),
        model_(application.samples),
        quality_(application.quality),
        tree_(resolver),
        ranks_(std::min(resolver.ranks(), sampled.ranks.ranks())),
        by_rank_(ranks_) {}

  void build();

 private:
  bool choose_unit();
  [[nodiscard]] bool is_of_other_unit(std::uint32_t rank) const;
  void compare_calls();
  [[nodiscard]] double believed(const SampleKey& key) const;
  void gather();
  void add(std::uint32_t node, const Sums& value);
  void gather_thread(std::uint32_t rank, const ThreadSamples& thread);
  void gather_bins(std::uint32_t rank);
  void prune();
  void fill_functions();
  void fill_totals();
  void fill_tree();
  void fill_lines();
  void follow();
  void fill_timeline();
  void fill_ranks();
  void fill_samplers();
  void fill_changes();

  template <class T>
  static T& at(std::vector<T>& list, std::size_t index) {
    if (index >= list.size()) list.resize(index + 1);
    return list[index];
  }

  const Sampled& sampled_;
  const Resolver& resolver_;
  reports::SampleProfile& model_;
  reports::Quality& quality_;
  ContextTree tree_;
  std::uint32_t ranks_;

  SamplingFacts::Counters counters_;
  double scale_ = 1e-9;  // the profile's unit per unit of weight
  std::map<std::pair<instrument::PackClass, std::uint32_t>, CallTime> call_time_;  // by function
  Sums all_;
  std::vector<Sums> by_node_, by_function_, by_line_;
  std::vector<Calls> calls_;  // by node
  std::vector<std::array<double, instrument::kMaxCounters>> counters_by_function_;
  TotalsByRank by_rank_;
  std::vector<std::uint64_t> samples_of_rank_;
  struct ThreadSelf {
    double all = 0, in_calls = 0;
  };
  std::vector<ThreadSelf> self_of_thread_;  // in the order of threads
  std::map<std::uint32_t, std::vector<double>> bins_of_function_;
  std::uint64_t other_unit_ = 0;               // ranks
  std::vector<std::uint32_t> node_place_;      // of each node in the model; kNoNode: it and its subtree are empty
  std::vector<std::uint32_t> place_;           // of each function in the model; kNoNode: it is absent
  std::vector<std::uint32_t> used_functions_;  // in the order of the model
  std::vector<std::uint32_t> followed_;        // functions of the tree
};

// From the lowest rank that reports it; without any, weights are nanoseconds of CPU time.
bool Builder::choose_unit() {
  bool any = false;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    any = any || !sampled_.ranks.of(rank).empty() || !sampled_.facts.totals(rank).empty();
    if (counters_.known || !sampled_.facts.counters(rank).known) continue;
    counters_ = sampled_.facts.counters(rank);
  }
  if (!any && !counters_.known) return false;
  const bool events = counters_.unit == instrument::SampleUnit::kEvents;
  scale_ = events ? 1 : 1e-9;
  model_.unit = events ? "events" : "seconds";
  model_.clock = events ? counters_.event : "cpu";
  model_.counters = counters_.names;
  return true;
}

bool Builder::is_of_other_unit(std::uint32_t rank) const {
  const auto& counters = sampled_.facts.counters(rank);
  return counters.known && !(counters == counters_);
}

std::pair<instrument::PackClass, std::uint32_t> called_function(const SampleKey& key) {
  const bool posix = (key.flags & instrument::kPosixCall) != 0;
  return {posix ? instrument::PackClass::kPosix : instrument::PackClass::kMpi, key.function - 1};
}

void Builder::compare_calls() {
  if (model_.unit != "seconds") return;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (is_of_other_unit(rank)) continue;
    const double seconds_per_tick = resolver_.seconds_per_tick(rank);
    for (const ThreadSamples& thread : sampled_.ranks.of(rank)) {
      for (const SampleSums& sums : thread.samples) {
        if (sums.key.function == 0) continue;
        call_time_[called_function(sums.key)].sampled += static_cast<double>(sums.weight) * scale_;
      }
    }
    for (const FunctionSums& sums : resolver_.sums(rank)) {
      CallTime& time = call_time_[{static_cast<instrument::PackClass>(sums.record_class), sums.function}];
      time.exact += static_cast<double>(sums.ticks) * seconds_per_tick;
      time.calls += sums.calls;
    }
  }
}

// The part of such samples that the call accounts for.
double Builder::believed(const SampleKey& key) const {
  if (key.function == 0) return 1;
  const auto time = call_time_.find(called_function(key));
  return time == call_time_.end() ? 1 : time->second.believed();
}

void Builder::add(std::uint32_t node, const Sums& value) {
  at(by_node_, node).add(value);
  at(by_function_, tree_.nodes()[node].function).add(value);
  all_.add(value);
  by_rank_.add(node, value.self);
}

void Builder::gather_thread(std::uint32_t rank, const ThreadSamples& thread) {
  tree_.begin(rank, thread);
  double of_thread = 0, in_calls = 0;
  for (const SampleSums& sums : thread.samples) {
    const ContextTree::Place place = tree_.sample(sums.key);
    const double part = believed(sums.key), squares = static_cast<double>(sums.wide_squares()) * scale_ * scale_;
    const Sums value{sums.samples, static_cast<double>(sums.weight) * scale_, squares};
    const Sums of_call{sums.samples, part * value.self, part * squares};
    add(place.node, of_call);
    if (part < 1) add(tree_.caller(place.node), {0, value.self - of_call.self, squares - of_call.squares});
    if (place.line != kNoLine) at(by_line_, place.line).add(value);
    samples_of_rank_[rank] += sums.samples;
    of_thread += value.self;
    if (sums.key.function != 0 || sums.key == SampleKey{0, 0, 0, kKernelPart}) in_calls += of_call.self;
    if ((sums.key.flags & kKernelPart) != 0) model_.kernel += value.self;
    if ((sums.key.flags & instrument::kTimerInterrupt) != 0) model_.at_shared_ticks += value.self;
    if (!place.known) model_.unknown_contexts += sums.samples;
  }
  by_rank_.end_thread(tree_, rank, thread.thread);
  self_of_thread_.push_back({of_thread, in_calls});
  for (const CounterSums& sums : thread.counters) {
    const std::uint32_t function = tree_.nodes()[tree_.sample(sums.key).node].function;
    auto& values = at(counters_by_function_, function);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += static_cast<double>(sums.values[i]);
  }
  const double seconds_per_tick = resolver_.seconds_per_tick(rank);
  for (const ContextCallSums& sums : thread.calls) {
    Calls& calls = at(calls_, tree_.call(sums.key));
    calls.calls += sums.calls;
    calls.bytes_sent += sums.bytes_sent;
    calls.bytes_received += sums.bytes_received;
    calls.seconds += static_cast<double>(sums.ticks) * seconds_per_tick;
  }
}

void Builder::gather_bins(std::uint32_t rank) {
  const auto& entries = sampled_.bins[rank / sampled_.step].entries();
  const auto& threads = sampled_.ranks.of(rank);
  const ThreadSamples* current = nullptr;
  for (const SampleBins::Entry& entry : entries) {
    if (current == nullptr || current->thread != entry.key.thread) {
      const auto place = std::ranges::lower_bound(threads, entry.key.thread, {}, &ThreadSamples::thread);
      if (place == threads.end() || place->thread != entry.key.thread) continue;  // invalid bytes from outside
      current = &*place;
      tree_.begin(rank, *current);
    }
    const std::uint32_t node = tree_.sample(entry.key.sample).node;
    const double value = static_cast<double>(entry.weight) * scale_, of_call = believed(entry.key.sample) * value;
    const auto add = [&](std::uint32_t where, double part) {
      auto& bins = bins_of_function_[tree_.nodes()[where].function];
      bins.resize(SampleBins::kBins);
      bins[entry.key.bin] += part;
    };
    add(node, of_call);
    if (of_call < value) add(tree_.caller(node), value - of_call);
  }
}

void Builder::gather() {
  samples_of_rank_.resize(ranks_);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (is_of_other_unit(rank)) {
      ++other_unit_;
      self_of_thread_.resize(self_of_thread_.size() + sampled_.ranks.of(rank).size());
      continue;
    }
    for (const ThreadSamples& thread : sampled_.ranks.of(rank)) gather_thread(rank, thread);
    by_rank_.end_rank(rank);
    if (rank % sampled_.step == 0) gather_bins(rank);
  }
  by_node_.resize(tree_.nodes().size());
  calls_.resize(tree_.nodes().size());
  by_function_.resize(tree_.functions().size());
  counters_by_function_.resize(tree_.functions().size());
  by_line_.resize(tree_.lines().size());
}

// Removes nodes of MPI's own functions: calls below them are shown where the program made them, so these are empty.
void Builder::prune() {
  const auto& nodes = tree_.nodes();
  std::vector<bool> used(nodes.size());
  for (std::size_t node = nodes.size(); node-- != 0;) {
    const Sums& sums = by_node_[node];
    if (sums.samples == 0 && !(sums.self > 0) && calls_[node].calls == 0 && !used[node]) continue;
    used[node] = true;
    if (nodes[node].parent != kNoNode) used[nodes[node].parent] = true;
  }
  node_place_.assign(nodes.size(), kNoNode);
  place_.assign(tree_.functions().size(), kNoNode);
  std::uint32_t kept = 0;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (!used[node]) continue;
    node_place_[node] = kept++;
    place_[nodes[node].function] = 0;  // fill_functions() sets the final value
  }
}

void Builder::fill_functions() {
  const std::size_t count = tree_.functions().size();
  for (std::uint32_t f = 0; f < count; ++f) {
    if (place_[f] != kNoNode) used_functions_.push_back(f);
  }
  std::vector<double> call_seconds(count);
  std::vector<std::uint64_t> calls(count);
  for (std::size_t node = 0; node < calls_.size(); ++node) {
    call_seconds[tree_.nodes()[node].function] += calls_[node].seconds;
    calls[tree_.nodes()[node].function] += calls_[node].calls;
  }
  std::ranges::sort(used_functions_, [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t f) { return std::pair(by_function_[f].self, call_seconds[f]); };
    return key(a) != key(b) ? key(a) > key(b) : tree_.functions()[a] < tree_.functions()[b];
  });
  model_.functions.resize(used_functions_.size());
  for (std::uint32_t i = 0; i < used_functions_.size(); ++i) {
    const std::uint32_t f = used_functions_[i];
    const ContextTree::Function& from = tree_.functions()[f];
    place_[f] = i;
    auto& into = model_.functions[i];
    into.symbol = from.symbol;
    into.kind = from.kind;
    into.source_file = from.source_file;
    into.line = from.line;
    into.module = from.module;
    into.optimization = from.optimization;
    into.samples = by_function_[f].samples;
    into.self = by_function_[f].self;
    into.self_error = error_of(by_function_[f], all_);
    into.calls = calls[f];
    into.call_seconds = call_seconds[f];
    into.counters.assign(counters_by_function_[f].begin(),
                         counters_by_function_[f].begin() + static_cast<std::ptrdiff_t>(counters_.names.size()));
  }
  model_.samples = all_.samples;
  model_.self = all_.self;
}

// A function's total: its outermost nodes with their subtrees.
void Builder::fill_totals() {
  const auto& nodes = tree_.nodes();
  std::vector<Sums> beneath = by_node_;
  for (std::size_t node = nodes.size(); node-- != 0;) {
    if (nodes[node].parent != kNoNode) beneath[nodes[node].parent].add(beneath[node]);
  }
  std::vector<Sums> totals(tree_.functions().size());
  std::vector<std::uint32_t> parent, function;
  for (const ContextTree::Node& node : nodes) {
    parent.push_back(node.parent);
    function.push_back(node.function);
  }
  const std::vector<bool> outermost = reports::outermost_nodes(parent, function, totals.size());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (outermost[node]) totals[function[node]].add(beneath[node]);
  }
  for (std::size_t f = 0; f < totals.size(); ++f) {
    if (place_[f] == kNoNode) continue;
    model_.functions[place_[f]].total = totals[f].self;
    model_.functions[place_[f]].total_error = error_of(totals[f], all_);
  }
}

void Builder::fill_tree() {
  reports::CallTree& tree = model_.tree;
  for (std::size_t node = 0; node < tree_.nodes().size(); ++node) {
    if (node_place_[node] == kNoNode) continue;
    const std::uint32_t parent = tree_.nodes()[node].parent;
    tree.parent.push_back(parent == kNoNode ? reports::kNoParent : node_place_[parent]);
    tree.function.push_back(place_[tree_.nodes()[node].function]);
    tree.samples.push_back(by_node_[node].samples);
    tree.self.push_back(by_node_[node].self);
    tree.calls.push_back(calls_[node].calls);
    tree.call_seconds.push_back(calls_[node].seconds);
    tree.bytes_sent.push_back(calls_[node].bytes_sent);
    tree.bytes_received.push_back(calls_[node].bytes_received);
  }
}

void Builder::fill_lines() {
  for (std::size_t i = 0; i < tree_.lines().size(); ++i) {
    if (by_line_[i].samples == 0) continue;
    const ContextTree::Line& line = tree_.lines()[i];
    model_.lines.push_back({place_[line.function], line.source_file, line.line, by_line_[i].samples, by_line_[i].self,
                            error_of(by_line_[i], all_)});
  }
  std::ranges::sort(model_.lines, [](const auto& a, const auto& b) {
    return a.self != b.self ? a.self > b.self
                            : std::tie(a.function, a.source_file, a.line) < std::tie(b.function, b.source_file, b.line);
  });
}

void Builder::follow() {
  double sum = 0;
  for (std::size_t i = 0; i < used_functions_.size() && followed_.size() < kMostFollowed; ++i) {
    if (sum >= kMattering * all_.self || !(model_.functions[i].self > 0)) break;
    followed_.push_back(used_functions_[i]);
    sum += model_.functions[i].self;
  }
}

void Builder::fill_timeline() {
  reports::SampleTimeline& timeline = model_.timeline;
  timeline.rank_step = sampled_.step;
  if (bins_of_function_.empty() || sampled_.bins.empty()) return;
  std::vector<double> all(SampleBins::kBins);
  for (const auto& [function, bins] : bins_of_function_) {
    for (std::size_t bin = 0; bin < bins.size(); ++bin) all[bin] += bins[bin];
  }
  while (!all.empty() && !(all.back() > 0)) all.pop_back();
  timeline.bin_seconds = std::ldexp(1e-9, static_cast<int>(sampled_.bins.front().shift()));
  timeline.bins = static_cast<std::uint32_t>(all.size());
  timeline.all = std::move(all);
  for (const std::uint32_t function : followed_) {
    timeline.functions.push_back(place_[function]);
    const auto bins = bins_of_function_.find(function);
    for (std::uint32_t bin = 0; bin < timeline.bins; ++bin) {
      timeline.self.push_back(bins == bins_of_function_.end() ? 0 : bins->second[bin]);
    }
  }
}

void Builder::fill_ranks() {
  struct Extremes {
    double min = HUGE_VAL, max = 0;
    std::uint32_t seen = 0, max_rank = 0;
  };
  std::vector<Extremes> extremes(place_.size());
  std::vector<std::uint32_t> row(place_.size(), kNoNode);
  for (std::uint32_t i = 0; i < followed_.size(); ++i) row[followed_[i]] = i;
  const std::vector<std::uint32_t> uneven = by_rank_.most_uneven(tree_, kMostFollowed);
  std::vector<std::uint32_t> uneven_row(place_.size(), kNoNode);
  for (std::uint32_t i = 0; i < uneven.size(); ++i) uneven_row[uneven[i]] = i;
  reports::RankSamples& ranks = model_.per_rank;
  if (all_.samples != 0) {
    for (const std::uint32_t function : followed_) ranks.functions.push_back(place_[function]);
    ranks.self.assign(followed_.size() * resolver_.ranks(), 0.0);
    for (const std::uint32_t function : uneven) ranks.uneven.push_back(place_[function]);
    ranks.total.assign(uneven.size() * resolver_.ranks(), 0.0);
    ranks.all.assign(resolver_.ranks(), 0.0);
  }
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    for (const TotalsByRank::Value& value : by_rank_.of(rank)) {
      if (uneven_row[value.function] != kNoNode)
        ranks.total[uneven_row[value.function] * resolver_.ranks() + rank] = value.total;
      if (!(value.self > 0)) continue;
      Extremes& e = extremes[value.function];
      ++e.seen;
      e.min = std::min(e.min, value.self);
      if (value.self > e.max) {
        e.max = value.self;
        e.max_rank = rank;
      }
      ranks.all[rank] += value.self;
      if (row[value.function] != kNoNode) ranks.self[row[value.function] * resolver_.ranks() + rank] = value.self;
    }
  }
  for (std::size_t f = 0; f < extremes.size(); ++f) {
    if (place_[f] == kNoNode) continue;
    auto& into = model_.functions[place_[f]];
    into.rank_min = extremes[f].seen == ranks_ && ranks_ != 0 ? extremes[f].min : 0;
    into.rank_mean = ranks_ == 0 ? 0 : into.self / ranks_;
    into.rank_max = extremes[f].max;
    into.max_rank = extremes[f].max_rank;
  }
  if (ranks.all.empty() || resolver_.ranks() < 2) return;
  samples_of_rank_.resize(resolver_.ranks());
  RankClusters clusters = cluster_ranks(ranks.self, ranks.all, samples_of_rank_);
  model_.clusters = std::move(clusters.clusters);
  model_.cluster_of_rank = std::move(clusters.cluster_of_rank);
  model_.cluster_distance = clusters.distance;
}

void Builder::fill_samplers() {
  reports::SampledThreads& threads = model_.threads;
  std::size_t next_self = 0;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const double seconds_per_tick = resolver_.seconds_per_tick(rank);
    // by thread: reported totals and received samples
    std::map<std::uint32_t, std::pair<ThreadTotals, ThreadSelf>> rows;
    for (const ThreadTotals& totals : sampled_.facts.totals(rank)) rows[totals.key].first = totals;
    for (const ThreadSamples& thread : sampled_.ranks.of(rank)) {
      if (!thread.samples.empty()) rows[thread.thread].second = self_of_thread_[next_self];
      ++next_self;
    }
    for (const auto& [number, row] : rows) {
      const ThreadTotals& totals = row.first;
      threads.rank.push_back(rank);
      threads.thread.push_back(number);
      threads.taken.push_back(totals.taken);
      threads.stored.push_back(totals.stored);
      threads.discarded.push_back(totals.discarded);
      threads.partial.push_back(totals.partial);
      threads.inside_tool.push_back(totals.lost);
      const double cost = static_cast<double>(totals.cost_ticks) * seconds_per_tick;
      threads.cost_seconds.push_back(cost);
      quality_.sampling_seconds += cost;
      quality_.overhead_seconds += cost;
      threads.wall_seconds.push_back(static_cast<double>(totals.thread_ticks) * seconds_per_tick);
      threads.self.push_back(row.second.all);
      threads.in_calls.push_back(row.second.in_calls);
    }
  }
}

void Builder::fill_changes() {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const std::uint64_t origin = resolver_.ledger(rank).origin_tick;
    const std::size_t first = model_.rate_changes.size();
    for (const SamplingChange& change : sampled_.facts.changes(rank)) {
      const double seconds = origin == 0 || change.tick < origin
                                 ? 0
                                 : static_cast<double>(change.tick - origin) * resolver_.seconds_per_tick(rank);
      model_.rate_changes.push_back(
          {rank, change.thread, seconds, change.hertz, kCauses[change.cause], change.lowest_level, change.free_bins});
    }
    std::stable_sort(model_.rate_changes.begin() + static_cast<std::ptrdiff_t>(first), model_.rate_changes.end(),
                     [](const auto& a, const auto& b) { return a.thread < b.thread; });
  }
  model_.rate_changes_left_out = sampled_.facts.left_out();
}

void Builder::build() {
  if (!choose_unit()) return;
  compare_calls();
  gather();
  prune();
  fill_functions();
  fill_totals();
  fill_tree();
  fill_lines();
  follow();
  fill_timeline();
  fill_ranks();
  fill_samplers();
  by_rank_.fill_regions(place_, model_);
  fill_changes();
  if (model_.unknown_contexts != 0) {
    quality_.notices.push_back(fmt::format("The calling context of {} did not arrive: shown as (unknown).",
                                           counted(model_.unknown_contexts, "sample")));
  }
  if (other_unit_ != 0) {
    quality_.notices.push_back(
        fmt::format("The samples of {} are not in the report: their event or counters differ from rank "
                    "0's; use the same options for all ranks of a program.",
                    counted(other_unit_, "rank")));
  }
  if (sampled_.unplaced != 0) {
    quality_.notices.push_back(counted(sampled_.unplaced, "sample", "is", "are") +
                               " not in the view over time: the start of the program is unknown.");
  }
}

}  // namespace

void contribute_samples(const Sampled& sampled, const Resolver& resolver, reports::Application& application) {
  Builder(sampled, resolver, application).build();
}

}  // namespace ardoise::knowledge_sources

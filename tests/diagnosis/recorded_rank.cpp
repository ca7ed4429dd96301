#include "tests/diagnosis/recorded_rank.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "instrument/format/mark_name.hpp"

namespace ardoise::diagnosis {

using instrument::PackClass;
using instrument::Shape;
using namespace std::string_view_literals;

namespace {

constexpr std::uint64_t kOrigin = 1'000'000;  // tick of second 0
constexpr std::uint32_t kMainContext = 1;
constexpr auto kFile = "program.c"sv;

std::uint64_t tick(double seconds) { return kOrigin + static_cast<std::uint64_t>(seconds * 1e9 + 0.5); }

}  // namespace

RecordedRank::RecordedRank(std::uint32_t rank, std::uint32_t world_ranks, Program program, double sampling,
                           std::uint32_t host, std::string suffix)
    : rank_(rank),
      packs_({.partition = program.number, .rank = rank - program.first_rank, .origin_tick = kOrigin}),
      sampling_(sampling),
      suffix_(std::move(suffix)),
      host_name_("host" + std::to_string(host)),
      random_(rank + 1) {
  packs_.define(instrument::ProcessDefinition{world_ranks, rank, 1000 + rank, 0, kOrigin, 1'000'000, 16 << 20,
                                              program.first_rank, program.ranks},
                "program"sv, "./program"sv, std::string_view(host_name_), "/"sv);
  packs_.define(instrument::ClockDefinition{kOrigin, 1'700'000'000'000'000'000, 1e9, 0, 1e-9, 0, 40}, "tsc"sv,
                std::string_view(host_name_));
  packs_.define(instrument::CountersDefinition{0, instrument::SampleUnit::kCpuNanoseconds}, "cpu-clock"sv,
                std::span<const std::string_view>());
  all_contexts_.push_back({kMainContext, 0, instrument::kPythonModule, 0, std::uint64_t{code("main")} << 32 | 1});
}

void RecordedRank::define_communicator(std::uint32_t comm, const std::vector<std::uint32_t>& members) {
  const auto own = std::ranges::find(members, rank_);
  if (own == members.end()) return;
  std::vector<instrument::RankRange> ranges;
  for (const std::uint32_t member : members) {
    const auto start = static_cast<std::int32_t>(member);
    if (!ranges.empty() && ranges.back().start + static_cast<std::int32_t>(ranges.back().count) == start) {
      ++ranges.back().count;
      ranges.back().stride = 1;
    } else {
      ranges.push_back({start, 1, 0});
    }
  }
  const auto count = static_cast<std::uint32_t>(ranges.size());
  packs_.define(
      instrument::CommunicatorDefinition{comm, instrument::CommunicatorKind::kIntra, 70 + comm, 0,
                                         static_cast<std::uint32_t>(members.size()),
                                         static_cast<std::uint32_t>(own - members.begin()), 0, count, 0, 0, count},
      std::span<const instrument::RankRange>(ranges), ""sv);
}

std::uint32_t RecordedRank::code(const std::string& name) {
  const std::string function = name + suffix_;
  const auto [found, is_new] = codes_.try_emplace(function, static_cast<std::uint32_t>(codes_.size()) + 2);
  if (is_new)
    packs_.define(instrument::PythonCodeDefinition{found->second, 0, 1, 0}, std::string_view(function), kFile, ""sv);
  return found->second;
}

std::uint32_t RecordedRank::site(Place place) {
  const auto [found, is_new] = sites_.try_emplace({place.function, place.line}, 0);
  if (is_new) {
    const std::uint64_t offset = std::uint64_t{code(place.function)} << 32 | place.line;
    found->second = instrument::mark_name_id(std::string(place.function) + '\n' + std::to_string(place.line));
    packs_.define(instrument::CallSiteDefinition{found->second, instrument::kPythonModule, offset});
  }
  return found->second;
}

std::uint32_t RecordedRank::context(Place place) {
  const auto [found, is_new] =
      contexts_.try_emplace({place.function, place.line}, static_cast<std::uint32_t>(contexts_.size()) + 2);
  if (is_new)
    all_contexts_.push_back({found->second, kMainContext, instrument::kPythonModule, 0,
                             std::uint64_t{code(place.function)} << 32 | place.line});
  return found->second;
}

void RecordedRank::sample(std::uint32_t thread, std::uint32_t context, double begin, double end, InCall call) {
  (thread == 0 ? cpu_ : other_threads_cpu_) += end - begin;
  const auto [found, is_new] =
      threads_.try_emplace(thread, Thread{sampling_ * (0.5 + (rank_ + thread) % 7 / 14.0), 0, {}});
  Thread& own = found->second;
  if (is_new) {
    packs_.define(instrument::ThreadDefinition{thread, 1000 + rank_ + 100'000 * thread, tick(begin)});
    instrument::SamplingDefinition rate{};
    rate.thread = thread;
    rate.tick = tick(begin);
    rate.hertz = 1 / sampling_;
    packs_.define(rate);
  }
  for (; own.until_sample <= end - begin; own.until_sample += sampling_) {
    instrument::SampleRecord record{};
    record.tick = tick(begin + own.until_sample);
    record.context = context;
    record.kernel = static_cast<std::uint32_t>(sampling_ * call.kernel_share * 1e9);
    record.weight = static_cast<std::uint32_t>(sampling_ * 1e9) - record.kernel;
    record.function = call.function;
    record.flags = call.flags;
    own.samples.push_back(record);
    ++own.taken;
    if (call.function != 0 || thread != 0) continue;
    between_.weight += record.weight;
    between_.tick = record.tick;
    if (random_() % between_.weight < record.weight) between_.context = context;
  }
  own.until_sample -= end - begin;
}

void RecordedRank::compute(Place place, double begin, double end, double kernel_share) {
  sample(0, context(place), begin, end, {0, 0, kernel_share});
}

void RecordedRank::compute_in_thread(std::uint32_t thread, Place place, double begin, double end) {
  sample(thread, context(place), begin, end, {});
}

void RecordedRank::put_sampled() {
  if (between_.weight == 0) return;
  between_.word =
      instrument::make_word(static_cast<std::uint32_t>(instrument::ExtensionKind::kSampled), 0, Shape::kExtension);
  packs_.mpi_extension(between_);
  between_ = {};
}

RecordedRank::Started RecordedRank::call(Place place, const Call& call) {
  const auto number = static_cast<std::uint16_t>(call.function);
  put_sampled();
  if (in_short_runs_ && call.bytes != 0 && sites_with_short_runs_.insert(site(place)).second)
    packs_.define(instrument::ShortRunsDefinition{site(place), sizeof(double)});
  const std::uint64_t begin = tick(call.begin);
  packs_.call(call.function, call.shape, begin, static_cast<std::uint32_t>(tick(call.end) - begin), call.peer, call.tag,
              static_cast<std::uint32_t>(call.bytes), site(place), call.comm);
  sample(0, context(place), call.begin, call.end, {static_cast<std::uint16_t>(number + 1), instrument::kInsideMpi, 0});
  const bool receives = call.shape == Shape::kReceive;
  add_context_totals(context(place), PackClass::kMpi, number, call.end - call.begin, receives ? 0 : call.bytes,
                     receives ? call.bytes : 0);
  return {begin, site(place), call.function};
}

void RecordedRank::completion(const Started& started, std::int32_t source, std::int32_t tag, std::uint64_t bytes) {
  packs_.mpi_extension(instrument::CompletionRecord{
      started.begin, static_cast<std::uint32_t>(bytes >> 32), started.site, source, tag,
      static_cast<std::uint32_t>(bytes),
      instrument::make_word(0, static_cast<std::uint32_t>(started.function), Shape::kCompletion)});
  if (bytes != 0) packs_.total(PackClass::kMpi, static_cast<std::uint16_t>(started.function), 0, 0, 0, bytes);
}

std::uint32_t RecordedRank::file(const std::string& path) {
  const auto [found, is_new] = files_.try_emplace(path, static_cast<std::uint32_t>(files_.size()) + 1);
  if (is_new) packs_.define(instrument::FileDefinition{found->second, 0}, std::string_view(path));
  return found->second;
}

void RecordedRank::file_call(Place place, instrument::PosixFunction function, const std::string& path, double begin,
                             double end, std::uint64_t bytes) {
  const auto number = static_cast<std::uint16_t>(function);
  const bool reads = function == instrument::PosixFunction::kRead;
  const std::uint64_t first = tick(begin);
  asleep_in_io_ += end - begin;
  packs_.posix({first, static_cast<std::uint32_t>(tick(end) - first), site(place), file(path), number, 0, bytes});
  packs_.total(PackClass::kPosix, number, 1, tick(end) - first, reads ? 0 : bytes, reads ? bytes : 0);
  add_context_totals(context(place), PackClass::kPosix, number, end - begin, reads ? 0 : bytes, reads ? bytes : 0);
}

void RecordedRank::mpi_file_call(Place place, vmpi::FunctionId function, const std::string& path, double begin,
                                 double end, std::uint64_t bytes) {
  call(place,
       {function, Shape::kFileWrite, begin, end, static_cast<std::int32_t>(file(path)), 0, bytes, instrument::kNoComm});
}

void RecordedRank::add_context_totals(std::uint32_t context, PackClass record_class, std::uint16_t function,
                                      double seconds, std::uint64_t sent, std::uint64_t received) {
  auto& sums = context_totals_[{context, static_cast<std::uint32_t>(record_class) << 16 | function}];
  sums.context = context;
  sums.record_class = static_cast<std::uint16_t>(record_class);
  sums.function = function;
  ++sums.calls;
  sums.ticks += static_cast<std::uint64_t>(seconds * 1e9 + 0.5);
  sums.bytes_sent += sent;
  sums.bytes_received += received;
}

// Looks that find a thread asleep that sleeps for so long in all.
std::uint32_t RecordedRank::looks(double seconds) {
  constexpr double kBetweenLooks = 0.05;  // s
  return static_cast<std::uint32_t>(seconds / kBetweenLooks + std::uniform_real_distribution<>(0, 1)(random_));
}

std::vector<replay::Pack> RecordedRank::finish(double end, std::uint32_t processors_of_host) {
  put_sampled();
  const auto cpu = static_cast<std::uint64_t>(cpu_ * 1e9);
  std::array<std::uint32_t, instrument::kSleepReasons> asleep{};
  std::ranges::transform(asleep_outside_, asleep.begin(), [this](double seconds) { return looks(seconds); });
  packs_.define(instrument::UsageDefinition{cpu,
                                            static_cast<std::uint64_t>(without_processor_ * 1e9),
                                            cpu + static_cast<std::uint64_t>(other_threads_cpu_ * 1e9),
                                            64 << 20,
                                            static_cast<std::uint32_t>(std::max<std::size_t>(1, threads_.size())),
                                            rank_,
                                            processors_of_host,
                                            std::accumulate(asleep.begin(), asleep.end(), 0u),
                                            0,
                                            looks(asleep_in_io_),
                                            0,
                                            asleep[1],
                                            asleep[2],
                                            asleep[3],
                                            asleep[4],
                                            {},
                                            0,
                                            0});
  for (const auto& [number, thread] : threads_) {
    instrument::SamplerTotalsDefinition totals{};
    totals.thread = number;
    totals.taken = totals.stored = thread.taken;
    totals.thread_ticks = tick(end) - kOrigin;
    packs_.define(totals);
  }
  packs_.define(instrument::ClockDefinition{tick(end), 1'700'000'000'000'000'000 + tick(end) - kOrigin, 1e9, 0, 1e-9,
                                            tick(end), 40},
                "tsc"sv, std::string_view(host_name_));
  packs_.flush();
  constexpr std::size_t kMost = 1000;
  for (const auto& [number, thread] : threads_) {
    packs_.contexts(number, all_contexts_);
    for (std::span<const instrument::SampleRecord> rest = thread.samples; !rest.empty();) {
      const auto some = rest.first(std::min(kMost, rest.size()));
      packs_.samples(number, some);
      rest = rest.subspan(some.size());
    }
  }
  std::vector<instrument::ContextTotalsRecord> sums;
  for (const auto& [key, record] : context_totals_) sums.push_back(record);
  if (threads_.empty()) packs_.contexts(0, all_contexts_);
  packs_.context_totals(0, sums);
  packs_.finish();
  return packs_.take();
}

}  // namespace ardoise::diagnosis

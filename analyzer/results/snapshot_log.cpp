#include "analyzer/results/snapshot_log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/plugins/snapshots/rank_marks.hpp"

namespace ardoise::analyzer {
namespace {

using namespace knowledge_sources;

constexpr std::string_view kPrefix = "snapshots-", kEnding = ".ards";
constexpr std::size_t kMostWaitingCells = std::size_t{1} << 20, kMostNames = 65536;

}  // namespace

void SnapshotLog::remove_old(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kEnding)) std::filesystem::remove(entry.path(), ignored);
  }
}

void SnapshotLog::begin(const std::string& folder, std::uint32_t analyzer, std::uint64_t run, int descriptor) {
  const MutexLock lock(mutex_);
  writer_.emplace(fmt::format("{}/{}{}{}", folder, kPrefix, analyzer, kEnding), complain_, descriptor);
  process_ = ::getpid();
  builder_ = BlockBuilder(run);
}

void SnapshotLog::add_program(const Program& program) {
  const MutexLock lock(mutex_);
  programs_[program.partition] = {program.partition, program.ranks, program.place.first_rank, program.name};
}

void SnapshotLog::name_mark(std::uint32_t program, std::uint32_t name, std::string_view text) {
  const MutexLock lock(mutex_);
  if (marks_.size() < kMostNames) marks_.try_emplace({program, name}, text);
}

void SnapshotLog::name_series(std::uint32_t program, SeriesKind kind, std::uint32_t name, std::string_view text) {
  const MutexLock lock(mutex_);
  series_[{program, kind, name}] = text;
}

void SnapshotLog::name_call_site(std::uint32_t program, std::uint32_t call_site, const Place& place) {
  const MutexLock lock(mutex_);
  if (sites_.size() < kMostNames)
    sites_.try_emplace({program, call_site}, Site{std::string(place.module), place.offset});
}

void SnapshotLog::name_call(std::uint32_t program, std::uint32_t rank, std::uint64_t key, const Place& place) {
  const MutexLock lock(mutex_);
  Block::Call call = call_of(program, rank, key);
  call.module = place.module;
  call.offset = place.offset;
  call.symbol = place.symbol;
  call.source_file = place.source_file;
  call.line = place.line;
  call.stack = place.stack;
  // A block has one text for a call: its first text may be less complete.
  if (!builder_.block().records.empty()) write();
  (void)builder_.id_of(programs_.at(program), call);
  if (builder_.add_cells(1)) write();
}

std::string SnapshotLog::name_of(const Series& series) const {
  if (series.kind == SeriesKind::kSnapshot || series.kind == SeriesKind::kPhase) {
    const auto found = marks_.find({series.program, series.name});
    return found != marks_.end() ? found->second : "";
  }
  const auto found = series_.find({series.program, series.kind, series.name});
  return found != series_.end() ? found->second : "";
}

SnapshotLog::Block::Call SnapshotLog::call_of(std::uint32_t program, std::uint32_t rank, std::uint64_t key) const {
  Block::Call call;
  call.place = place_of_key(key);
  if (key == RankMarks::kFurther) {
    call.function = "(further calls)";
    return call;
  }
  call.thread = thread_of_key(key);
  if ((key & kIsCounted) != 0) {
    call.kind = Block::CallKind::kCounted;
    if (const auto name = marks_.find({program, call.place}); name != marks_.end()) call.function = name->second;
    return call;
  }
  if ((key & kIsSampled) != 0) {
    call.kind = Block::CallKind::kSampled;
    call.rank = rank;
    return call;
  }
  const bool is_posix = (key & kIsPosix) != 0;
  call.kind = is_posix ? Block::CallKind::kPosix : Block::CallKind::kMpi;
  call.function =
      function_info(is_posix ? instrument::PackClass::kPosix : instrument::PackClass::kMpi, function_of_key(key)).name;
  if (const auto site = sites_.find({program, call.place}); site != sites_.end()) {
    call.module = site->second.module;
    call.offset = site->second.offset;
  }
  return call;
}

// The call is looked up once for each block.
std::uint32_t SnapshotLog::id_of(const Block::Program& program, std::uint32_t rank, std::uint64_t key) {
  const auto [found, is_new] = call_ids_.try_emplace({program.number, rank, key}, 0);
  if (is_new) found->second = builder_.id_of(program, call_of(program.number, rank, key));
  return found->second;
}

void SnapshotLog::take(const Series& series, const Part& part, const Snapshot& snapshot,
                       std::span<const std::uint64_t> keys, std::span<const std::uint64_t> names) {
  Waiting waiting{.record = {.rank = series.rank,
                             .is_rest = part.is_rest,
                             .lacks_calls = part.lacks_calls,
                             .has_spread = part.has_spread,
                             .index = part.index,
                             .number = snapshot.number,
                             .rounds = snapshot.rounds,
                             .begin = snapshot.begin,
                             .end = snapshot.end,
                             .ns = snapshot.ns},
                  .since = Clock::now()};
  for (const CallCell& cell : snapshot.calls) waiting.calls[keys[cell.id]] += cell.sums;
  for (const ValueCell& cell : snapshot.values) waiting.values[names[cell.id]] += cell.sums;
  const MutexLock lock(mutex_);
  waiting_cells_ += 1 + waiting.calls.size() + waiting.values.size();
  waiting_[series].push_back(std::move(waiting));
  if (waiting_cells_ > kMostWaitingCells) settle_until(Clock::time_point::max());
}

void SnapshotLog::take_late(const Series& series, std::int64_t time, std::uint64_t key, const CallSums& sums) {
  const MutexLock lock(mutex_);
  if (const auto found = waiting_.find(series); found != waiting_.end()) {
    const auto after =
        std::ranges::upper_bound(found->second, time, {}, [](const Waiting& each) { return each.record.begin; });
    if (after != found->second.begin()) {
      Waiting& snapshot = *std::prev(after);
      // Nothing is open between phases.
      if (time < snapshot.record.end) snapshot.calls[key] += sums;
      return;
    }
  }
  Block::Record late{.rank = series.rank, .is_late = true, .begin = time, .end = time};
  settle(series, {.record = late, .calls = {{key, sums}}});
}

void SnapshotLog::settle(const Series& series, const Waiting& waiting) {
  const auto program = programs_.find(series.program);
  if (program == programs_.end()) return;
  Block::Record& record = builder_.add(program->second, {0, series.kind, series.name, name_of(series)}, waiting.record);
  for (const auto& [key, sums] : waiting.calls)
    record.calls.push_back({id_of(program->second, series.rank, key), 0, sums});
  for (const auto& [name, sums] : waiting.values) {
    const auto number = static_cast<std::uint32_t>(name);
    const auto text = marks_.find({series.program, number});
    const Block::Value value{0, number, text != marks_.end() ? text->second : ""};
    record.values.push_back({builder_.id_of(program->second, value), 0, sums});
  }
  if (builder_.add_cells(1 + waiting.calls.size() + waiting.values.size())) write();
}

// Writes snapshots that came before `time`.
void SnapshotLog::settle_until(Clock::time_point time) {
  for (auto& [series, list] : waiting_) {
    while (!list.empty() && list.front().since < time) {
      waiting_cells_ -= std::min(waiting_cells_, 1 + list.front().calls.size() + list.front().values.size());
      settle(series, list.front());
      list.pop_front();
    }
  }
}

void SnapshotLog::flush() {
  const MutexLock lock(mutex_);
  settle_until(Clock::now() - patience_);
  write();
}

void SnapshotLog::finish() {
  const MutexLock lock(mutex_);
  settle_until(Clock::time_point::max());
  write();
  if (writer_ && process_ == ::getpid()) writer_->finish();
}

void SnapshotLog::write() {
  const Block& block = builder_.block();
  // A copy of the process writes nothing: the state of its writer is undefined.
  const bool has_some = !block.records.empty() || !block.calls.empty();
  if (has_some && writer_ && process_ == ::getpid()) {
    writer_->write(builder_.take());
  } else {
    builder_.clear();
  }
  call_ids_.clear();
}

}  // namespace ardoise::analyzer

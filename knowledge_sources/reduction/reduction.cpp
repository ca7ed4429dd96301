#include "knowledge_sources/reduction/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "instrument/format/pack_reader.hpp"
#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/reduction/level_resolver.hpp"
#include "reports/text/units.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kReductionVersion = 1;

// Level::contribute leaves seconds since 1970 in start_seconds: the start of the first program becomes 0 and
// Run::started.
void align_starts(reports::Run& run, std::size_t first_application) {
  double first = 0;
  for (std::size_t i = first_application; i < run.applications.size(); ++i) {
    const double start = run.applications[i].start_seconds;
    if (start > 0 && (first == 0 || start < first)) first = start;
  }
  for (std::size_t i = first_application; i < run.applications.size(); ++i) {
    double& start = run.applications[i].start_seconds;
    start = start > 0 ? start - first : 0;
  }
  if (run.started.empty() && first > 0 && first < 1e11) {
    run.started = reports::utc_time(static_cast<std::int64_t>(first), "%Y-%m-%dT%H:%M:%SZ");
  }
}

}  // namespace

Reduction::Reduction(blackboard::Blackboard& board, std::vector<AnalysisFactory> factories)
    : board_(board), factories_(std::move(factories)) {
  dispatcher_ = board_.add({"dispatcher",
                            {pack_type()},
                            [this](const blackboard::Context& context, std::span<blackboard::EntryRef> entries) {
                              dispatch(context, entries[0]);
                            }});
}

Reduction::~Reduction() { board_.remove(dispatcher_); }

blackboard::EntryType Reduction::pack_type() { return blackboard::entry_type("", kPack); }

Level& Reduction::add_program(Program program) {
  const std::unique_lock guard(levels_mutex_);
  const auto partition = program.partition;
  if (levels_.contains(partition)) {
    throw std::invalid_argument(fmt::format("partition {} is being analyzed already", partition));
  }
  return *levels_.emplace(partition, std::make_unique<Level>(board_, std::move(program), factories_, shares_))
              .first->second;
}

Level* Reduction::find(std::uint32_t partition) {
  const std::shared_lock guard(levels_mutex_);
  const auto found = levels_.find(partition);
  return found == levels_.end() ? nullptr : found->second.get();
}

void Reduction::refuse(const std::string& sentence) {
  const std::scoped_lock guard(refused_mutex_);
  refused_.add(sentence);
}

void Reduction::dispatch(const blackboard::Context& context, const blackboard::EntryRef& pack) {
  const instrument::PackCheck check = instrument::check_pack(pack.payload());
  if (!check) return refuse(check.error);
  const auto& header = check.pack->header();
  Level* const level = find(header.partition);
  if (level == nullptr) {
    return refuse(fmt::format("A pack was rejected: its partition {} is not analyzed.", header.partition));
  }
  if (header.table_hash != mpi_table_hash()) {
    return level->refuse(fmt::format(
        "Packs of {} were rejected: its preload library numbers the MPI functions differently (table {:08x}, not "
        "{:08x}); use library and analyzer of the same build.",
        level->program().name, header.table_hash, mpi_table_hash()));
  }
  level->unpack(context, pack, *check.pack);
}

void Reduction::flush() const {
  for (const auto& [partition, level] : levels_) level->flush();
}

void Reduction::end() const {
  for (const auto& [partition, level] : levels_) level->end();
}

void Reduction::make_room() const {
  for (const auto& [partition, level] : levels_) level->make_room();
}

void Reduction::shorten() {
  for (const auto& [partition, level] : levels_) level->shorten();
}

std::vector<std::byte> Reduction::partial() const {
  ByteWriter out;
  out.put(kReductionVersion);
  refused_.write(out);
  out.put_count(levels_.size());
  for (const auto& [partition, level] : levels_) {
    out.put(partition);
    out.put_bytes(level->partial());
  }
  return out.take();
}

void Reduction::absorb(std::span<const std::byte> partial) {
  ByteReader in(partial, "the launch");
  in.expect_version(kReductionVersion);
  const auto refused = Sentences::read(in);
  std::vector<std::pair<std::uint32_t, std::span<const std::byte>>> parts(in.get_count(12));
  for (auto& [partition, bytes] : parts) {
    partition = in.get<std::uint32_t>();
    bytes = in.get_bytes();
  }
  in.expect_end();
  refused_.merge(refused);
  for (const auto& [partition, bytes] : parts) {
    if (Level* const level = find(partition)) level->absorb(bytes);
  }
}

void Reduction::contribute(reports::Run& run) const {
  const std::size_t first = run.applications.size();
  std::map<std::uint32_t, std::unique_ptr<LevelResolver>> resolvers;  // by partition
  std::map<std::uint32_t, std::vector<const Resolver*>> worlds;
  for (const auto& [partition, level] : levels_) {
    const auto& resolver = resolvers[partition] = level->make_resolver();
    if (level->program().shares_world()) worlds[level->program().world].push_back(resolver.get());
  }
  for (auto& [world, members] : worlds)
    std::ranges::sort(members, {}, [](const Resolver* each) { return each->place().first_rank; });
  for (const auto& [partition, level] : levels_) {
    if (level->program().shares_world()) resolvers[partition]->set_world(worlds[level->program().world]);
    level->contribute(*resolvers[partition], run.applications.emplace_back());
  }
  align_starts(run, first);
  const auto lines = refused_.lines();
  run.notices.insert(run.notices.end(), lines.begin(), lines.end());
}

}  // namespace ardoise::knowledge_sources

#include "knowledge_sources/reduction/level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>

#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/reduction/level_resolver.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kLevelVersion = 1;
constexpr std::string_view kAccountsPart = "(accounts)";  // not a valid name of a plug-in
constexpr std::string_view kDefinitionsPart = "(definitions)";

AnalysisContext context_of(const Program& program) {
  return {fmt::format("{}:{}", program.partition, program.name),
          program.partition,
          program.ranks,
          program.ticks_per_second,
          program.snapshots,
          program.traces,
          program.place.first_rank,
          std::max(program.place.world_ranks, program.ranks)};
}

// Sorts lists by content, independent of the order of the plug-ins.
void sort_lists(reports::Application& application) {
  const auto by_function = [](const auto& a, const auto& b) {
    return std::tuple(-a.seconds, std::string_view(a.function)) < std::tuple(-b.seconds, std::string_view(b.function));
  };
  std::ranges::stable_sort(application.mpi, by_function);
  std::ranges::stable_sort(application.posix, by_function);
  std::ranges::stable_sort(application.call_sites, [](const auto& a, const auto& b) {
    return std::tuple(-a.seconds, std::string_view(a.function), std::string_view(a.module), a.offset) <
           std::tuple(-b.seconds, std::string_view(b.function), std::string_view(b.module), b.offset);
  });
  std::ranges::stable_sort(application.files, [](const auto& a, const auto& b) {
    return std::tuple(-a.seconds, std::string_view(a.path)) < std::tuple(-b.seconds, std::string_view(b.path));
  });
}

}  // namespace

Level::Level(blackboard::Blackboard& board, Program program, std::span<const AnalysisFactory> factories,
             WorldShares& shares)
    : program_(std::move(program)),
      context_(context_of(program_)),
      accounts_(std::make_unique<Accounts>(context_)),
      definitions_(std::make_unique<DefinitionStore>(context_)),
      own_sources_(board) {
  accounts_->attach(own_sources_);
  definitions_->attach(own_sources_);
  for (const AnalysisFactory& factory : factories) {
    try {
      AnalysisContext context = context_;
      if (program_.shares_world()) context.share = &shares[{program_.world, factory.name}];
      auto analysis = factory.create(context);
      auto sources = std::make_unique<LevelSources>(board);
      analysis->attach(*sources);
      members_.push_back({factory.name, std::move(analysis), std::move(sources)});
    } catch (const std::exception& error) {
      note(fmt::format("The knowledge source {} could not start and its part of the report is missing: {}",
                       factory.name, error.what()));
    }
  }
}

Level::~Level() = default;

void Level::note(std::string sentence) const {
  const std::scoped_lock guard(notes_mutex_);
  notes_.add(sentence);
}

void Level::refuse(const std::string& sentence) {
  const std::scoped_lock guard(notes_mutex_);
  refused_.add(sentence);
}

void Level::unpack(const blackboard::Context& context, const blackboard::EntryRef& pack,
                   const instrument::PackView& view) {
  const auto& header = view.header();
  if (header.rank >= program_.ranks) {
    refuse(fmt::format("A pack of {} was rejected: its rank is beyond the {}.", program_.name,
                       counted(program_.ranks, "rank")));
    return;
  }
  accounts_->note(view);
  const auto submit = [&]<class Record>(std::string_view entry, std::span<const Record> records) {
    context.board.submit(
        blackboard::make_entry_of(blackboard::entry_type(context_.level, entry), Span<Record>{pack, &header, records}));
  };
  switch (view.pack_class()) {
    case instrument::PackClass::kMpi:
      return submit(kMpiEvents, view.records<instrument::MpiRecord>());
    case instrument::PackClass::kPosix:
      return submit(kPosixEvents, view.records<instrument::PosixRecord>());
    case instrument::PackClass::kTotals:
      return submit(kTotals, view.records<instrument::TotalsRecord>());
    case instrument::PackClass::kDefinitions:
      return submit(kDefinitions, view.payload());
    case instrument::PackClass::kSamples:
      return submit(kSamples, view.payload());
    case instrument::PackClass::kContexts:
      return submit(kContexts, view.records<instrument::ContextRecord>());
    case instrument::PackClass::kContextTotals:
      return submit(kContextTotals, view.records<instrument::ContextTotalsRecord>());
    case instrument::PackClass::kAggregates:
      return submit(kAggregates, view.records<instrument::AggregateRecord>());
  }
}

void Level::flush() const {
  for (const Member& member : members_) member.sources->run_at_quiet();
}

void Level::end() const {
  for (const Member& member : members_) member.sources->run_at_end();
}

void Level::make_room() const {
  for (const Member& member : members_) member.sources->run_at_no_room();
}

void Level::shorten() {
  for (const Member& member : members_) member.analysis->shorten();
}

std::vector<std::byte> Level::partial() const {
  ByteWriter out;
  out.put(kLevelVersion);
  out.put(program_.ranks);
  refused_.write(out);
  std::vector<std::pair<std::string_view, std::vector<std::byte>>> parts;
  parts.emplace_back(kAccountsPart, accounts_->partial());
  parts.emplace_back(kDefinitionsPart, definitions_->partial());
  for (const Member& member : members_) {
    try {
      parts.emplace_back(member.name, member.analysis->partial());
    } catch (const std::exception& error) {
      note(fmt::format("The knowledge source {} lost one analyzer's results: {}", member.name, error.what()));
    }
  }
  notes_.write(out);
  out.put_count(parts.size());
  for (const auto& [name, bytes] : parts) {
    out.put_text(name);
    out.put_bytes(bytes);
  }
  return out.take();
}

void Level::absorb(std::span<const std::byte> partial) {
  ByteReader in(partial, program_.name);
  in.expect_version(kLevelVersion);
  in.check(in.get<std::uint32_t>() == program_.ranks, "belongs to a program with another number of ranks");
  const auto refused = Sentences::read(in);
  const auto notes = Sentences::read(in);
  std::vector<std::pair<std::string_view, std::span<const std::byte>>> parts(in.get_count(12));
  for (auto& [name, bytes] : parts) {
    name = in.get_text();
    bytes = in.get_bytes();
  }
  in.expect_end();

  refused_.merge(refused);
  notes_.merge(notes);
  for (const auto& [name, bytes] : parts) {
    try {
      if (name == kAccountsPart) {
        accounts_->absorb(bytes);
      } else if (name == kDefinitionsPart) {
        definitions_->absorb(bytes);
      } else if (const auto member = std::ranges::find(members_, name, &Member::name); member != members_.end()) {
        member->analysis->absorb(bytes);
      } else {
        note(fmt::format(
            "The knowledge source {} is on another analyzer but not on the first one; its results are lost.", name));
      }
    } catch (const std::exception& error) {
      note(fmt::format("Results of {} from another analyzer are missing: {}", name, error.what()));
    }
  }
}

std::unique_ptr<LevelResolver> Level::make_resolver() const {
  return std::make_unique<LevelResolver>(program_, *definitions_, *accounts_);
}

void Level::contribute(const LevelResolver& resolver, reports::Application& application) const {
  application.name = program_.name;
  application.partition = program_.world;
  application.ranks = program_.ranks;
  application.first_rank = program_.place.first_rank;
  application.world_ranks = std::max(program_.place.world_ranks, program_.ranks);
  for (const Member& member : members_) {
    try {
      member.analysis->contribute(resolver, application);
    } catch (const std::exception& error) {
      note(fmt::format("The knowledge source {} failed and its part of the report is missing: {}", member.name,
                       error.what()));
    }
  }
  sort_lists(application);
  auto& quality = application.quality;
  quality.bad_packs = refused_.total();
  quality.unresolved_call_sites = static_cast<std::uint64_t>(
      std::ranges::count_if(application.call_sites, [](const auto& site) { return site.symbol.empty(); }));
  for (const auto& list : {resolver.notices(), refused_.lines(), notes_.lines()}) {
    quality.notices.insert(quality.notices.end(), list.begin(), list.end());
  }
}

}  // namespace ardoise::knowledge_sources

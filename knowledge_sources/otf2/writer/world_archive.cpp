// Collects the data of programs and parts; world_archive_write.cpp writes it.
#include "knowledge_sources/otf2/writer/world_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/interface/pack_time.hpp"
#include "knowledge_sources/interface/resolver.hpp"
#include "knowledge_sources/otf2/contents/called_from.hpp"
#include "knowledge_sources/otf2/contents/trace_selection.hpp"
#include "knowledge_sources/otf2/writer/rank_texts.hpp"
#include "reports/text/joined.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::size_t kMostDimensions = 16;

std::string text_of_name(const TraceTables& tables, std::uint32_t name) {
  if (name == 0) return "MPI_Pcontrol";
  const auto found = std::ranges::find(tables.texts, name, [](const auto& each) { return each.first; });
  return found == tables.texts.end() ? fmt::format("(name {:08x})", name) : found->second;
}

// Ranks of a communicator that are processes of the world; false: some are unknown or outside it.
bool take_members(const std::vector<std::int64_t>& from, std::uint32_t size, std::vector<std::uint64_t>& members) {
  members.clear();
  for (const std::int64_t each : from) {
    if (each < 0) return false;
    members.push_back(static_cast<std::uint64_t>(each));
  }
  return members.size() == size;
}

// In ns since 1970, at time 0 of the program.
std::uint64_t realtime_of_start(const Resolver& resolver) {
  const ProcessFacts& first = resolver.process(0);
  const std::uint64_t origin = resolver.ledger(0).origin_tick;
  if (!first.has_clock || origin == 0) return 0;
  const double ns =
      static_cast<double>(static_cast<std::int64_t>(origin - first.clock.tick)) * 1e9 * resolver.seconds_per_tick(0);
  return first.clock.realtime_ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(ns));
}

}  // namespace

TraceClock WorldArchive::last_clock(std::uint32_t rank, const Resolver& resolver) {
  return {resolver.ledger(rank).origin_tick, 1e9 * resolver.seconds_per_tick(rank)};
}

std::uint64_t WorldArchive::region_of(const TraceRegion& told, const ReadPart& part, const Resolver& resolver) {
  Region region{"", "", "", 0, told.kind, told.function};
  if (told.kind == TraceRegion::Kind::kPhase) {
    region.name = text_of_name(part.tables, told.place);
  } else {
    region.name = function_info(told.kind == TraceRegion::Kind::kMpi ? instrument::PackClass::kMpi
                                                                     : instrument::PackClass::kPosix,
                                told.function)
                      .name;
    const Location& place = resolver.call_site(told.place);
    const bool is_mpi = told.kind == TraceRegion::Kind::kMpi;
    region.source_file = is_mpi ? kMpiSourceFile : place.source_file;
    region.line = place.line;
    std::string symbol = place.symbol;
    if (symbol.empty() && !place.module.empty()) symbol = fmt::format("{}+0x{:x}", place.module, place.offset);
    region.description = called_from_text(symbol, is_mpi ? place.source_file : "");
  }
  return regions_.try_emplace(std::move(region), regions_.size()).first->second;
}

std::uint64_t WorldArchive::name_of(const std::string& name) {
  return names_.try_emplace(name, names_.size()).first->second;
}

std::uint64_t WorldArchive::add_communicator(Communicator communicator) {
  communicators_.push_back(std::move(communicator));
  return communicators_.size() - 1;
}

std::uint64_t WorldArchive::unknown_communicator() {
  if (unknown_ == 0) unknown_ = add_communicator({"(not known)", false, false, {}, {}, {}});
  return unknown_;
}

std::map<std::uint32_t, std::uint64_t> WorldArchive::communicators_of(std::uint32_t rank, const Resolver& resolver) {
  std::map<std::uint32_t, std::uint64_t> numbers{{instrument::kWorldComm, 0}};
  for (const CommunicatorOfRank& told : resolver.communicators_of(rank)) {
    if (told.number == instrument::kWorldComm) continue;
    std::uint64_t& number = numbers[told.number];
    if (!told.is_inter && told.size == 1) {
      if (self_ == 0) self_ = add_communicator({"MPI_COMM_SELF", false, true, {}, {}, {}});
      number = self_;
      continue;
    }
    const auto [found, is_new] = known_.try_emplace({told.group, told.instance, told.is_inter}, 0);
    if (is_new) {
      Communicator communicator{std::string(told.name), told.is_inter, false, {}, {}, {}};
      const bool is_known = take_members(resolver.members(rank, told.number, false), told.size, communicator.members) &&
                            (!told.is_inter || take_members(resolver.members(rank, told.number, true), told.remote_size,
                                                            communicator.others));
      found->second = is_known ? add_communicator(std::move(communicator)) : unknown_communicator();
    }
    std::uint64_t cells = 1;
    for (const auto& dimension : told.grid) cells = std::min<std::uint64_t>(cells, told.size + 1) * dimension.extent;
    if (found->second != unknown_ && cells == told.size && told.grid.size() <= kMostDimensions)
      communicators_[found->second].grid.assign(told.grid.begin(), told.grid.end());
    number = found->second;
  }
  return numbers;
}

void WorldArchive::add(const Program& program, const std::vector<const ReadPart*>& parts, const Resolver& resolver) {
  const std::uint32_t first = program.place.first_rank;
  if (ranks_.empty()) {
    name_ = program.name;
    start_realtime_ns_ = realtime_of_start(resolver);
    Communicator world{"MPI_COMM_WORLD", false, false, {}, {}, {}};
    ranks_.resize(std::max(program.place.world_ranks, program.ranks));
    for (std::uint64_t rank = 0; rank < ranks_.size(); ++rank) world.members.push_back(rank);
    communicators_.push_back(std::move(world));
  }
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    OfRank& of_rank = ranks_.at(first + rank);
    of_rank.program = program.name;
    const ProcessFacts& process = resolver.process(rank);
    of_rank.host = process.host;
    if (process.has_clock) of_rank.clock_error_ns = std::max(0.0, process.clock.offset_error_seconds) * 1e9;
  }
  for (const ReadPart* const part : parts) {
    const TraceTables& tables = part->tables;
    selection_ = tables.selection;
    auto of_part = std::make_shared<OfPart>();
    of_part->keys = tables.regions;
    for (const std::uint64_t key : tables.regions)
      of_part->regions.push_back(region_of(TraceRegion::of_key(key), *part, resolver));
    for (const std::uint32_t name : tables.names) of_part->names.push_back(name_of(text_of_name(tables, name)));
    for (TraceTables::Thread thread : tables.threads) {
      thread.rank += first;
      Thread& known = threads_[trace_location(thread.rank, thread.thread)];
      known.parts.push_back({of_part, part->folder});
      events_ += thread.events;
      if (known.told.events != 0) {
        thread.first_time = std::min(known.told.first_time, thread.events != 0 ? thread.first_time : UINT64_MAX);
        thread.last_time = std::max(known.told.last_time, thread.last_time);
        thread.events += known.told.events;
      }
      known.told = thread;
    }
    for (const TraceTables::Rank& rank : tables.ranks) {
      OfRank& of_rank = ranks_.at(first + rank.rank);
      if (rank.clock.ns_per_tick > 0) of_rank.clock = rank.clock;
      of_rank.last_clock = last_clock(rank.rank, resolver);
      for (const auto& [number, global] : communicators_of(rank.rank, resolver))
        of_rank.communicators.emplace(number, global);
    }
    for (const TraceTables::Use& use : tables.communicators) {
      auto& known = ranks_.at(first + use.rank).communicators;
      if (!known.contains(use.number)) known.emplace(use.number, unknown_communicator());
    }
    for (const TraceTables::Use& use : tables.handles) {
      std::string path(resolver.file(use.rank, use.number >> 1));
      if (path.empty()) path = "(not known)";
      const File file{std::move(path), (use.number & 1) != 0};
      ranks_.at(first + use.rank).handles.emplace(use.number, files_.try_emplace(file, files_.size()).first->second);
    }
    add_windows(first, tables);
    add_texts(first, tables);
    for (TraceTables::Gap gap : tables.gaps) {
      gap.rank += first;
      gaps_.push_back(gap);
    }
    losses_.add(tables.losses);
    const auto notes = std::make_shared<const NotesOfPart>(part->folder);
    for (std::uint32_t rank = 0; rank < program.ranks && !notes->is_empty(); ++rank) {
      if (notes->has(rank)) ranks_.at(first + rank).notes.push_back({notes, rank});
    }
    add_keys(notes->keys());
  }
  add_samples(first, parts, resolver);
  if (selection_.empty()) return;
  const TraceSelection selection(selection_);
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    const RankLedger& ledger = resolver.ledger(rank);
    const bool has_calls = ledger.mpi.recorded + ledger.posix.recorded != 0;
    const bool is_there = std::ranges::any_of(parts, [rank](const ReadPart* part) {
      return std::ranges::find(part->tables.ranks, rank, &TraceTables::Rank::rank) != part->tables.ranks.end();
    });
    if (has_calls && !is_there && selection.has_rank(first + rank)) ++unseen_ranks_;
  }
}

void WorldArchive::restrict_to(const Program& program, std::uint64_t all_rounds,
                               const std::vector<TraceRounds>& rounds) {
  constexpr auto kLead = static_cast<std::int64_t>(kTraceLead);
  const TraceSelection selection(selection_);
  std::set<std::uint32_t> missing;  // ranks
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    const std::uint32_t world_rank = program.place.first_rank + rank;
    ranks_.at(world_rank).times.emplace();
    if (selection.has_rank(world_rank)) missing.insert(rank);
  }
  std::uint64_t first = UINT64_MAX, last = 0, together = 1;
  for (const TraceRounds& each : rounds) {
    if (each.rank >= program.ranks || each.begin < -kLead || each.end < each.begin) continue;
    ranks_[program.place.first_rank + each.rank].times->push_back(
        {static_cast<std::uint64_t>(each.begin + kLead), static_cast<std::uint64_t>(each.end + kLead)});
    first = std::min(first, each.first);
    last = std::max(last, each.first + each.count - 1);
    together = std::max(together, each.count);
    missing.erase(each.rank);
  }
  if (all_rounds == 0) {
    about_rounds_.push_back(fmt::format("no main loop was found in {}", program.name));
  } else if (last == 0) {
    about_rounds_.push_back(fmt::format("the main loop of {} has {}", program.name, counted(all_rounds, "iteration")));
  } else {
    if (!missing.empty())
      about_rounds_.push_back(
          fmt::format("for {} of {} these iterations are unknown", counted(missing.size(), "rank"), program.name));
    if (together > 1)
      about_rounds_.push_back(
          fmt::format("{} has so many iterations that they are known only in groups of {}: it has the selected ones "
                      "among {} to {}",
                      program.name, together, first, last));
  }
}

// Resolves the numbers of rank_texts.hpp.
void WorldArchive::add_texts(std::uint32_t first, const TraceTables& tables) {
  attributes_ |= tables.attributes;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string_view> told;
  for (const TraceTables::RankText& each : tables.rank_texts)
    told.emplace(std::pair(each.rank, each.number), each.text);
  const auto datatype = [&](std::uint32_t rank, std::uint32_t number) {
    const auto found = told.find({rank, number});
    return std::string(found != told.end() ? found->second : std::string_view("(not known)"));
  };
  const auto add = [&](std::uint32_t rank, std::uint32_t number, std::string text) {
    ranks_.at(first + rank).texts.emplace(number, texts_.try_emplace(std::move(text), texts_.size() + 1).first->second);
  };
  for (const TraceTables::Use& use : tables.datatypes) add(use.rank, use.number, datatype(use.rank, use.number));
  for (const TraceTables::RankText& each : tables.rank_texts) {
    if (each.number < RankTexts::kLists) continue;
    if (each.number < RankTexts::kTypeLists) {
      add(each.rank, each.number, each.text);
      continue;
    }
    std::string text;
    std::istringstream numbers(each.text);
    for (std::string number; std::getline(numbers, number, ',');)
      text +=
          (text.empty() ? "" : " | ") +
          (number == "0" ? "-"
                         : datatype(each.rank, static_cast<std::uint32_t>(std::strtoul(number.c_str(), nullptr, 10))));
    add(each.rank, each.number, std::move(text));
  }
}

// After its communicators.
void WorldArchive::add_windows(std::uint32_t first, const TraceTables& tables) {
  for (const TraceTables::Use& use : tables.windows) {
    OfRank& rank = ranks_.at(first + use.rank);
    const auto comm = rank.communicators.find(use.number >> instrument::kWindowBits);
    if (comm == rank.communicators.end()) continue;  // no event uses it
    const std::pair window(comm->second, use.number & ((1u << instrument::kWindowBits) - 1));
    rank.windows.emplace(use.number, windows_.try_emplace(window, windows_.size()).first->second);
  }
  for (const TraceTables::Group& group : tables.groups) {
    OfRank& rank = ranks_.at(first + group.rank);
    const auto comm = rank.communicators.find(group.communicator);
    std::vector<std::uint64_t> members;
    for (const std::int32_t member : group.members) {
      if (comm == rank.communicators.end() || member < 0) break;
      const auto& ranks = communicators_[comm->second].members;
      if (static_cast<std::size_t>(member) < ranks.size()) members.push_back(ranks[static_cast<std::size_t>(member)]);
    }
    rank.groups.emplace(group.number,
                        groups_.try_emplace(std::move(members), kFirstGroup + groups_.size()).first->second);
  }
}

std::string WorldArchive::text_of_losses() const {
  std::vector<std::string> list;
  const auto say_if = [&](std::uint64_t number, std::string_view what) {
    if (number != 0) list.push_back(fmt::format("{} ({})", what, number));
  };
  say_if(losses_.sums, "calls aggregated for lack of memory");
  say_if(losses_.counted, "quick queries that were only counted");
  say_if(losses_.untimed, "calls at unknown times");
  say_if(losses_.untimed_samples, "samples at unknown times");
  say_if(losses_.gaps, "calls of packs that did not arrive, in gaps");
  say_if(losses_.limited, "records of earlier calls dropped because of limit=");
  say_if(losses_.attributes, "attributes dropped for lack of room");
  say_if(losses_.stacks, "call stacks of calls, which are unknown");
  say_if(refused_values_, "values of plug-ins whose key has two types");
  say_if(waits_without_call_, "waits whose call is missing");
  say_if(clocks_without_other_end_,
         "other ends of receives and collectives, so their Lamport clocks are not synchronised");
  say_if(unseen_ranks_, "ranks whose analyzer could not write in the folder of the report");
  return reports::joined(list, ", ");
}

std::string WorldArchive::complaint() const {
  std::string text;
  const std::string about_rounds = reports::joined(about_rounds_, "; ");
  if (events_ == 0 && unseen_ranks_ == 0) {
    text = about_rounds.empty() ? fmt::format("The trace of {} has no events: --trace {} selects nothing in this run.",
                                              name_, selection_)
                                : fmt::format("The trace of {} has no events: {}.", name_, about_rounds);
  } else if (!about_rounds.empty()) {
    text = fmt::format("About the trace of {}: {}.", name_, about_rounds);
  }
  if (const std::string losses = text_of_losses(); !losses.empty())
    text += fmt::format("{}The trace of {} lacks {}.", text.empty() ? "" : " ", name_, losses);
  for (const auto& [name, key] : plugin_keys_) {
    if (key.has_two_types)
      text +=
          fmt::format("{}The key {} of values in the trace is defined with two types: give one of them another name.",
                      text.empty() ? "" : " ", name);
  }
  if (losses_.moved != 0)
    text += fmt::format("{}In the trace of {} {} reported late and shown later than made.", text.empty() ? "" : " ",
                        name_, counted(losses_.moved, "call", "was", "were"));
  if (losses_.moved_samples != 0)
    text += fmt::format("{}In the trace of {} {} reported late and shown later than taken.", text.empty() ? "" : " ",
                        name_, counted(losses_.moved_samples, "sample", "was", "were"));
  return text;
}

}  // namespace ardoise::knowledge_sources

#include "knowledge_sources/plugins/waits/wait_sites.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <tuple>

#include "knowledge_sources/calls/functions.hpp"

namespace ardoise::knowledge_sources {
namespace {

// As in the model: ranks of the program, and those of others in the world.
std::uint32_t own_rank(const ProgramRanks& program, std::uint32_t awaited) {
  return program.has(awaited) ? awaited - program.first : reports::kNoRank;
}
std::uint32_t other_rank(const ProgramRanks& program, std::uint32_t awaited) {
  return awaited == kNobody || program.has(awaited) ? reports::kNoRank : awaited;
}

}  // namespace

void WaitSites::Sums::add(const Sums& more) {
  ns += more.ns;
  occurrences += more.occurrences;
  longest.add(more.longest);
}

// The first of equal ones, whatever the order of arrival.
void WaitSites::Longest::add(const Longest& more) {
  const auto order = [](const Longest& each) { return std::tuple(~each.ns, each.begin, each.waiter, each.awaited); };
  if (order(more) < order(*this)) *this = more;
}

std::uint32_t WaitSites::number_of(const Key& key) {
  if (last_ < sites_.size() && sites_[last_].key == key) return last_;
  const auto [place, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(sites_.size()));
  if (added) sites_.push_back({key, {}, {}});
  return last_ = place->second;
}

void WaitSites::add(const Wait& wait) {
  const std::uint32_t number = number_of(
      {static_cast<std::uint32_t>(programs_->program_of(wait.waiter)), wait.function, wait.call_site, wait.pattern});
  Site& site = sites_[number];
  site.sums.add({wait.ns, 1, {wait.ns, wait.begin, wait.waiter, wait.awaited}});
  site.waiters.insert(wait.waiter);
  if (wait.awaited != kNobody) add_awaited(number, wait.awaited, wait.ns);
}

void WaitSites::merge(const WaitSites& other) {
  std::vector<std::uint32_t> numbers;
  for (const Site& site : other.sites_) {
    numbers.push_back(number_of(site.key));
    sites_[numbers.back()].sums.add(site.sums);
    sites_[numbers.back()].waiters.insert(site.waiters);
  }
  other.awaited_.for_each([&](std::uint64_t key, std::uint64_t ns) {
    add_awaited(numbers[key >> 32], static_cast<std::uint32_t>(key), ns);
  });
}

void WaitSites::write(ByteWriter& out) const {
  out.put_count(sites_.size());
  for (const Site& site : sites_) {
    out.put(site.key);
    out.put(site.sums);
    out.put_array(site.waiters.words());
  }
  out.put_count(awaited_.size());
  awaited_.for_each([&](std::uint64_t key, std::uint64_t ns) {
    out.put(key);
    out.put(ns);
  });
}

void WaitSites::read(ByteReader& in) {
  for (auto left = in.get_count(sizeof(Key) + sizeof(Sums) + 8); left != 0; --left) {
    const Key key = in.get<Key>();
    in.check(static_cast<std::size_t>(key.pattern) < kWaitPatterns, "has an unknown wait pattern");
    in.check(key.program < programs_->size(), "refers to a program that does not exist");
    Site& site = sites_[number_of(key)];
    site.sums = in.get<Sums>();
    const Longest& longest = site.sums.longest;
    in.check((*programs_)[key.program].has(longest.waiter) &&
                 (longest.awaited < programs_->ranks() || longest.awaited == kNobody),
             "refers to a rank that does not exist");
    auto words = in.get_array<std::uint64_t>();
    in.check(words.size() <= (std::size_t{programs_->ranks()} + 63) / 64, "refers to a rank that does not exist");
    site.waiters = RankSet(std::move(words));
  }
  for (auto left = in.get_count(2 * sizeof(std::uint64_t)); left != 0; --left) {
    const auto key = in.get<std::uint64_t>();
    in.check(key >> 32 < sites_.size() && static_cast<std::uint32_t>(key) < programs_->ranks(),
             "refers to a rank that does not exist");
    add_awaited(static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), in.get<std::uint64_t>());
  }
}

std::vector<WaitSites::Awaited> WaitSites::most_awaited() const {
  std::vector<Awaited> most(sites_.size());
  awaited_.for_each([&](std::uint64_t key, std::uint64_t ns) {
    Awaited& site = most[key >> 32];
    const auto rank = static_cast<std::uint32_t>(key);
    if (std::tuple(~ns, rank) < std::tuple(~site.ns, site.rank)) site = {ns, rank};
  });
  return most;
}

reports::LongestWait WaitSites::longest_of(const ProgramRanks& program, const Longest& longest) {
  return {static_cast<double>(longest.ns) * 1e-9, std::max(longest.begin, 0.0) * 1e-9, longest.waiter - program.first,
          own_rank(program, longest.awaited), other_rank(program, longest.awaited)};
}

void WaitSites::contribute(std::size_t program, const Resolver& resolver, reports::Waiting& model) const {
  const ProgramRanks& own = (*programs_)[program];
  const auto most = most_awaited();
  std::array<Sums, kWaitPatterns> patterns{};
  for (const auto& [key, number] : numbers_) {
    if (key.program != program) continue;
    const Site& site = sites_[number];
    patterns[static_cast<std::size_t>(key.pattern)].add(site.sums);
    // called once, at any site
    if (key.pattern == WaitPattern::kInit || key.pattern == WaitPattern::kFinalize) continue;
    const Location& location = resolver.call_site(key.call_site);
    reports::WaitSite shown{function_info(instrument::PackClass::kMpi, key.function).name,
                            location.symbol,
                            location.source_file,
                            location.line,
                            location.module,
                            location.offset,
                            std::string(pattern_name(key.pattern)),
                            static_cast<double>(site.sums.ns) * 1e-9,
                            site.sums.occurrences,
                            longest_of(own, site.sums.longest)};
    shown.waiters = site.waiters.count();
    shown.first_waiter = site.waiters.first() - own.first;
    shown.last_waiter = site.waiters.last() - own.first;
    shown.awaited = own_rank(own, most[number].rank);
    shown.awaited_other = other_rank(own, most[number].rank);
    shown.awaited_seconds = static_cast<double>(most[number].ns) * 1e-9;
    model.call_sites.push_back(std::move(shown));
  }
  std::ranges::stable_sort(model.call_sites, std::ranges::greater{}, &reports::WaitSite::waiting_seconds);
  for (std::size_t i = 0; i < kWaitPatterns; ++i) {
    if (patterns[i].occurrences == 0) continue;
    model.patterns.push_back({std::string(pattern_name(static_cast<WaitPattern>(i))),
                              static_cast<double>(patterns[i].ns) * 1e-9, patterns[i].occurrences,
                              longest_of(own, patterns[i].longest)});
  }
  std::ranges::stable_sort(model.patterns, std::ranges::greater{}, &reports::WaitTotal::seconds);
}

}  // namespace ardoise::knowledge_sources

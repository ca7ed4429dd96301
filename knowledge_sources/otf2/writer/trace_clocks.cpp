#include "knowledge_sources/otf2/writer/trace_clocks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ardoise::knowledge_sources {
namespace {

constexpr std::size_t kBlock = 256;            // events of a location at a time
constexpr std::size_t kMostEvents = 1u << 20;  // of the current location, in memory
constexpr std::uint64_t kOfCollective = std::uint64_t{1} << 63, kOfSenders = UINT64_MAX;

// Opens files for one access at a time: there may be more than a process may have open.
class OpenFile {
 public:
  OpenFile(const std::filesystem::path& name, int flags) : name_(name), file_(::open(name.c_str(), flags, 0600)) {
    if (file_ < 0) fail();
  }
  ~OpenFile() { ::close(file_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  template <class T>
  void write(const std::vector<T>& some, std::uint64_t first) const {
    const auto* const bytes = reinterpret_cast<const char*>(some.data());
    for (std::size_t at = 0; at < some.size() * sizeof(T);) {
      const ssize_t size =
          ::pwrite(file_, bytes + at, some.size() * sizeof(T) - at, static_cast<off_t>(first * sizeof(T) + at));
      if (size <= 0) fail();
      at += static_cast<std::size_t>(size);
    }
  }
  // Reads up to the size of `some`.
  template <class T>
  void read(std::vector<T>& some, std::uint64_t first) const {
    auto* const bytes = reinterpret_cast<char*>(some.data());
    std::size_t at = 0;
    while (at < some.size() * sizeof(T)) {
      const ssize_t size =
          ::pread(file_, bytes + at, some.size() * sizeof(T) - at, static_cast<off_t>(first * sizeof(T) + at));
      if (size < 0) fail();
      if (size == 0) break;
      at += static_cast<std::size_t>(size);
    }
    some.resize(at / sizeof(T));
  }

 private:
  [[noreturn]] void fail() const { throw std::system_error(errno, std::generic_category(), name_.string()); }
  std::filesystem::path name_;
  int file_;
};

}  // namespace

void TraceClocks::Range::add(std::uint32_t number) {
  first = std::min(first, number);
  last = std::max(last, number);
}

TraceClocks::TraceClocks(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
}

TraceClocks::~TraceClocks() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::filesystem::path TraceClocks::events_of(std::uint64_t location) const {
  return folder_ / fmt::format("{}.events", location);
}
std::filesystem::path TraceClocks::clocks_of(std::uint64_t location) const {
  return folder_ / fmt::format("{}.clocks", location);
}

void TraceClocks::begin_location(std::uint64_t location) { locations_.push_back({location}); }

void TraceClocks::add(What what, std::uint64_t key) {
  Location& location = locations_.back();
  events_.push_back({what, key});
  ++location.events;
  if (events_.size() < kMostEvents) return;
  try {
    OpenFile(events_of(location.number), O_WRONLY | O_CREAT).write(events_, location.events - events_.size());
  } catch (const std::exception&) {
    failed_ = std::current_exception();  // the caller is called by a C library
  }
  events_.clear();
}

std::optional<std::uint64_t> TraceClocks::key_of(const std::optional<Channel>& channel, Number number, bool is_send) {
  if (!channel || !number || *number > UINT32_MAX) return std::nullopt;
  const auto [found, is_new] =
      channel_numbers_.try_emplace(*channel, static_cast<std::uint32_t>(channel_numbers_.size()));
  if (is_new) channels_.emplace_back();
  OfChannel& of_channel = channels_[found->second];
  (is_send ? of_channel.sent : of_channel.received).add(static_cast<std::uint32_t>(*number));
  return std::uint64_t{found->second} << 32 | *number;
}

std::optional<std::uint64_t> TraceClocks::key_of(std::optional<std::uint64_t> comm, Number number) {
  if (!comm || !number || *number > UINT32_MAX) return std::nullopt;
  numbers_[*comm].add(static_cast<std::uint32_t>(*number));
  const auto [found, is_new] = comms_.try_emplace(*comm);
  if (is_new) {
    found->second.index = static_cast<std::uint32_t>(comm_of_index_.size());
    comm_of_index_.push_back(&found->second);
  }
  return kOfCollective | std::uint64_t{found->second.index} << 32 | *number;
}

void TraceClocks::add_send(const std::optional<Channel>& channel, Number number) {
  const auto key = key_of(channel, number, true);
  add(key ? What::kSend : What::kAlone, key.value_or(0));
}

void TraceClocks::add_receive(const std::optional<Channel>& channel, Number number) {
  const auto key = key_of(channel, number, false);
  add(key ? What::kReceive : What::kUnmatched, key.value_or(0));
}

void TraceClocks::add_begin() { add(What::kAlone); }

void TraceClocks::add_collective(std::optional<std::uint64_t> comm, Number number) {
  const auto key = key_of(comm, number);
  add(key ? What::kCollective : What::kUnmatched, key.value_or(0));
}

// The communicator is known at its end.
void TraceClocks::add_request(std::uint32_t request, Number number) {
  requests_[request] = {locations_.back().events, number};
  add(What::kAlone);
}

void TraceClocks::add_complete(std::uint32_t request, std::optional<std::uint64_t> comm) {
  const auto started = requests_.extract(request);
  const auto key = started.empty() ? std::nullopt : key_of(comm, started.mapped().number);
  if (key) {
    const Location& location = locations_.back();
    const std::uint64_t place = started.mapped().place, written = location.events - events_.size();
    const std::vector<Event> event{{What::kRequest, *key}};
    if (place >= written) {
      events_[place - written] = event.front();
    } else {
      OpenFile(events_of(location.number), O_WRONLY).write(event, place);
    }
  }
  add(key ? What::kComplete : What::kUnmatched, key.value_or(0));
}

void TraceClocks::end_location() {
  if (failed_) std::rethrow_exception(failed_);
  Location& location = locations_.back();
  OpenFile(events_of(location.number), O_WRONLY | O_CREAT).write(events_, location.events - events_.size());
  events_.clear();
  requests_.clear();
  for (const auto& [comm, range] : numbers_) {
    comms_[comm].firsts.push_back(range.first);
    comms_[comm].lasts.push_back(range.last);
  }
  numbers_.clear();
}

TraceClocks::Collective& TraceClocks::collective_of(std::uint64_t key) {
  const auto [found, is_new] = open_collectives_.try_emplace(key);
  if (is_new) {
    // Number of locations with collectives before and after it.
    const OfComm& comm = *comm_of_index_[(key & ~kOfCollective) >> 32];
    const auto number = static_cast<std::uint32_t>(key);
    const auto begun = std::ranges::upper_bound(comm.firsts, number) - comm.firsts.begin();
    const auto ended = std::ranges::lower_bound(comm.lasts, number) - comm.lasts.begin();
    found->second.expected = static_cast<std::uint32_t>(begun - ended);
  }
  return found->second;
}

void TraceClocks::enter(std::uint64_t key, std::uint64_t clock) {
  Collective& collective = collective_of(key);
  collective.clock = std::max(collective.clock, clock);
  if (++collective.entered == collective.expected) wake(key);
}

void TraceClocks::leave(std::uint64_t key) {
  const auto found = open_collectives_.find(key);
  if (++found->second.left >= found->second.expected) open_collectives_.erase(found);
}

void TraceClocks::wait(std::uint64_t key, std::uint32_t index) { waiting_[key].push_back(index); }

void TraceClocks::wake(std::uint64_t key) {
  if (waiting_.empty()) return;
  const auto waiting = waiting_.extract(key);
  if (!waiting.empty()) ready_.insert(ready_.end(), waiting.mapped().begin(), waiting.mapped().end());
}

// False: it waits for another location.
bool TraceClocks::step(std::uint32_t index, const Event& event, bool is_forced) {
  Location& location = locations_[index];
  const auto number = static_cast<std::uint32_t>(event.key);
  switch (event.what) {
    case What::kUnmatched:
      ++unmatched_;
      [[fallthrough]];
    case What::kAlone:
      ++location.clock;
      return true;
    case What::kSend:
      if (channels_[event.key >> 32].received.has(number)) {
        if (sent_.size() >= kMostOnTheWay && !is_forced) {
          wait(kOfSenders, index);
          return false;
        }
        sent_[event.key] = location.clock + 1;
        wake(event.key);
      }
      ++location.clock;
      return true;
    case What::kReceive: {
      const auto found = sent_.find(event.key);
      if (found != sent_.end()) {
        location.clock = std::max(location.clock, found->second);
        if (sent_.size() >= kMostOnTheWay) wake(kOfSenders);
        sent_.erase(found);
      } else if (channels_[event.key >> 32].sent.has(number) && !is_forced) {
        wait(event.key, index);
        return false;
      } else {
        ++unmatched_;
      }
      ++location.clock;
      return true;
    }
    case What::kRequest:
      enter(event.key, ++location.clock);
      return true;
    case What::kCollective:
      if (!std::exchange(location.has_entered, true)) enter(event.key, location.clock);
      [[fallthrough]];
    case What::kComplete: {
      Collective& collective = collective_of(event.key);
      if (collective.entered < collective.expected && !collective.is_given_up) {
        if (!is_forced) {
          wait(event.key, index);
          return false;
        }
        collective.is_given_up = true;
        wake(event.key);
      }
      if (collective.is_given_up) ++unmatched_;
      location.clock = std::max(location.clock, collective.clock) + 1;
      location.has_entered = false;
      leave(event.key);
      return true;
    }
  }
  return true;
}

// False: it waits. Otherwise it has ended, or finished the block: no location runs far ahead.
bool TraceClocks::run(std::uint32_t index, bool is_forced) {
  Location& location = locations_[index];
  if (location.next == location.begin + location.block.size()) read_block(location);
  for (; location.next < location.begin + location.block.size(); ++location.next) {
    if (!step(index, location.block[location.next - location.begin], std::exchange(is_forced, false))) return false;
    location.clocks.push_back(location.clock);
  }
  write_clocks(location);
  return true;
}

void TraceClocks::read_block(Location& location) {
  location.begin = location.next;
  location.block.resize(std::min<std::uint64_t>(kBlock, location.events - location.next));
  OpenFile(events_of(location.number), O_RDONLY).read(location.block, location.begin);
}

void TraceClocks::write_clocks(Location& location) {
  OpenFile(clocks_of(location.number), O_WRONLY | O_CREAT)
      .write(location.clocks, location.next - location.clocks.size());
  location.clocks.clear();
}

void TraceClocks::resolve() {
  for (auto& [number, comm] : comms_) {
    std::ranges::sort(comm.firsts);
    std::ranges::sort(comm.lasts);
  }
  for (std::uint32_t i = 0; i < locations_.size(); ++i) ready_.push_back(i);
  bool is_forced = false;
  while (!ready_.empty() || !waiting_.empty()) {
    if (ready_.empty()) {
      // All wait for each other, or for missing events: one of them continues without.
      auto& [key, waiting] = *waiting_.begin();
      ready_.push_back(waiting.back());
      waiting.pop_back();
      if (waiting.empty()) waiting_.erase(waiting_.begin());
      is_forced = true;
    }
    const std::uint32_t index = ready_.front();
    ready_.pop_front();
    if (run(index, std::exchange(is_forced, false)) && locations_[index].next < locations_[index].events)
      ready_.push_back(index);
  }
}

std::uint64_t ClocksOfLocation::next() {
  if (at_ == block_.size()) {
    block_.resize(4096);
    OpenFile(file_, O_RDONLY).read(block_, read_);
    read_ += block_.size();
    at_ = 0;
    if (block_.empty()) return 0;
  }
  return block_[at_++];
}

}  // namespace ardoise::knowledge_sources

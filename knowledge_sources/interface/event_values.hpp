// Values that a knowledge source or plug-in attaches to calls in the trace (--trace …,attributes=plugins), as
// attributes with keys of its own; a value without a call becomes a separate event (docs/guide/traces.md).
//
//   values_.attach(sources, context_);                              // in attach()
//   residual_ = values_.define<double>("myplugin::residual", "residual of the solver");         // in attach()
//   EventValueBatch batch(values_);                                 // in an operation: one for each pack, say
//   batch.add(residual_, {rank, thread, record.begin, EventPlace::kLeave}, 0.5);
//
// A batch is an entry on the program's level, of all defined keys followed by values:
//
//   count × { type, name, description }    until the end { key, place, rank, thread, tick, value [ text ] }
//
// It can be submitted on any analyzer, before or after the packs of the call. Without a trace with these attributes, a
// value costs one test.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/interface/analysis.hpp"
#include "knowledge_sources/interface/level_sources.hpp"

namespace ardoise::knowledge_sources {

enum class EventValueType : std::uint32_t { kUnsigned, kSigned, kReal, kText };
inline constexpr std::uint32_t kEventValueTypes = 4;

// The event that gets a value: an event of the call that begins at the moment's tick, or an event of its own.
enum class EventPlace : std::uint32_t { kEnter, kLeave, kOwn };
inline constexpr std::uint32_t kEventPlaces = 3;

struct EventMoment {
  std::uint32_t rank, thread;  // as in the header of a pack
  std::uint64_t tick;          // of the process's clock, as `begin` of a record
  EventPlace place;
};

template <class T>
concept EventValueOf = std::same_as<T, std::uint64_t> || std::same_as<T, std::int64_t> || std::same_as<T, double> ||
    std::same_as<T, std::string_view>;

// Number of a key within its EventValues.
template <EventValueOf T>
struct EventKey {
  std::uint32_t number = 0;
};

struct EventKeyDefinition {
  EventValueType type{};
  std::string name, description;
  friend auto operator<=>(const EventKeyDefinition&, const EventKeyDefinition&) = default;
};

// attach() and define() by one thread, before all else; then any thread.
class EventValues {
 public:
  static constexpr std::size_t kMostKeys = 256, kMostName = 128, kMostDescription = 1024;

  [[nodiscard]] static blackboard::EntryType type(const std::string& level) {
    return blackboard::entry_type(level, "event_values");
  }
  void attach(const LevelSources& sources, const AnalysisContext& context) {
    board_ = &sources.board();
    type_ = type(context.level);
    are_wanted_ = context.traces.wants_values;
  }
  [[nodiscard]] bool are_wanted() const { return are_wanted_; }

  // name: "namespace::name". Throws std::invalid_argument with a sentence for an invalid or already defined name. If
  // two plug-ins define a name with two types, the trace omits its values and reports it.
  template <EventValueOf T>
  [[nodiscard]] EventKey<T> define(std::string name, std::string description) {
    const std::size_t colons = name.find("::");
    const auto is_plain = [](char each) { return static_cast<unsigned char>(each) > ' '; };
    if (colons == std::string::npos || colons == 0 || colons + 2 == name.size() || name.starts_with("ardoise::") ||
        name.size() > kMostName || !std::ranges::all_of(name, is_plain))
      throw std::invalid_argument("\"" + name +
                                  "\" cannot be a key of values in the trace: give it a namespace other than ardoise "
                                  "and a name without spaces, as myplugin::residual, of 128 bytes at most.");
    if (std::ranges::find(keys_, name, &EventKeyDefinition::name) != keys_.end())
      throw std::invalid_argument("The key " + name + " of trace values is defined twice: define it once.");
    if (keys_.size() == kMostKeys)
      throw std::invalid_argument("There is no room for the key " + name + " of values in the trace: 256 are defined.");
    keys_.push_back({type_of<T>(), std::move(name), description.substr(0, kMostDescription)});
    return {static_cast<std::uint32_t>(keys_.size() - 1)};
  }

 private:
  friend class EventValueBatch;
  template <EventValueOf T>
  [[nodiscard]] static constexpr EventValueType type_of() {
    if constexpr (std::same_as<T, std::uint64_t>) return EventValueType::kUnsigned;
    if constexpr (std::same_as<T, std::int64_t>) return EventValueType::kSigned;
    if constexpr (std::same_as<T, double>) return EventValueType::kReal;
    return EventValueType::kText;
  }

  blackboard::Blackboard* board_ = nullptr;
  blackboard::EntryType type_{};
  bool are_wanted_ = false;
  std::vector<EventKeyDefinition> keys_;
};

// Submits its values on destruction, and whenever there are many. Used by one thread; `values` outlives it.
class EventValueBatch {
 public:
  static constexpr std::size_t kMostValues = 512, kMostText = 256;

  explicit EventValueBatch(const EventValues& values) : values_(values) {}
  ~EventValueBatch() { submit(); }
  EventValueBatch(const EventValueBatch&) = delete;
  EventValueBatch& operator=(const EventValueBatch&) = delete;

  // A text of more than kMostText bytes is cut and ends in "…".
  template <EventValueOf T>
  void add(EventKey<T> key, const EventMoment& at, std::type_identity_t<T> value) {
    if (!values_.are_wanted()) return;
    if (count_ == 0) begin();
    out_.put(key.number);
    out_.put(at.place);
    out_.put(at.rank);
    out_.put(at.thread);
    out_.put(at.tick);
    if constexpr (std::same_as<T, std::string_view>) {
      std::size_t end = std::min(value.size(), kMostText);
      while (end != 0 && end < value.size() && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
      out_.put_text(end == value.size() ? value : std::string(value.substr(0, end)) + "…");
    } else {
      out_.put(std::bit_cast<std::uint64_t>(value));
    }
    if (++count_ == kMostValues) submit();
  }

 private:
  void begin() {
    out_.put_count(values_.keys_.size());
    for (const EventKeyDefinition& key : values_.keys_) {
      out_.put(key.type);
      out_.put_text(key.name);
      out_.put_text(key.description);
    }
  }
  void submit() {
    if (std::exchange(count_, 0) == 0) return;
    const std::vector<std::byte> bytes = std::exchange(out_, {}).take();
    auto entry = blackboard::make_entry(values_.type_, bytes.size());
    std::memcpy(entry.writable().data(), bytes.data(), bytes.size());
    values_.board_->submit(std::move(entry));
  }

  const EventValues& values_;
  ByteWriter out_;
  std::size_t count_ = 0;
};

// keys: gets the definitions. use(number of a key, moment, bits, text): called for each value; bits are 0 for a text.
// Throws BadPartial.
template <class Use>
void read_event_values(std::span<const std::byte> bytes_untrusted, std::vector<EventKeyDefinition>& keys, Use&& use) {
  ByteReader in(bytes_untrusted, "values for the trace");
  for (auto left = in.get_count(12); left != 0; --left) {
    EventKeyDefinition& key = keys.emplace_back();
    key.type = in.get<EventValueType>();
    key.name = in.get_text();
    key.description = in.get_text();
    in.check(static_cast<std::uint32_t>(key.type) < kEventValueTypes, "has a key of an unknown type");
  }
  while (in.left() != 0) {
    const auto key = in.get<std::uint32_t>();
    EventMoment at{};
    at.place = in.get<EventPlace>();
    at.rank = in.get<std::uint32_t>();
    at.thread = in.get<std::uint32_t>();
    at.tick = in.get<std::uint64_t>();
    in.check(key < keys.size(), "has a value of a key that it does not define");
    in.check(static_cast<std::uint32_t>(at.place) < kEventPlaces, "has a value for an unknown place");
    const bool is_text = keys[key].type == EventValueType::kText;
    const std::uint64_t bits = is_text ? 0 : in.get<std::uint64_t>();
    use(key, at, bits, is_text ? in.get_text() : std::string_view());
  }
}

}  // namespace ardoise::knowledge_sources

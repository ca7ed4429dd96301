// The arguments of a call, for the attributes of its Enter: ArgumentsExtensions precede the call's record
// (argument_bytes.hpp), perhaps in an earlier pack. If some are missing, because their records were aggregated, the
// call has none.
#pragma once

#include <otf2/OTF2_AttributeList.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/otf2/writer/trace_tables.hpp"

namespace ardoise::knowledge_sources {

class TraceRankState;

// Attributes of the calls of one location. Not thread safe.
class CallAttributes {
 public:
  CallAttributes() = default;
  ~CallAttributes();
  CallAttributes(const CallAttributes&) = delete;
  CallAttributes& operator=(const CallAttributes&) = delete;

  void add(const instrument::ArgumentsExtension& some);
  // The location has written the start of an operation with this number.
  void has_started(std::uint32_t number) { last_started_ = std::max(last_started_, number); }
  // Attributes of the call; nullptr: none. To be written before the next call of this function. used: gets the bits of
  // their keys. with_objects: includes objects that the call's events lack: communicator, peer, window, file. context:
  // calling context; 0: omitted.
  [[nodiscard]] OTF2_AttributeList* of(const instrument::MpiRecord& call, bool with_objects, std::uint32_t context,
                                       TraceRankState& rank, std::uint64_t& used, TraceLosses& losses);
  // One attribute, of another event.
  [[nodiscard]] OTF2_AttributeList* alone(std::uint32_t key, std::uint64_t number, std::uint64_t& used);
  // Calling context of a call without arguments.
  [[nodiscard]] OTF2_AttributeList* alone_stack(std::uint32_t context, std::uint64_t& used);

 private:
  void put(std::uint32_t key, OTF2_Type type, OTF2_AttributeValue value, std::uint64_t& used);
  void put_numbers(std::uint32_t kind, TraceRankState& rank, std::uint64_t& used, TraceLosses& losses);
  void put_requests(const instrument::MpiRecord& call, TraceRankState& rank, std::uint64_t& used, TraceLosses& losses);
  void put_persistent(const instrument::MpiRecord& call, TraceRankState& rank, std::uint64_t& used,
                      TraceLosses& losses);
  void put_objects(const instrument::MpiRecord& call, TraceRankState& rank, std::uint64_t& used);
  void put_stack(std::uint32_t context, std::uint64_t& used);
  void put_text(std::uint32_t key, const std::string& text, bool is_type_list, TraceRankState& rank,
                std::uint64_t& used, TraceLosses& losses);

  std::vector<std::uint8_t> bytes_;
  std::uint32_t last_started_ = 0;  // the highest number
  std::uint32_t call_ = 0, function_ = 0, next_ = 0;
  std::array<std::vector<std::int64_t>, 40> values_;  // by kind
  OTF2_AttributeList* list_ = nullptr;
};

}  // namespace ardoise::knowledge_sources

#include "knowledge_sources/plugins/traces/call_attributes.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <optional>

#include "instrument/format/argument_bytes.hpp"
#include "knowledge_sources/otf2/contents/trace_attribute.hpp"
#include "knowledge_sources/otf2/writer/function_kinds.hpp"
#include "knowledge_sources/plugins/traces/trace_location.hpp"
#include "reports/text/joined.hpp"

namespace ardoise::knowledge_sources {

using vmpi::ArgumentKind;

CallAttributes::~CallAttributes() {
  if (list_ != nullptr) OTF2_AttributeList_Delete(list_);
}

void CallAttributes::add(const instrument::ArgumentsExtension& some) {
  const std::uint32_t function = instrument::function_of(some.word);
  const bool goes_on = some.number != 0 && some.number == next_ && some.call == call_ && function == function_;
  if (!goes_on) {
    bytes_.clear();
    next_ = 0;
    if (some.number != 0) return;
  }
  call_ = some.call;
  function_ = function;
  bytes_.insert(bytes_.end(), some.bytes, some.bytes + instrument::ArgumentsExtension::kBytes);
  ++next_;
}

void CallAttributes::put(std::uint32_t key, OTF2_Type type, OTF2_AttributeValue value, std::uint64_t& used) {
  if (list_ == nullptr) list_ = OTF2_AttributeList_New();
  if (list_ != nullptr && OTF2_AttributeList_AddAttribute(list_, key, type, value) == OTF2_SUCCESS)
    used |= std::uint64_t{1} << key;
}

void CallAttributes::put_text(std::uint32_t key, const std::string& text, bool is_type_list, TraceRankState& rank,
                              std::uint64_t& used, TraceLosses& losses) {
  if (text.empty()) return;
  const std::optional<std::uint32_t> number = rank.texts.number(text, is_type_list);
  if (!number) {
    ++losses.attributes;
    return;
  }
  OTF2_AttributeValue value{};
  value.stringRef = *number;
  put(key, OTF2_TYPE_STRING, value, used);
}

// A request is given as the number of its operation; several requests as their ages, which are equal in each round of a
// loop.
void CallAttributes::put_requests(const instrument::MpiRecord& call, TraceRankState& rank, std::uint64_t& used,
                                  TraceLosses& losses) {
  const auto& ages = values_[static_cast<std::size_t>(ArgumentKind::kRequests)];
  if (ages.size() == 1 && ages[0] > 0) {
    if (const auto number = rank.number_of(call.begin - static_cast<std::uint64_t>(ages[0]))) {
      OTF2_AttributeValue value{};
      value.uint64 = *number;
      put(kRequestAttribute, OTF2_TYPE_UINT64, value, used);
      return;
    }
  }
  std::string text;
  for (const std::int64_t age : ages) {
    if (!text.empty()) text += ',';
    const auto number = age > 0 ? rank.number_of(call.begin - static_cast<std::uint64_t>(age)) : std::nullopt;
    if (number && *number <= last_started_) {
      text += fmt::format("{}", last_started_ - *number);
    } else {
      text += number || age < 0 ? "*" : "-";
    }
  }
  put_text(static_cast<std::uint32_t>(ArgumentKind::kRequests), text, false, rank, used, losses);
}

void CallAttributes::put_numbers(std::uint32_t kind, TraceRankState& rank, std::uint64_t& used, TraceLosses& losses) {
  const std::vector<std::int64_t>& values = values_[kind];
  const TraceAttribute* const attribute = trace_attribute(kind);
  if (attribute == nullptr) return;
  OTF2_AttributeValue value{};
  if (static_cast<ArgumentKind>(kind) == ArgumentKind::kOperation) {
    const auto number = static_cast<std::size_t>(values[0]);
    put_text(kind, std::string(vmpi::kOperationNames[number < vmpi::kOperationNames.size() ? number : 0]), false, rank,
             used, losses);
  } else if (attribute->type == OTF2_TYPE_COMM) {
    value.commRef = static_cast<std::uint32_t>(values[0]);
    if (value.commRef == instrument::kNoComm) return;
    rank.use_communicator(value.commRef);
    put(kind, attribute->type, value, used);
  } else if (attribute->type == OTF2_TYPE_UINT8) {
    value.uint8 = values[0] != 0 ? 1 : 0;
    put(kind, attribute->type, value, used);
  } else if (attribute->type == OTF2_TYPE_INT64) {
    value.int64 = values[0];
    put(kind, attribute->type, value, used);
  } else if (vmpi::is_datatype(static_cast<ArgumentKind>(kind)) && values.size() == 1) {
    if (values[0] <= 0 || values[0] >= RankTexts::kLists) return;
    value.stringRef = static_cast<std::uint32_t>(values[0]);
    rank.use_datatype(value.stringRef);
    put(kind, attribute->type, value, used);
  } else {
    const bool is_type_list = vmpi::is_datatype(static_cast<ArgumentKind>(kind));
    if (is_type_list) {
      for (const std::int64_t each : values) rank.use_datatype(static_cast<std::uint32_t>(each));
    }
    put_text(kind, reports::joined(values, ","), is_type_list, rank, used, losses);
  }
}

void CallAttributes::put_persistent(const instrument::MpiRecord& call, TraceRankState& rank, std::uint64_t& used,
                                    TraceLosses& losses) {
  std::string text;
  bool is_known = false;
  for (const std::int64_t age : values_[static_cast<std::size_t>(ArgumentKind::kPersistent)]) {
    if (!text.empty()) text += ',';
    const auto number = age > 0 ? rank.prepared_at(call.begin - static_cast<std::uint64_t>(age)) : std::nullopt;
    text += number ? fmt::format("{}", *number) : "-";
    is_known = is_known || number;
  }
  if (is_known) put_text(static_cast<std::uint32_t>(ArgumentKind::kPersistent), text, false, rank, used, losses);
}

void CallAttributes::put_objects(const instrument::MpiRecord& call, TraceRankState& rank, std::uint64_t& used) {
  const MissingObjects missing = missing_objects(call);
  OTF2_AttributeValue value{};
  if (missing.communicator && call.comm() != instrument::kNoComm) {
    value.commRef = call.comm();
    rank.use_communicator(value.commRef);
    put(kCommAttribute, OTF2_TYPE_COMM, value, used);
  }
  if (missing.peer && call.peer != instrument::kNoPeer) {
    value.int64 = call.peer;
    put(kPeerAttribute, OTF2_TYPE_INT64, value, used);
    value.int64 = call.tag;
    if (missing.tag) put(kPeerTagAttribute, OTF2_TYPE_INT64, value, used);
  }
  if (missing.window && call.comm() != instrument::kNoComm) {
    value.rmaWinRef = trace_window(call.comm(), instrument::window_of(call.tag));
    rank.use_communicator(call.comm());
    rank.windows.use(value.rmaWinRef);
    put(kWindowAttribute, OTF2_TYPE_RMA_WIN, value, used);
  }
  if (missing.file && call.peer > 0) {
    value.ioHandleRef = trace_handle(static_cast<std::uint32_t>(call.peer), true);
    rank.use_handle(value.ioHandleRef);
    put(kFileAttribute, OTF2_TYPE_IO_HANDLE, value, used);
  }
  if (missing.prepares) {
    value.uint64 = rank.prepare(call.begin);
    put(kPreparedAttribute, OTF2_TYPE_UINT64, value, used);
  }
}

void CallAttributes::put_stack(std::uint32_t context, std::uint64_t& used) {
  OTF2_AttributeValue value{};
  value.callingContextRef = context;
  put(kCallStackAttribute, OTF2_TYPE_CALLING_CONTEXT, value, used);
}

OTF2_AttributeList* CallAttributes::of(const instrument::MpiRecord& call, bool with_objects, std::uint32_t context,
                                       TraceRankState& rank, std::uint64_t& used, TraceLosses& losses) {
  if (list_ != nullptr) OTF2_AttributeList_RemoveAllAttributes(list_);
  if (context != 0) put_stack(context, used);
  if (with_objects) put_objects(call, rank, used);
  if (bytes_.empty()) return list_;
  if (call_ == static_cast<std::uint32_t>(call.begin) && function_ == call.function()) {
    for (auto& each : values_) each.clear();
    instrument::ReadArgument argument{};
    for (instrument::ArgumentReader reader(bytes_); reader.next(argument);) {
      if (argument.kind >= values_.size()) continue;
      auto& values = values_[argument.kind];
      values.insert(values.end(), argument.values.begin(), argument.values.end());
    }
    for (std::uint32_t kind = 1; kind < values_.size(); ++kind) {
      if (values_[kind].empty()) continue;
      if (static_cast<ArgumentKind>(kind) == ArgumentKind::kRequests) {
        put_requests(call, rank, used, losses);
      } else if (static_cast<ArgumentKind>(kind) == ArgumentKind::kPersistent) {
        put_persistent(call, rank, used, losses);
      } else {
        put_numbers(kind, rank, used, losses);
      }
    }
  }
  bytes_.clear();
  return list_;
}

OTF2_AttributeList* CallAttributes::alone(std::uint32_t key, std::uint64_t number, std::uint64_t& used) {
  if (list_ != nullptr) OTF2_AttributeList_RemoveAllAttributes(list_);
  OTF2_AttributeValue value{};
  value.uint64 = number;
  put(key, OTF2_TYPE_UINT64, value, used);
  return list_;
}

OTF2_AttributeList* CallAttributes::alone_stack(std::uint32_t context, std::uint64_t& used) {
  if (list_ != nullptr) OTF2_AttributeList_RemoveAllAttributes(list_);
  put_stack(context, used);
  return list_;
}

}  // namespace ardoise::knowledge_sources

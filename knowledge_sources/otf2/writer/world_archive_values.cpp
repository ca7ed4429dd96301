// Values of knowledge sources and plug-ins, and their keys.
#include <otf2/otf2.h>

#include <algorithm>
#include <iterator>

#include "knowledge_sources/otf2/contents/trace_attribute.hpp"
#include "knowledge_sources/otf2/contents/trace_selection.hpp"
#include "knowledge_sources/otf2/writer/string_writer.hpp"
#include "knowledge_sources/otf2/writer/world_archive.hpp"

namespace ardoise::knowledge_sources {
namespace {

OTF2_Type otf2_type(EventValueType type) {
  switch (type) {
    case EventValueType::kUnsigned:
      return OTF2_TYPE_UINT64;
    case EventValueType::kSigned:
      return OTF2_TYPE_INT64;
    case EventValueType::kReal:
      return OTF2_TYPE_DOUBLE;
    case EventValueType::kText:
      break;
  }
  return OTF2_TYPE_STRING;
}

}  // namespace

// If descriptions differ, the alphabetically first one counts, so that the order of parts does not matter.
void WorldArchive::add_keys(const std::vector<EventKeyDefinition>& keys) {
  for (const EventKeyDefinition& key : keys) {
    const auto [found, is_new] = plugin_keys_.try_emplace(key.name, PluginKey{key.type, key.description});
    found->second.description = std::min(found->second.description, key.description);
    if (found->second.type != key.type) found->second.has_two_types = true;
  }
}

// In events of the rank.
std::uint32_t WorldArchive::text_of_value(OfRank& rank, const std::string& text) {
  const std::uint64_t number = texts_.try_emplace(text, texts_.size() + 1).first->second;
  const auto reference = CopiedCalls::kTexts + static_cast<std::uint32_t>(number);
  rank.texts.emplace(reference, number);
  return reference;
}

void WorldArchive::add_values(std::vector<CopiedCalls::Value>& list, std::uint32_t rank, const NotesOfPart& part,
                              std::span<const NotedValue> values) {
  OfRank& of_rank = ranks_[rank];
  const TraceSelection selection(selection_);
  struct Key {
    bool has_two_types;
    OTF2_AttributeRef number;
    OTF2_Type type;
    OTF2_StringRef name;
  };
  std::vector<Key> keys;
  for (const EventKeyDefinition& definition : part.keys()) {
    const auto found = plugin_keys_.find(definition.name);
    const auto place = static_cast<std::uint32_t>(std::distance(plugin_keys_.begin(), found));
    keys.push_back({found->second.has_two_types, kMostAttributes + place, otf2_type(definition.type),
                    values.empty() ? 0 : text_of_value(of_rank, definition.name)});
  }
  list.reserve(list.size() + values.size());
  for (const NotedValue& value : values) {
    const Key& key = keys.at(value.key);
    if (key.has_two_types) {
      ++refused_values_;
      continue;
    }
    if (!selection.has_thread(value.thread) || !selection.has_time(of_rank.clock.since_init(value.tick))) continue;
    const auto thread = threads_.find(trace_location(rank, value.thread));
    if (thread == threads_.end() || of_rank.clock.ns_per_tick <= 0) {
      ++losses_.attributes;
      continue;
    }
    const std::uint64_t time = of_rank.clock.at(value.tick);
    // Values at times that a ring has dropped are gone.
    if (selection.is_ring() && time < thread->second.told.first_time) continue;
    CopiedCalls::Value& to = list.emplace_back();
    to.thread = value.thread;
    to.place = value.place;
    to.time = time;
    to.key = key.number;
    to.type = key.type;
    to.value.uint64 = value.bits;
    if (key.type == OTF2_TYPE_STRING) to.value.stringRef = text_of_value(of_rank, part.texts().at(value.bits));
    to.name = key.name;
    has_own_events_ = true;
  }
}

void WorldArchive::write_plugin_keys(OTF2_GlobalDefWriter* out, StringWriter& strings) const {
  const auto numbers = attribute_numbers();
  std::uint64_t number = kMostAttributes;
  for (const auto& [name, key] : plugin_keys_)
    OTF2_GlobalDefWriter_WriteAttribute(out, static_cast<OTF2_AttributeRef>(numbers.at(number++)), strings.of(name),
                                        strings.of(key.description), otf2_type(key.type));
}

}  // namespace ardoise::knowledge_sources

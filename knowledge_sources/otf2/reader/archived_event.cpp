#include "knowledge_sources/otf2/reader/archived_event.hpp"

#include <otf2/OTF2_GeneralDefinitions.h>

#include <bit>

namespace ardoise::knowledge_sources {

std::string_view name_of(ArchivedKind kind) {
  static constexpr std::array<std::string_view, kArchivedKinds> kNames = {
#define ARDOISE_KIND(name) #name,
      ARDOISE_ARCHIVED_KINDS(ARDOISE_KIND)
#undef ARDOISE_KIND
  };
  return kNames[static_cast<std::size_t>(kind)];
}

ArchivedValue archived_value(std::uint8_t type, OTF2_AttributeValue value) {
  const auto with_sign = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  switch (type) {
    case OTF2_TYPE_UINT8:
      return {type, value.uint8};
    case OTF2_TYPE_UINT16:
      return {type, value.uint16};
    case OTF2_TYPE_INT8:
      return {type, with_sign(value.int8)};
    case OTF2_TYPE_INT16:
      return {type, with_sign(value.int16)};
    case OTF2_TYPE_INT32:
      return {type, with_sign(value.int32)};
    case OTF2_TYPE_FLOAT:
      return {type, std::bit_cast<std::uint64_t>(static_cast<double>(value.float32))};
    case OTF2_TYPE_UINT64:
    case OTF2_TYPE_INT64:
    case OTF2_TYPE_DOUBLE:
    case OTF2_TYPE_LOCATION:
      return {type, value.uint64};
    default:  // references, and types of newer versions
      return {type, value.uint32};
  }
}

}  // namespace ardoise::knowledge_sources

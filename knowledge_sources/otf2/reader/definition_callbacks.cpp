#include "knowledge_sources/otf2/reader/definition_callbacks.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <unordered_map>

#include "knowledge_sources/otf2/contents/called_from.hpp"
#include "knowledge_sources/otf2/reader/archived_event.hpp"
#include "knowledge_sources/otf2/reader/otf2_errors.hpp"

namespace ardoise::knowledge_sources {
namespace {

// Argument of the callbacks. Exceptions must not pass through OTF2, which is C: callbacks are noexcept, and end the
// process when memory is exhausted.
struct Taking {
  ArchiveDefinitions& all;
  std::unordered_map<std::uint32_t, ArchivedTopology::Dimension> dimensions;
  std::uint64_t name_bytes = 0;

  std::string string(std::uint32_t reference, const char* what, std::uint64_t id) {
    if (reference == OTF2_UNDEFINED_STRING) return "";
    const auto found = all.strings.find(reference);
    if (found != all.strings.end()) {
      // One long string may be used as many names.
      if (found->second.size() <= ArchiveDefinitions::kMostNameBytes - name_bytes) {
        name_bytes += found->second.size();
        return found->second;
      }
      all.faults.add(fmt::format("names dropped because all definitions together may have {} bytes of them",
                                 ArchiveDefinitions::kMostNameBytes),
                     fmt::format("{} {}", what, id));
      return "";
    }
    all.faults.add(fmt::format("{} with an undefined string", what), fmt::format("{} has {}", id, reference));
    return "";
  }
  template <class T>
  OTF2_CallbackCode add(ById<T>& list, T item, const char* what) {
    const std::uint64_t id = item.id;
    if (list.add(std::move(item)) == nullptr)
      all.faults.add(fmt::format("{} that are defined twice", what), fmt::format("{}", id));
    return OTF2_CALLBACK_SUCCESS;
  }
  // Adds a property to a definition.
  template <class T>
  OTF2_CallbackCode add_property(ById<T>& list, std::uint64_t id, std::uint32_t name, std::uint8_t type,
                                 OTF2_AttributeValue value, const char* what) {
    T* const found = list.find(id);
    if (found == nullptr) {
      all.faults.add(fmt::format("properties of {} that are not defined", what), fmt::format("{}", id));
    } else {
      found->properties.push_back({string(name, "properties", id), archived_value(type, value)});
    }
    return OTF2_CALLBACK_SUCCESS;
  }
};

Taking& taking(void* user) { return *static_cast<Taking*>(user); }

OTF2_CallbackCode take_string(void* user, OTF2_StringRef id, const char* text) noexcept {
  Taking& to = taking(user);
  if (!to.all.strings.try_emplace(id, text == nullptr ? "" : text).second)
    to.all.faults.add("strings that are defined twice", fmt::format("{}", id));
  return OTF2_CALLBACK_SUCCESS;
}

void set_places(OTF2_GlobalDefReaderCallbacks* calls) {
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_StringRef kind, std::uint32_t parent) noexcept {
        Taking& to = taking(user);
        const char* const what = "system tree nodes";
        return to.add(to.all.system_tree, {id, parent, to.string(name, what, id), to.string(kind, what, id), {}}, what);
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_LocationGroupType type, std::uint32_t node,
                std::uint32_t creator) noexcept {
        Taking& to = taking(user);
        const char* const what = "location groups";
        return to.add(to.all.location_groups, {id, node, creator, to.string(name, what, id), type, {}}, what);
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
      calls, [](void* user, std::uint64_t id, OTF2_StringRef name, OTF2_LocationType type, std::uint64_t events,
                std::uint32_t group) noexcept {
        Taking& to = taking(user);
        const char* const what = "locations";
        if (id == kUndefined64) {
          to.all.faults.add("locations with an undefined number");
          return OTF2_CallbackCode{OTF2_CALLBACK_SUCCESS};
        }
        return to.add(to.all.locations, {id, events, group, to.string(name, what, id), type, {}}, what);
      });
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value) noexcept {
        return taking(user).add_property(taking(user).all.system_tree, id, name, type, value, "system tree nodes");
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value) noexcept {
        return taking(user).add_property(taking(user).all.location_groups, id, name, type, value, "location groups");
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(
      calls, [](void* user, std::uint64_t id, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value) noexcept {
        return taking(user).add_property(taking(user).all.locations, id, name, type, value, "locations");
      });
}

void set_code(OTF2_GlobalDefReaderCallbacks* calls) {
  OTF2_GlobalDefReaderCallbacks_SetParadigmCallback(
      calls, [](void* user, OTF2_Paradigm id, OTF2_StringRef name, OTF2_ParadigmClass kind) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.paradigms, {id, to.string(name, "paradigms", id), kind}, "paradigms");
      });
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_StringRef canonical, OTF2_StringRef description,
                OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags, OTF2_StringRef file,
                std::uint32_t line, std::uint32_t last_line) noexcept {
        Taking& to = taking(user);
        const char* const what = "regions";
        if (name == OTF2_UNDEFINED_STRING) to.all.faults.add("regions without a name", fmt::format("{}", id));
        ArchivedRegion region{id,
                              to.string(name, what, id),
                              to.string(canonical, what, id),
                              to.string(description, what, id),
                              to.string(file, what, id),
                              line == kUndefined32 ? 0 : line,
                              last_line == kUndefined32 ? 0 : last_line,
                              role,
                              paradigm,
                              flags};
        if (region.name.empty()) region.name = region.canonical_name;
        if (region.name.empty()) region.name = fmt::format("region {}", id);
        if (const auto caller = read_called_from(region.description); caller && region.source_file == kMpiSourceFile)
          region.source_file = caller->source_file;
        return to.add(to.all.regions, std::move(region), what);
      });
  OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef file, std::uint32_t line) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.source_lines, {id, line, to.string(file, "source lines", id)}, "source lines");
      });
  OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(
      calls, [](void* user, std::uint32_t id, std::uint32_t region, std::uint32_t line, std::uint32_t parent) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.calling_contexts, {id, region, line, parent}, "calling contexts");
      });
  OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_InterruptGeneratorMode mode, OTF2_Base base,
                std::int64_t exponent, std::uint64_t period) noexcept {
        Taking& to = taking(user);
        const char* const what = "interrupt generators";
        return to.add(to.all.interrupt_generators, {id, to.string(name, what, id), mode, base, exponent, period}, what);
      });
  OTF2_GlobalDefReaderCallbacks_SetParameterCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_ParameterType type) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.parameters, {id, to.string(name, "parameters", id), type}, "parameters");
      });
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(calls, [](void* user, std::uint32_t id, OTF2_StringRef name,
                                                               OTF2_StringRef description, OTF2_Type type) noexcept {
    Taking& to = taking(user);
    const char* const what = "attributes";
    if (!ArchivedValue{type, 0}.is_known())
      to.all.faults.add("attributes of an unknown type", fmt::format("{} has {}", id, unsigned{type}));
    return to.add(to.all.attributes, {id, to.string(name, what, id), to.string(description, what, id), type}, what);
  });
}

void set_communication(OTF2_GlobalDefReaderCallbacks* calls) {
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_GroupType type, OTF2_Paradigm paradigm,
                OTF2_GroupFlag, std::uint32_t count, const std::uint64_t* members) noexcept {
        Taking& to = taking(user);
        ArchivedGroup group{id, to.string(name, "groups", id), type, paradigm, {}};
        if (count != 0) group.members.assign(members, members + count);
        return to.add(to.all.groups, std::move(group), "groups");
      });
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, std::uint32_t group, std::uint32_t parent,
                OTF2_CommFlag) noexcept {
        Taking& to = taking(user);
        const char* const what = "communicators";
        return to.add(to.all.comms, {id, parent, to.string(name, what, id), group, kUndefined32, {}, {}, false}, what);
      });
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, std::uint32_t group, std::uint32_t other,
                std::uint32_t common, OTF2_CommFlag) noexcept {
        Taking& to = taking(user);
        const char* const what = "communicators";
        return to.add(to.all.comms, {id, common, to.string(name, what, id), group, other, {}, {}, false}, what);
      });
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, std::uint32_t comm, OTF2_RmaWinFlag) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.windows, {id, comm, to.string(name, "windows", id)}, "windows");
      });
  OTF2_GlobalDefReaderCallbacks_SetCartDimensionCallback(calls, [](void* user, std::uint32_t id, OTF2_StringRef name,
                                                                   std::uint32_t size,
                                                                   OTF2_CartPeriodicity periodic) noexcept {
    Taking& to = taking(user);
    to.dimensions.try_emplace(
        id, ArchivedTopology::Dimension{to.string(name, "dimensions", id), size, periodic == OTF2_CART_PERIODIC_TRUE});
    return OTF2_CallbackCode{OTF2_CALLBACK_SUCCESS};
  });
  OTF2_GlobalDefReaderCallbacks_SetCartTopologyCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, std::uint32_t comm, std::uint8_t count,
                const OTF2_CartDimensionRef* dimensions) noexcept {
        Taking& to = taking(user);
        ArchivedTopology topology{id, comm, to.string(name, "topologies", id), {}, {}};
        for (std::uint8_t i = 0; i < count; ++i) {
          const auto found = to.dimensions.find(dimensions[i]);
          if (found == to.dimensions.end()) {
            to.all.faults.add("topologies with an undefined dimension", fmt::format("{}", id));
          } else {
            topology.dimensions.push_back(found->second);
          }
        }
        return to.add(to.all.topologies, std::move(topology), "topologies");
      });
  OTF2_GlobalDefReaderCallbacks_SetCartCoordinateCallback(
      calls,
      [](void* user, std::uint32_t id, std::uint32_t rank, std::uint8_t count, const std::uint32_t* at) noexcept {
        Taking& to = taking(user);
        if (ArchivedTopology* const topology = to.all.topologies.find(id)) {
          topology->places.push_back({rank, std::vector<std::uint32_t>(at, at + count)});
        } else {
          to.all.faults.add("coordinates in topologies that are not defined", fmt::format("{}", id));
        }
        return OTF2_CallbackCode{OTF2_CALLBACK_SUCCESS};
      });
}

void set_files_and_metrics(OTF2_GlobalDefReaderCallbacks* calls) {
  OTF2_GlobalDefReaderCallbacks_SetIoParadigmCallback(
      calls, [](void* user, OTF2_IoParadigmRef id, OTF2_StringRef identification, OTF2_StringRef name,
                OTF2_IoParadigmClass, OTF2_IoParadigmFlag, std::uint8_t, const OTF2_IoParadigmProperty*,
                const OTF2_Type*, const OTF2_AttributeValue*) noexcept {
        Taking& to = taking(user);
        const char* const what = "paradigms of I/O";
        return to.add(to.all.io_paradigms, {id, to.string(identification, what, id), to.string(name, what, id)}, what);
      });
  OTF2_GlobalDefReaderCallbacks_SetIoRegularFileCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, std::uint32_t) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.files, {id, to.string(name, "files", id), false, {}}, "files");
      });
  OTF2_GlobalDefReaderCallbacks_SetIoDirectoryCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, std::uint32_t) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.files, {id, to.string(name, "files", id), true, {}}, "files");
      });
  OTF2_GlobalDefReaderCallbacks_SetIoFilePropertyCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_Type type, OTF2_AttributeValue value) noexcept {
        return taking(user).add_property(taking(user).all.files, id, name, type, value, "files");
      });
  OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, std::uint32_t file, OTF2_IoParadigmRef paradigm,
                OTF2_IoHandleFlag, std::uint32_t comm, std::uint32_t parent) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.handles, {id, file, paradigm, comm, parent, to.string(name, "file handles", id)},
                      "file handles");
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(
      calls, [](void* user, std::uint32_t id, OTF2_StringRef name, OTF2_StringRef description, OTF2_MetricType type,
                OTF2_MetricMode mode, OTF2_Type value_type, OTF2_Base base, std::int64_t exponent,
                OTF2_StringRef unit) noexcept {
        Taking& to = taking(user);
        const char* const what = "metrics";
        return to.add(to.all.metric_members,
                      {id, to.string(name, what, id), to.string(description, what, id), to.string(unit, what, id), type,
                       mode, value_type, base, exponent},
                      what);
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(
      calls, [](void* user, std::uint32_t id, std::uint8_t count, const OTF2_MetricMemberRef* members,
                OTF2_MetricOccurrence occurrence, OTF2_RecorderKind) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.metric_classes, {id, std::vector<std::uint32_t>(members, members + count), occurrence},
                      "metric classes");
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(
      calls, [](void* user, std::uint32_t id, std::uint32_t metric_class, std::uint64_t recorder,
                OTF2_MetricScope scope_kind, std::uint64_t scope) noexcept {
        Taking& to = taking(user);
        return to.add(to.all.metric_instances, {id, metric_class, recorder, scope, scope_kind}, "metric instances");
      });
}

}  // namespace

std::uint64_t read_global_definitions(OTF2_Reader* reader, DefinitionTurn turn, std::uint64_t count,
                                      ArchiveDefinitions& definitions) {
  Taking to{definitions, {}};
  OTF2_GlobalDefReader* const in = OTF2_Reader_GetGlobalDefReader(reader);
  if (in == nullptr) {
    definitions.faults.add("global definitions that cannot be opened", take_otf2_complaint());
    return 0;
  }
  OTF2_GlobalDefReaderCallbacks* const calls = OTF2_GlobalDefReaderCallbacks_New();
  if (turn == DefinitionTurn::kStrings) {
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, take_string);
  } else {
    OTF2_GlobalDefReaderCallbacks_SetUnknownCallback(calls, [](void* user) noexcept {
      ++taking(user).all.unknown_definitions;
      return OTF2_CallbackCode{OTF2_CALLBACK_SUCCESS};
    });
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
        calls,
        [](void* user, std::uint64_t rate, std::uint64_t begin, std::uint64_t length, std::uint64_t real) noexcept {
          taking(user).all.clock = {true, rate, begin, length, real};
          return OTF2_CallbackCode{OTF2_CALLBACK_SUCCESS};
        });
    set_places(calls);
    set_code(calls);
    set_communication(calls);
    set_files_and_metrics(calls);
  }
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, in, calls, &to);
  OTF2_GlobalDefReaderCallbacks_Delete(calls);
  std::uint64_t read = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadGlobalDefinitions(reader, in, count, &read);
  const std::string complaint = take_otf2_complaint();
  if (code != OTF2_SUCCESS && turn == DefinitionTurn::kOthers)
    definitions.faults.add("global definitions that are damaged", fmt::format("after {}: {}", read, complaint));
  OTF2_Reader_CloseGlobalDefReader(reader, in);
  return read;
}

std::string read_markers(OTF2_Reader* reader, std::uint64_t count, ArchiveDefinitions& definitions) {
  struct Kind {
    std::string group, category;
    std::uint8_t severity;
  };
  struct Markers {
    ArchiveDefinitions& all;
    std::unordered_map<std::uint32_t, Kind> kinds;
  } markers{definitions, {}};
  OTF2_MarkerReader* const in = OTF2_Reader_GetMarkerReader(reader);
  if (in == nullptr) return take_otf2_complaint();
  OTF2_MarkerReaderCallbacks* const calls = OTF2_MarkerReaderCallbacks_New();
  OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(
      calls, [](void* user, OTF2_MarkerRef id, const char* group, const char* category,
                OTF2_MarkerSeverity severity) noexcept {
        static_cast<Markers*>(user)->kinds.try_emplace(id, Kind{group, category, severity});
        return OTF2_CallbackCode{OTF2_CALLBACK_SUCCESS};
      });
  OTF2_MarkerReaderCallbacks_SetMarkerCallback(
      calls, [](void* user, std::uint64_t time, std::uint64_t duration, OTF2_MarkerRef id, OTF2_MarkerScope scope_kind,
                std::uint64_t scope, const char* text) noexcept {
        Markers& to = *static_cast<Markers*>(user);
        const auto kind = to.kinds.find(id);
        if (kind == to.kinds.end()) {
          to.all.faults.add("markers of an undefined kind", fmt::format("{}", id));
          return OTF2_CallbackCode{OTF2_CALLBACK_SUCCESS};
        }
        const Kind& of = kind->second;
        to.all.markers.push_back({time, duration, of.severity, scope_kind, scope, of.group, of.category, text});
        return OTF2_CallbackCode{OTF2_CALLBACK_SUCCESS};
      });
  OTF2_Reader_RegisterMarkerCallbacks(reader, in, calls, &markers);
  OTF2_MarkerReaderCallbacks_Delete(calls);
  std::uint64_t read = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadMarkers(reader, in, count, &read);
  const std::string complaint = take_otf2_complaint();
  OTF2_Reader_CloseMarkerReader(reader, in);
  return code == OTF2_SUCCESS ? "" : complaint;
}

}  // namespace ardoise::knowledge_sources

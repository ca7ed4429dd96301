// Writes seeds for fuzz_trace: archives by OTF2's writer. Run: build/bin/fuzz_trace_seeds FOLDER
#include <cstdio>
#include <fstream>

#include "replay/made_archive.hpp"
#include "tests/fuzz/packed_archive.hpp"

using namespace ardoise;
using replay::MadeArchive;

namespace {

void write_events(MadeArchive& archive, std::uint64_t location, std::uint32_t peer) {
  OTF2_EvtWriter* const out = archive.events(location);
  std::uint64_t time = 1000;
  for (std::uint64_t i = 0; i < 3; ++i) {
    OTF2_AttributeList* const list = OTF2_AttributeList_New();
    OTF2_AttributeList_AddUint32(list, 0, static_cast<std::uint32_t>(i));
    OTF2_AttributeList_AddStringRef(list, 1, 1);
    OTF2_AttributeList_AddDouble(list, 2, 0.5);
    OTF2_EvtWriter_Enter(out, nullptr, time, 0);
    OTF2_EvtWriter_MpiIsend(out, list, time, peer, 0, 7, 64, 2 * i);
    OTF2_EvtWriter_MpiIrecvRequest(out, nullptr, time + 1, 2 * i + 1);
    OTF2_EvtWriter_MpiIsendComplete(out, nullptr, time + 2, 2 * i);
    OTF2_EvtWriter_MpiIrecv(out, list, time + 3, peer, 0, 7, 64, 2 * i + 1);
    OTF2_EvtWriter_Leave(out, nullptr, time + 3, 0);
    OTF2_EvtWriter_MpiCollectiveBegin(out, nullptr, time + 4);
    OTF2_EvtWriter_MpiCollectiveEnd(out, nullptr, time + 5, OTF2_COLLECTIVE_OP_ALLREDUCE, 0, 0, 8, 8);
    const OTF2_Type types[] = {OTF2_TYPE_DOUBLE, OTF2_TYPE_UINT64};
    OTF2_MetricValue values[2];
    values[0].floating_point = 1.5;
    values[1].unsigned_int = 3;
    OTF2_EvtWriter_Metric(out, nullptr, time + 6, 0, 2, types, values);
    OTF2_EvtWriter_ParameterInt(out, nullptr, time + 7, 0, -3);
    OTF2_EvtWriter_RmaPut(out, nullptr, time + 8, 0, peer, 64, i);
    OTF2_EvtWriter_RmaOpCompleteBlocking(out, nullptr, time + 9, 0, i);
    OTF2_EvtWriter_IoOperationBegin(out, nullptr, time + 10, 0, OTF2_IO_OPERATION_MODE_WRITE,
                                    OTF2_IO_OPERATION_FLAG_NONE, 64, i);
    OTF2_EvtWriter_IoOperationComplete(out, nullptr, time + 11, 0, 64, i);
    OTF2_EvtWriter_CallingContextSample(out, nullptr, time + 12, 0, 1, 0);
    const OTF2_StringRef arguments[] = {0, 1};
    OTF2_EvtWriter_ProgramBegin(out, nullptr, time + 13, 0, 2, arguments);
    OTF2_AttributeList_Delete(list);
    time += 100;
  }
  OTF2_Archive_CloseEvtWriter(archive.archive(), out);
}

void write_definitions(MadeArchive& archive) {
  auto* const out = archive.global();
  archive.clock(1000, 400);
  archive.processes(2, 45);
  archive.region(4, "MPI_Waitall", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, "a.c", 3);
  for (OTF2_AttributeRef i = 0; i < 3; ++i)
    OTF2_GlobalDefWriter_WriteAttribute(out, i, archive.string("key"), archive.string("of"), OTF2_TYPE_UINT32);
  const OTF2_MetricMemberRef members[] = {0, 1};
  for (const OTF2_MetricMemberRef i : members)
    OTF2_GlobalDefWriter_WriteMetricMember(out, i, archive.string("metric"), archive.string(""), OTF2_METRIC_TYPE_USER,
                                           OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0,
                                           archive.string("m"));
  OTF2_GlobalDefWriter_WriteMetricClass(out, 0, 2, members, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
  OTF2_GlobalDefWriter_WriteParameter(out, 0, archive.string("step"), OTF2_PARAMETER_TYPE_INT64);
  OTF2_GlobalDefWriter_WriteRmaWin(out, 0, archive.string("window"), 0, OTF2_RMA_WIN_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteIoParadigm(out, 0, archive.string("POSIX"), archive.string("POSIX"),
                                       OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS, 0, nullptr, nullptr,
                                       nullptr);
  OTF2_GlobalDefWriter_WriteIoRegularFile(out, 0, archive.string("/tmp/a"), 0);
  OTF2_GlobalDefWriter_WriteIoHandle(out, 0, archive.string("a"), 0, 0, OTF2_IO_HANDLE_FLAG_NONE, OTF2_UNDEFINED_COMM,
                                     OTF2_UNDEFINED_IO_HANDLE);
  OTF2_GlobalDefWriter_WriteCartDimension(out, 0, archive.string("x"), 2, OTF2_CART_PERIODIC_TRUE);
  const OTF2_CartDimensionRef dimension = 0;
  OTF2_GlobalDefWriter_WriteCartTopology(out, 0, archive.string("grid"), 0, 1, &dimension);
  const std::uint32_t coordinate = 1;
  OTF2_GlobalDefWriter_WriteCartCoordinate(out, 0, 1, 1, &coordinate);
  OTF2_GlobalDefWriter_WriteSourceCodeLocation(out, 0, archive.string("a.c"), 3);
  OTF2_GlobalDefWriter_WriteCallingContext(out, 0, 4, 0, OTF2_UNDEFINED_CALLING_CONTEXT);
  OTF2_Archive_SetProperty(archive.archive(), "MAKER::NOTE", "hello", true);
  auto* const markers = OTF2_Archive_GetMarkerWriter(archive.archive());
  OTF2_MarkerWriter_WriteDefMarker(markers, 0, "group", "late", OTF2_SEVERITY_HIGH);
  OTF2_MarkerWriter_WriteMarker(markers, 1100, 10, 0, OTF2_MARKER_SCOPE_LOCATION, 1, "late");
  OTF2_Archive_CloseMarkerWriter(archive.archive(), markers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("fuzz_trace_seeds FOLDER\n", stderr);
    return 2;
  }
  const replay::ScratchFolder scratch;
  int number = 0;
  for (const bool has_local : {false, true}) {
    MadeArchive archive(scratch.path() / "made");
    write_events(archive, 0, 1);
    write_events(archive, 1, 0);
    for (std::uint64_t location = 0; has_local && location < 2; ++location) {
      archive.local(location, [](OTF2_DefWriter* out) {
        OTF2_IdMap* const map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, 1);
        OTF2_IdMap_AddIdPair(map, 0, 4);
        OTF2_DefWriter_WriteMappingTable(out, OTF2_MAPPING_REGION, map);
        OTF2_IdMap_Free(map);
        OTF2_DefWriter_WriteClockOffset(out, 1000, 10, 0);
        OTF2_DefWriter_WriteClockOffset(out, 2000, 20, 0);
      });
    }
    write_definitions(archive);
    std::ofstream file(std::filesystem::path(argv[1]) / std::to_string(number++), std::ios::binary);
    file << fuzz::pack_archive(archive.close());
    if (!file.flush()) {
      std::fprintf(stderr, "A seed cannot be written to %s.\n", argv[1]);
      return 1;
    }
  }
  return 0;
}

// Commands that read a trace or files of snapshots print no name from them unescaped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "knowledge_sources/snapshot_files/snapshot_block.hpp"
#include "tests/hostile_names.hpp"
#include "tests/replay/made_archive.hpp"
#include "tests/tools/command_words.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/report/report.hpp"
#include "tools/ardoise/snapshots/snapshots.hpp"
#include "tools/ardoise/trace/export.hpp"
#include "tools/ardoise/trace/trace.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using knowledge_sources::SnapshotBlock;
using replay::MadeArchive;
using replay::ScratchFolder;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;
std::string printed(int (*command)(const CommandLine&), const Words& words) {
  return printed_by([&] {
    try {
      (void)command(line_of(words));
    } catch (const UsageError& error) {
      say("{}", error.what());
    }
  });
}

// Two ranks send, a third receives with a wildcard. The trace has many errors, whose messages contain names of places.
fs::path hostile_trace(const fs::path& folder, const std::string& name) {
  MadeArchive archive(folder);
  enum : OTF2_RegionRef { kSend, kReceive, kWork };
  for (const std::uint64_t sender : {0u, 2u}) {
    OTF2_EvtWriter* const out = archive.events(sender);
    OTF2_EvtWriter_Enter(out, nullptr, 10 + sender, kSend);
    OTF2_EvtWriter_MpiSend(out, nullptr, 20 + sender, 1, 0, 7, 8);
    OTF2_EvtWriter_Leave(out, nullptr, 30 + sender, kSend);
    OTF2_EvtWriter_Leave(out, nullptr, 31 + sender, kWork);
    OTF2_EvtWriter_MpiSend(out, nullptr, 5, 1, 0, 8, 8);
  }
  OTF2_EvtWriter* const out = archive.events(1);
  for (const std::uint64_t time : {100u, 200u}) {
    OTF2_AttributeList* const list = OTF2_AttributeList_New();
    OTF2_AttributeList_AddInt64(list, 0, -2);
    OTF2_AttributeList_AddInt64(list, 1, 7);
    OTF2_AttributeList_AddStringRef(list, 2, 0);
    OTF2_EvtWriter_Enter(out, list, time, kReceive);
    OTF2_AttributeList_Delete(list);
    OTF2_EvtWriter_MpiRecv(out, nullptr, time + 10, time == 100 ? 0 : 2, 0, 7, 8);
    OTF2_EvtWriter_Leave(out, nullptr, time + 20, kReceive);
  }
  (void)archive.string(name);
  archive.clock(0, 1000);
  auto* const global = archive.global();
  OTF2_GlobalDefWriter_WriteSystemTreeNode(global, 0, archive.string("h" + name), archive.string("node"),
                                           OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  const std::uint64_t all[] = {0, 1, 2};
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    OTF2_GlobalDefWriter_WriteLocationGroup(global, rank, archive.string("process" + name),
                                            OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(global, rank, archive.string("thread" + name), OTF2_LOCATION_TYPE_CPU_THREAD, 99,
                                       rank);
  }
  OTF2_GlobalDefWriter_WriteGroup(global, 0, archive.string(name), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, 3, all);
  OTF2_GlobalDefWriter_WriteGroup(global, 1, archive.string(name), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                  OTF2_GROUP_FLAG_NONE, 3, all);
  OTF2_GlobalDefWriter_WriteComm(global, 0, archive.string("comm" + name), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_GlobalDefWriter_WriteRmaWin(global, 0, archive.string("window" + name), 0, OTF2_RMA_WIN_FLAG_NONE);
  archive.region(kSend, "MPI_Send", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, name + ".c", 17);
  archive.region(kReceive, "MPI_Recv", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, name + ".c", 18);
  archive.region(kWork, "work" + name);
  OTF2_AttributeRef number = 0;
  for (const char* const key : {"ardoise::source", "ardoise::tag"})
    OTF2_GlobalDefWriter_WriteAttribute(global, number++, archive.string(key), archive.string(""), OTF2_TYPE_INT64);
  OTF2_GlobalDefWriter_WriteAttribute(global, number, archive.string("key" + name), archive.string(name),
                                      OTF2_TYPE_STRING);
  OTF2_GlobalDefWriter_WriteMetricMember(global, 0, archive.string("metric" + name), archive.string(name),
                                         OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64,
                                         OTF2_BASE_DECIMAL, 0, archive.string(name));
  OTF2_Archive_SetMachineName(archive.archive(), ("machine" + name).c_str());
  OTF2_Archive_SetDescription(archive.archive(), ("about" + name).c_str());
  OTF2_Archive_SetProperty(archive.archive(), "MAKER::NOTE", ("note" + name).c_str(), true);
  auto* const markers = OTF2_Archive_GetMarkerWriter(archive.archive());
  OTF2_MarkerWriter_WriteDefMarker(markers, 0, "group", ("late" + name).c_str(), OTF2_SEVERITY_HIGH);
  OTF2_MarkerWriter_WriteMarker(markers, 100, 10, 0, OTF2_MARKER_SCOPE_LOCATION, 2, ("text" + name).c_str());
  OTF2_Archive_CloseMarkerWriter(archive.archive(), markers);
  return archive.close();
}

TEST(HostileFiles, NoCommandShowsTheNamesOfATrace) {
  const ScratchFolder folder;
  std::set<std::string> told;
  for (std::string name : kHostile) {
    name += std::string(3000, 'x');
    const std::string made = hostile_trace(folder.path() / "made", name).string();
    const std::string missing = made + "/" + name.substr(0, 100);
    for (const Words& words : {Words{"info", made}, Words{"check", made}, Words{"races", made},
                               Words{"races", made, "--csv"}, Words{"check", missing}}) {
      Words all{"trace"};
      all.insert(all.end(), words.begin(), words.end());
      const std::string text = printed(trace, all);
      expect_clean(text, words[0] + " " + words.back());
      if (text.find("xxx") != text.npos) told.insert(words[0]);
    }
    for (const Words& words :
         {Words{"events"}, Words{"messages"}, Words{"calls"}, Words{"calls", "-o", missing + "/none"}}) {
      Words all{"export", made, "--format", "csv", "--table"};
      all.insert(all.end(), words.begin(), words.end());
      const std::string text = printed(export_for_tools, all);
      expect_clean(text, "export " + words.back());
      if (text.find("xxx") != text.npos) told.insert("export");
    }
    for (const char* const format : {"folded", "otf2"})
      expect_clean(printed(export_for_tools, {"export", made, "--format", format}), format);
    expect_clean(printed(report, {"report", missing}), "report");
  }
  EXPECT_EQ(told, (std::set<std::string>{"check", "export", "info", "races"})) << "these tell names";
}

TEST(HostileFiles, NoCommandShowsTheNamesOfSnapshots) {
  const ScratchFolder folder;
  std::set<std::string> told;
  for (const std::string& hostile : kHostile) {
    const std::string name = hostile + std::string(3000, 'x');
    SnapshotBlock block;
    block.run = 1;
    block.programs.push_back({0, 1, 0, "program" + name});
    block.series.push_back({0, knowledge_sources::SeriesKind::kSnapshot, 7, "series" + name});
    for (const auto kind : {SnapshotBlock::CallKind::kMpi, SnapshotBlock::CallKind::kPosix,
                            SnapshotBlock::CallKind::kSampled, SnapshotBlock::CallKind::kCounted}) {
      SnapshotBlock::Call call;
      call.kind = kind;
      call.place = static_cast<std::uint32_t>(kind);
      if (kind != SnapshotBlock::CallKind::kSampled) call.function = "function" + name;
      call.stack = "main;step" + name;
      call.module = "/a/module" + name;
      call.symbol = "symbol" + name;
      call.source_file = "/a/source" + name;
      block.calls.push_back(call);
    }
    block.values.push_back({0, 3, "value" + name});
    SnapshotBlock::Record record;
    record.end = 1'000'000'000;
    record.ns = 1'000'000'000;
    for (std::uint32_t call = 0; call < block.calls.size(); ++call)
      record.calls.push_back({call, 0, {1, 10'000'000, 10, 1}});
    record.values.push_back({0, 0, knowledge_sources::ValueSums::one(0.5)});
    block.records.push_back(record);
    const std::string file = (folder.path() / ("file" + hostile + ".ards")).string();
    const auto bytes = encode(block);
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const std::string none = file + "none", whole = folder.path() / ("merged" + hostile);
    for (const char* const action : {"list", "each", "calls", "values", "counters", "profile", "stacks"}) {
      for (const Words& more : {Words{}, Words{"--csv"}}) {
        Words words{"snapshots", action, file};
        words.insert(words.end(), more.begin(), more.end());
        const std::string text = printed(snapshots, words);
        expect_clean(text, action);
        if (text.find("xxx") != text.npos) told.insert(action);
      }
    }
    for (const Words& words :
         {Words{"snapshots", "list", none}, Words{"snapshots", "merge", file, "-o", whole},
          Words{"snapshots", "extract", file, "-o", whole}, Words{"snapshots", "tau", file, "-o", none + "/tau"},
          Words{"snapshots", "merge", file, "-o", file + "/x"}})
      expect_clean(printed(snapshots, words), words[1]);
  }
  EXPECT_EQ(told, (std::set<std::string>{"calls", "counters", "each", "list", "profile", "stacks", "values"}));
}

}  // namespace
}  // namespace ardoise::launcher

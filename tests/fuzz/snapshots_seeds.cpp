// Writes seeds for fuzz_snapshots: payloads of good blocks. Run: build/bin/fuzz_snapshots_seeds FOLDER
#include <zstd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "knowledge_sources/snapshot_files/block_builder.hpp"

using namespace ardoise::knowledge_sources;

namespace {

std::vector<std::byte> payload_of(const SnapshotBlock& block) {
  const auto bytes = encode(block);
  SnapshotHead head{};
  if (!read_head(bytes, head)) return {};
  std::vector<std::byte> payload(head.payload_bytes);
  ZSTD_decompress(payload.data(), payload.size(), bytes.data() + kSnapshotHead, head.frame_bytes);
  return payload;
}

SnapshotBlock block_of(SeriesKind kind, bool is_late) {
  BlockBuilder builder(1);
  const SnapshotBlock::Program program{0, 2, 0, "solver"};
  for (std::uint32_t i = 0; i < 4; ++i) {
    SnapshotBlock::Record like;
    like.rank = i % 2;
    like.index = i / 2;
    like.is_late = is_late;
    like.begin = 1000 * i;
    like.end = like.begin + 900;
    SnapshotBlock::Call call;
    call.kind = static_cast<SnapshotBlock::CallKind>(i % 3);
    call.function = "MPI_Send";
    auto& record = builder.add(program, {0, kind, 7, "step"}, like);
    record.calls.push_back({builder.id_of(program, call), 0, {i, 100, 8, 40}});
    record.values.push_back({builder.id_of(program, SnapshotBlock::Value{0, 3, "residual"}), 0, ValueSums::one(0.5)});
  }
  return builder.block();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("fuzz_snapshots_seeds FOLDER\n", stderr);
    return 2;
  }
  int number = 0;
  for (const auto kind : {SeriesKind::kSnapshot, SeriesKind::kPhase, SeriesKind::kIteration}) {
    for (const bool is_late : {false, true}) {
      const auto payload = payload_of(block_of(kind, is_late));
      std::ofstream file(std::filesystem::path(argv[1]) / std::to_string(number++), std::ios::binary);
      file.write(reinterpret_cast<const char*>(payload.data()), static_cast<std::streamsize>(payload.size()));
      if (!file.flush()) {
        std::fprintf(stderr, "A seed cannot be written to %s.\n", argv[1]);
        return 1;
      }
    }
  }
  return 0;
}

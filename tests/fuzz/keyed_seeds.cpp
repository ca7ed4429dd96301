// Writes seeds for fuzz_keyed: batches of good records of each kind. Run: build/bin/fuzz_keyed_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "knowledge_sources/plugins/waits/travel.hpp"

using namespace ardoise::knowledge_sources;

namespace {

constexpr CommIdentity kWorld{7, 0, 2};

Part part_of(std::uint32_t rank, double begin) {
  Part part{};
  part.posted = part.begin = begin;
  part.end = begin + 1000;
  part.rank = rank;
  part.operations = 1;
  part.stretch = {500, 100, 300, 1};
  return part;
}

std::vector<std::vector<Travelling>> batches() {
  const auto allreduce = static_cast<std::uint32_t>(ardoise::vmpi::FunctionId::kAllreduce);
  const auto neighbours = static_cast<std::uint32_t>(ardoise::vmpi::FunctionId::kNeighbor_alltoall);
  Part of_two = part_of(1, 3000);
  of_two.operations = 2;
  of_two.call = 5;
  Wait wait = no_wait(of_two);
  (void)set_length(wait, 400, 0, 0);
  Access access{};
  access.key = {{kWorld, 0}, 1, 0, 0};
  access.others = 1;
  access.start = {100, 900, 1, 2};
  access.first = kNoCall;
  access.complete = {1000, 1100, 1, 3};
  Exposure exposure{};
  exposure.key = access.key;
  exposure.rank = exposure.others = 1;
  exposure.post = 500;
  exposure.wait = {600, 1200, 2, 4};
  LockEpoch first{}, second{};
  first.window = second.window = {kWorld, 1};
  first.exclusive = second.exclusive = 1;
  second.rank = 1;
  first.lock = {100, 200, 1, 2};
  second.lock = {150, 900, 1, 2};
  first.later = second.later = kNoCall;
  first.unlock_begin = 800;
  first.unlock_end = second.unlock_begin = 850;
  second.unlock_end = 950;
  const CollectiveKey collective{kWorld, 3}, in_neighbours{kWorld, 4};
  return {{InCollective{collective, allreduce, {part_of(0, 1000), 0, -1}},
           InCollective{collective, allreduce, {part_of(1, 1500), 1, -1}}},
          {NeighbourPair{in_neighbours, {1, 0}}, InCollective{in_neighbours, neighbours, {part_of(0, 1000), 0, -1}},
           InCollective{in_neighbours, neighbours, {part_of(1, 1500), 1, -1}}},
          {EndOfMessage{{kWorld, 0, 1, 9}, true, 0, part_of(0, 2000)},
           EndOfMessage{{kWorld, 0, 1, 9}, false, 0, part_of(1, 1500)}},
          {SharedWait{wait, 0}, PathJump{0, 1, 2000}},
          {WindowPart(access), WindowPart(exposure)},
          {WindowPart(first), WindowPart(second)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("fuzz_keyed_seeds FOLDER\n", stderr);
    return 2;
  }
  int number = 0;
  for (const auto& batch : batches()) {
    TravelCodec codec;
    std::vector<std::byte> bytes{static_cast<std::byte>(batch.size())};
    for (const Travelling& record : batch) codec.put(record, bytes);
    std::ofstream file(std::filesystem::path(argv[1]) / std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) {
      std::fprintf(stderr, "A seed cannot be written to %s.\n", argv[1]);
      return 1;
    }
  }
  return 0;
}

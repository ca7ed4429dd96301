// Feeds bytes to `waits` as a batch of records from another analyzer (knowledge_sources/interface/keyed.hpp): for any
// bytes the resulting model is valid. The first byte is the number of records in the batch.
#include <cstring>

#include "knowledge_sources/reduction/reduction.hpp"
#include "replay/local_transport.hpp"
#include "replay/plugins.hpp"
#include "tests/fuzz/sound_model.hpp"

using namespace ardoise;

namespace {

// Invalid records are refused, and the analysis continues.
blackboard::Options forgiving() {
  blackboard::Options options;
  options.workers = 0;
  options.on_failure = [](std::string_view, std::string_view) {};
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto factories = replay::load_plugins({"waits"});
  if (size == 0) return 0;
  struct Header {
    std::uint64_t number;
    std::uint32_t from, records;
  };
  const Header header{0, 1, data[0]};
  auto batch = blackboard::make_entry(blackboard::entry_type("0:program", "keyed/waits"), sizeof header + size - 1);
  std::memcpy(batch.writable().data(), &header, sizeof header);
  std::memcpy(batch.writable().data() + sizeof header, data + 1, size - 1);

  blackboard::Blackboard board(forgiving()), other(forgiving());
  replay::LocalTransports transports({&board, &other});
  knowledge_sources::Reduction reduction(board, factories);
  reduction.add_program({0, "program", 4});
  board.submit(std::move(batch));
  transports.settle([&] { reduction.flush(); });
  (void)reduction.partial();
  require_sound_model(reduction);
  return 0;
}

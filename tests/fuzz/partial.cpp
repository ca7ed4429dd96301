// Feeds bytes as the partial result of one analysis to a level: for any bytes the resulting model is valid. The first
// byte chooses the analysis.
#include <string>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/reduction/reduction.hpp"
#include "replay/plugins.hpp"
#include "tests/fuzz/sound_model.hpp"

using namespace ardoise;
using namespace ardoise::knowledge_sources;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto factories = replay::load_plugins();
  if (size == 0) return 0;
  std::vector<std::string> names{"(accounts)", "(definitions)"};
  for (const auto& factory : factories) names.push_back(factory.name);

  // The frame of a level's partial result with one part.
  ByteWriter out;
  out.put(std::uint32_t{1});
  out.put(std::uint32_t{4});
  Sentences().write(out);
  Sentences().write(out);
  out.put_count(1);
  out.put_text(names[data[0] % names.size()]);
  out.put_bytes(std::as_bytes(std::span(data, size)).subspan(1));

  blackboard::Options options;
  options.workers = 0;
  blackboard::Blackboard board(options);
  Reduction reduction(board, factories);
  Level& level = reduction.add_program({0, "program", 4});
  level.absorb(out.take());
  (void)level.partial();
  require_sound_model(reduction);
  return 0;
}

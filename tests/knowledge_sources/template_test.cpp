// The example plug-in works unchanged, built in this tree or (ARDOISE_TEMPLATE_PLUGIN) out of it.
#include <cstdlib>
#include <filesystem>

#include "fixture.hpp"
#include "reports/extensions.hpp"

namespace ardoise::knowledge_sources {
namespace {

TEST(Template, AddsItsTableToTheReport) {
  const char* const out_of_tree = std::getenv("ARDOISE_TEMPLATE_PLUGIN");
  const std::filesystem::path plugin = out_of_tree != nullptr ? out_of_tree : TEMPLATE_PLUGIN;
  Session session({{0, "program", 2}}, 2, 2, replay::load_plugins({plugin.stem()}, plugin.parent_path()));
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    const auto other = static_cast<std::int32_t>(1 - rank);
    maker.call(FunctionId::kSend, Shape::kSend, 2000, 100, other, 5, 64);
    maker.call(FunctionId::kSend, Shape::kSend, 3000, 100, other, 1, 10);
    maker.call(FunctionId::kRecv, Shape::kReceive, 4000, 100, other, rank == 0 ? 1 : 5, 64);
    maker.finish();
    session.submit(maker.take(), rank);
  }
  const auto table = reports::extensions_of(session.application()).at("tag_usage");
  EXPECT_EQ(table.at("columns"), nlohmann::json({"tag", "messages", "bytes", "met"}));
  EXPECT_EQ(table.at("rows"), nlohmann::json::parse("[[1, 2, 20, 1], [5, 2, 128, 1]]"));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

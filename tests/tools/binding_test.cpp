// Tests the words added to a launch line so that Open MPI places and binds the programs' ranks as without the
// analyzers.
#include "tools/ardoise/launch/binding.hpp"

#include <gmock/gmock.h>

#include <map>

#include "tests/tools/parsed_line.hpp"

namespace ardoise::launcher {
namespace {

using Parameters = std::map<std::string, std::string, std::less<>>;

class Binding : public ::testing::Test {
 protected:
  std::string kept(const std::string& text, unsigned ranks) {
    facts_.ranks = ranks;
    facts_.parameter = [this](std::string_view name) {
      const auto found = parameters_.find(name);
      return found == parameters_.end() ? std::nullopt : std::optional(found->second);
    };
    auto line = parsed_line(text);
    keep_binding(line, facts_);
    std::string words;
    for (const auto& word : to_words(line)) words += (words.empty() ? "" : " ") + word;
    return words;
  }
  void fill_machine() { facts_.lacks_slots = facts_.one_machine = true; }

  // Sixteen cores, with free slots for analyzers.
  BindingFacts facts_{.ranks = {}, .processors = 16, .lacks_slots = false, .one_machine = true, .parameter = {}};
  Parameters parameters_;
};

TEST_F(Binding, TwoRanksStayOnTheirCoresThoughTheAnalyzerMakesThree) {
  EXPECT_EQ(kept("mpirun -n 2 ./a", 2), "mpirun --rank-by slot --map-by core --bind-to :overload-allowed -n 2 ./a");
  EXPECT_EQ(kept("mpirun -n 1 ./a : -n 1 ./b", 2),
            "mpirun --rank-by slot --map-by core --bind-to :overload-allowed -n 1 ./a : -n 1 ./b");
  EXPECT_EQ(kept("mpirun --use-hwthread-cpus -n 2 ./a", 2),
            "mpirun --rank-by slot --map-by hwthread --bind-to :overload-allowed --use-hwthread-cpus -n 2 ./a");
}

TEST_F(Binding, MoreRanksStayOnTheirNumaNodesThoughTheAnalyzerHasNoProcessor) {
  EXPECT_EQ(kept("mpirun -n 15 ./a", 15), "mpirun --bind-to :overload-allowed -n 15 ./a");
  fill_machine();
  EXPECT_EQ(kept("mpirun -n 16 ./a", 16),
            "mpirun --rank-by slot --map-by numa:span --bind-to numa:if-supported,overload-allowed -n 16 ./a");
  facts_.one_machine = false;
  EXPECT_EQ(kept("mpirun -n 16 ./a", 16), "mpirun --bind-to numa:if-supported,overload-allowed -n 16 ./a");
}

TEST_F(Binding, NothingIsAddedWhereNothingIsBoundAnyway) {
  fill_machine();
  EXPECT_EQ(kept("mpirun --oversubscribe -n 17 ./a", 17), "mpirun --oversubscribe -n 17 ./a");
  EXPECT_EQ(kept("mpirun --bind-to none -n 4 ./a", 4), "mpirun --bind-to none -n 4 ./a");
  EXPECT_EQ(kept("mpirun --rankfile f -n 4 ./a", 4), "mpirun --rankfile f -n 4 ./a");
  parameters_["hwloc_base_binding_policy"] = "none";
  EXPECT_EQ(kept("mpirun -n 2 ./a", 2), "mpirun -n 2 ./a");
}

TEST_F(Binding, TheUsersChoiceStandsAndLetsTheAnalyzersIn) {
  EXPECT_EQ(kept("mpirun --bind-to core -n 4 ./a", 4), "mpirun --bind-to core:overload-allowed -n 4 ./a");
  EXPECT_EQ(kept("mpirun --bind-to core:if-supported -n 4 ./a", 4),
            "mpirun --bind-to core:if-supported,overload-allowed -n 4 ./a");
  EXPECT_EQ(kept("mpirun --mca hwloc_base_binding_policy socket -n 4 ./a", 4),
            "mpirun --mca hwloc_base_binding_policy socket:overload-allowed -n 4 ./a");
  EXPECT_EQ(kept("mpirun --map-by socket -n 4 ./a", 4), "mpirun --bind-to :overload-allowed --map-by socket -n 4 ./a")
      << "bound to what they are mapped by";
  fill_machine();
  EXPECT_EQ(kept("mpirun --map-by socket -n 16 --bind-to core ./a", 16),
            "mpirun --map-by socket:span -n 16 --bind-to core:overload-allowed ./a");
  parameters_["hwloc_base_binding_policy"] = "core";
  EXPECT_EQ(kept("mpirun -n 16 ./a", 16),
            "mpirun --rank-by slot --map-by numa:span --bind-to core:overload-allowed -n 16 ./a");
}

// If the mapping names no object, up to two processes are bound to cores, more to NUMA nodes.
TEST_F(Binding, RanksMappedByNodeAreBoundByTheirNumber) {
  EXPECT_EQ(kept("mpirun --map-by node -n 2 ./a", 2),
            "mpirun --bind-to core:if-supported,overload-allowed --map-by node -n 2 ./a");
  EXPECT_EQ(kept("mpirun --bynode -n 4 ./a", 4),
            "mpirun --bind-to numa:if-supported,overload-allowed --bynode -n 4 ./a");
}

TEST_F(Binding, RanksWithSeveralProcessorsKeepThem) {
  EXPECT_EQ(kept("mpirun --map-by slot:PE=2 -n 4 ./a", 4),
            "mpirun --bind-to :overload-allowed --map-by slot:PE=2 -n 4 ./a");
}

TEST_F(Binding, WithoutANumberOfRanksTheProcessorsOfAnalyzersAreAllThatIsSaid) {
  auto line = parsed_line("mpirun -N 2 ./a");
  facts_.parameter = [](std::string_view) { return std::nullopt; };
  keep_binding(line, facts_);
  EXPECT_EQ(to_words(line), (std::vector<std::string>{"mpirun", "--bind-to", ":overload-allowed", "-N", "2", "./a"}));
}

}  // namespace
}  // namespace ardoise::launcher

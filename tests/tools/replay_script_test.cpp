// The script of a replay, without MPI.
#include <gmock/gmock.h>

#include <filesystem>
#include <vector>

#include "tools/replay/call_script.hpp"

namespace ardoise::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CallScriptTest : public ::testing::Test {
 protected:
  CallScript script_{std::filesystem::temp_directory_path(), 2};
};

CallShape send_to(std::int32_t peer) {
  CallShape shape;
  shape.function = static_cast<std::uint16_t>(vmpi::FunctionId::kSend);
  shape.peer = peer;
  shape.count = 10;
  return shape;
}

TEST_F(CallScriptTest, EqualCallsHaveOneShape) {
  const std::vector<CallScript::List> counts{{list_of(vmpi::ArgumentKind::kSendCounts), {1, 2, 3}}};
  const std::uint32_t first = script_.add_shape(send_to(1), counts);
  EXPECT_EQ(script_.add_shape(send_to(1), counts), first);
  EXPECT_NE(script_.add_shape(send_to(2), counts), first);
  EXPECT_NE(script_.add_shape(send_to(1), {}), first);
  EXPECT_NE(script_.add_shape(send_to(1), {{list_of(vmpi::ArgumentKind::kSendCounts), {1, 2, 4}}}), first);
  EXPECT_EQ(script_.shape(first).peer, 1);
}

TEST_F(CallScriptTest, ListsAreFoundByKind) {
  const std::uint32_t place = script_.add_shape(
      send_to(1), {{ListKind::kUsed, {5}}, {ListKind::kStarted, {}}, {ListKind::kCompleted, {7, 8, -1}}});
  const Lists lists(script_.shape(place));
  EXPECT_THAT(lists.find(ListKind::kUsed), ElementsAre(5));
  EXPECT_THAT(lists.find(ListKind::kCompleted), ElementsAre(7, 8, -1));
  EXPECT_THAT(lists.find(ListKind::kStarted), IsEmpty());
  EXPECT_THAT(lists.find(ListKind::kGroup), IsEmpty());
}

TEST_F(CallScriptTest, LongTimesTakeTwoSteps) {
  const std::uint32_t shape = script_.add_shape(send_to(1), {});
  script_.add_step(0, shape, 5, 6, kNothing);
  script_.add_step(0, shape, (std::uint64_t{3} << 32) + 7, 8, 4);
  script_.add_step(1, shape, 9, std::uint64_t{1} << 40, kNothing);
  const auto steps = script_.steps(0);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].pause, 5U);
  EXPECT_EQ(steps[1].shape, kLong);
  EXPECT_EQ(steps[1].pause, 3U);
  EXPECT_EQ(steps[2].pause, 7U);
  EXPECT_EQ(steps[2].slot, 4U);
  ASSERT_EQ(script_.steps(1).size(), 2U);
  EXPECT_EQ(script_.steps(1)[0].duration, 256U);
}

TEST_F(CallScriptTest, TheShapeOfAStepChangesWhenMoreIsKnown) {
  const std::uint32_t shape = script_.add_shape(send_to(1), {});
  const std::uint64_t step = script_.add_step(0, shape, std::uint64_t{1} << 33, 0, 0);
  script_.add_step(0, shape, 0, 0, 0);
  const std::uint32_t other = script_.add_shape(send_to(2), {});
  script_.change_shape(0, step, other);
  EXPECT_EQ(script_.steps(0)[1].shape, other);
  EXPECT_EQ(script_.steps(0)[2].shape, shape);
}

TEST_F(CallScriptTest, ManyStepsKeepTheirOrder) {
  for (std::uint32_t i = 0; i < 300'000; ++i) {
    const std::uint32_t shape = script_.add_shape(send_to(static_cast<std::int32_t>(i % 100'000)), {});
    script_.add_step(0, shape, i, 0, kNothing);
  }
  const auto steps = script_.steps(0);
  ASSERT_EQ(steps.size(), 300'000U);
  for (std::uint32_t i = 0; i < 300'000; i += 997) {
    ASSERT_EQ(steps[i].pause, i);
    ASSERT_EQ(script_.shape(steps[i].shape).peer, static_cast<std::int32_t>(i % 100'000));
  }
}

TEST(ScratchFileTest, AFolderThatIsNotThereIsSaid) {
  try {
    const ScratchFile file("/nowhere/at/all");
    FAIL();
  } catch (const ReplayError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot create a file in '/nowhere/at/all'"));
  }
}

}  // namespace
}  // namespace ardoise::replay

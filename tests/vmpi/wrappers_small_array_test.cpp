// The array for copies during one call: on the stack while small.
#include <gtest/gtest.h>

#include "vmpi/wrappers/small_array.hpp"

namespace ardoise::vmpi {
namespace {

TEST(SmallArray, SmallOnesLieInTheObject) {
  SmallArray<int, 4> array(4);
  const char* const begin = reinterpret_cast<const char*>(&array);
  const char* const data = reinterpret_cast<const char*>(array.data());
  EXPECT_TRUE(data >= begin && data < begin + sizeof array);
}

TEST(SmallArray, LargeOnesHoldAllElements) {
  SmallArray<int, 4> array(1000);
  for (std::size_t i = 0; i < array.size(); ++i) array[i] = static_cast<int>(i);
  EXPECT_EQ(array.size(), 1000u);
  EXPECT_EQ(array[999], 999);
  array.resize(2000);
  array[1999] = 1;
  array.resize(3);
  EXPECT_EQ(array.size(), 3u);
}

TEST(SmallArray, WithoutMemoryItIsEmpty) {
  SmallArray<char, 4> array(static_cast<std::size_t>(-1) / 2);
  EXPECT_EQ(array.size(), 0u);
}

}  // namespace
}  // namespace ardoise::vmpi

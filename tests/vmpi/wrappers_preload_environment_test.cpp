// LD_PRELOAD loses only the entry of Ardoise.
#include <gtest/gtest.h>

#include <cstdlib>

#include "vmpi/loader/preload_environment.hpp"

namespace ardoise::vmpi {
namespace {

TEST(PreloadEnvironment, OwnEntryGoesOthersStay) {
  EXPECT_EQ(without_own_entries("/opt/lib/libvmpi.so"), "");
  EXPECT_EQ(without_own_entries("libardoise.so"), "");
  EXPECT_EQ(without_own_entries("/a/libardoise.so.0.1.0:/b/libother.so"), "/b/libother.so");
  EXPECT_EQ(without_own_entries("/b/libfirst.so /x/libvmpi.so.0 libsecond.so"), "/b/libfirst.so:libsecond.so");
}

TEST(PreloadEnvironment, LibraryUnderAnotherNameIsOwn) {
  EXPECT_EQ(without_own_entries("/x/libmine.so:/y/libother.so", "/z/libmine.so"), "/y/libother.so");
}

TEST(PreloadEnvironment, SimilarNamesAreNotOurs) {
  EXPECT_EQ(without_own_entries("/a/libvmpi.so/libother.so"), "/a/libvmpi.so/libother.so");
  EXPECT_EQ(without_own_entries("mylibvmpi.so:libvmpi.sol"), "mylibvmpi.so:libvmpi.sol");
}

TEST(PreloadEnvironment, EmptyListsStayEmpty) {
  EXPECT_EQ(without_own_entries("/lib/libasan.so.8:/x/libardoise.so:libother.so"), "libother.so");
  EXPECT_EQ(without_own_entries("/lib/libasan.so.8:libother.so"), "/lib/libasan.so.8:libother.so");
  EXPECT_EQ(without_own_entries("first.so:/lib/libasan.so.8:libardoise.so"), "first.so:/lib/libasan.so.8");
  EXPECT_EQ(without_own_entries(""), "");
  EXPECT_EQ(without_own_entries(" : :"), "");
}

TEST(PreloadEnvironment, VariableDisappearsWithItsLastEntry) {
  setenv("LD_PRELOAD", "/a/libvmpi.so", 1);
  remove_own_preload();
  EXPECT_EQ(std::getenv("LD_PRELOAD"), nullptr);
  setenv("LD_PRELOAD", "/a/libvmpi.so:/b/libtool.so", 1);
  remove_own_preload();
  EXPECT_STREQ(std::getenv("LD_PRELOAD"), "/b/libtool.so");
  setenv("LD_PRELOAD", "/b/libtool.so /c/libmore.so", 1);
  remove_own_preload();
  EXPECT_STREQ(std::getenv("LD_PRELOAD"), "/b/libtool.so /c/libmore.so") << "nothing of ours, nothing to change";
  unsetenv("LD_PRELOAD");
}

}  // namespace
}  // namespace ardoise::vmpi

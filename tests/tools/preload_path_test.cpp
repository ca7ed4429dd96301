#include "tools/ardoise/launch/preload_path.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

TEST(PreloadPath, ALibraryIsNamedAsItIs) {
  EXPECT_EQ(PreloadPath("/opt/ü/lib/libardoise.so").path(), "/opt/ü/lib/libardoise.so");
}

TEST(PreloadPath, AFolderWithABlankOrColonIsReachedByALink) {
  for (const char* const folder : {"a b", "a:b"}) {
    std::string unique = (fs::path(::testing::TempDir()) / "preload_path_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    const fs::path library = fs::path(unique) / folder / "libardoise.so";
    fs::create_directory(library.parent_path());
    std::ofstream(library) << "x";
    fs::path link;
    {
      const PreloadPath path(library);
      link = path.path();
      EXPECT_EQ(link.native().find_first_of(" :"), std::string::npos) << link;
      EXPECT_EQ(link.filename(), "libardoise.so") << "by which the library finds its own entry";
      EXPECT_TRUE(fs::equivalent(link, library));
    }
    EXPECT_FALSE(fs::exists(link.parent_path()));
    fs::remove_all(unique);
  }
}

}  // namespace
}  // namespace ardoise::launcher

// Call sites, files, handles: the small tables of the recorder.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>

#include "instrument/format/definition_reader.hpp"
#include "instrument/record/call_sites.hpp"
#include "instrument/record/file_accesses.hpp"
#include "instrument/record/files.hpp"
#include "instrument/record/handle_ids.hpp"
#include "instrument/record/id_cache.hpp"

extern "C" int mpi_application_write(const char* path, int times);

namespace ardoise::instrument {
namespace {

class TablesTest : public testing::Test {
 protected:
  template <class Decoded>
  std::vector<Decoded> defined() {
    std::vector<Decoded> all;
    bins_ = queue_.take();
    for (Bin* bin : bins_) {
      DefinitionReader reader({bin->payload(), bin->header.payload_bytes});
      while (const auto definition = reader.next()) {
        if (const auto* wanted = std::get_if<Decoded>(&*definition)) all.push_back(*wanted);
      }
    }
    return all;
  }

  BinPool pool_{8 * 65536, 65536};
  DefinitionQueue queue_{pool_};
  std::vector<Bin*> bins_;
};

int some_function(int value) { return value + 1; }

TEST_F(TablesTest, CallSiteIsDefinedOnceWithItsModule) {
  CallSites sites(queue_);
  const auto here = reinterpret_cast<std::uint64_t>(&some_function);
  const std::uint32_t id = sites.id_of(here);
  EXPECT_GT(id, kMpiCallSite);
  EXPECT_EQ(sites.id_of(here), id);
  bins_ = queue_.take();
  ASSERT_EQ(bins_.size(), 1u);
  DefinitionReader reader({bins_[0]->payload(), bins_[0]->header.payload_bytes});
  const auto module = std::get<DecodedModule>(reader.next().value());
  EXPECT_TRUE(module.path.ends_with("recorder_test")) << module.path;
  const auto site = std::get<DecodedCallSite>(reader.next().value());
  EXPECT_EQ(site.fixed.call_site, id);
  EXPECT_EQ(site.fixed.offset + module.fixed.base, here);
  EXPECT_FALSE(reader.next().has_value());
}

TEST_F(TablesTest, AddressWithoutModuleIsACallSiteToo) {
  CallSites sites(queue_);
  const std::uint32_t id = sites.id_of(16);
  EXPECT_GT(id, kMpiCallSite);
  const auto all = defined<DecodedCallSite>();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].fixed.module, 0xFFFFFFFFu);
  EXPECT_EQ(sites.id_of(0), kNoCallSite);
}

TEST(CallSiteId, DependsOnNameBuildAndOffsetOnly) {
  EXPECT_EQ(call_site_id("a", "b", 1), call_site_id("a", "b", 1));
  EXPECT_NE(call_site_id("a", "b", 1), call_site_id("a", "b", 2));
  EXPECT_NE(call_site_id("a", "b", 1), call_site_id("ab", "", 1));
}

// The program is linked with a library with a name that begins like those of MPI.
TEST(Modules, TheObjectsOfMpiAreFound) {
  const auto is_mpi = [](const void* address) {
    const std::optional<Module> module = find_module(address);
    return module && module->is_mpi;
  };
  // Missing if the linker omitted MPICH's library, since this program calls no MPI function.
  if (const void* const init = ::dlsym(RTLD_DEFAULT, "PMPI_Init")) {
    EXPECT_TRUE(is_mpi(init));
  }
  EXPECT_FALSE(is_mpi(reinterpret_cast<const void*>(&some_function)));
  EXPECT_FALSE(is_mpi(reinterpret_cast<const void*>(&mpi_application_write)));
  EXPECT_FALSE(is_mpi(::dlsym(RTLD_DEFAULT, "printf"))) << "the C library";
  if (const void* const inner = ::dlsym(RTLD_DEFAULT, "opal_init")) {
    EXPECT_TRUE(is_mpi(inner)) << "Open MPI's inner library";
  }
  if (const void* const inner = ::dlsym(RTLD_DEFAULT, "hwloc_topology_init")) {
    EXPECT_TRUE(is_mpi(inner)) << "only MPI needs it";
  }
}

TEST_F(TablesTest, DescriptorsAreNamedByTheSystem) {
  Files files(queue_);
  std::array<char, 32> name = {"/tmp/ardoise_files_XXXXXX"};
  const int descriptor = ::mkstemp(name.data());
  ASSERT_GE(descriptor, 0);
  const std::uint32_t number = files.of_descriptor(descriptor);
  EXPECT_EQ(files.of_descriptor(descriptor), number);
  EXPECT_EQ(files.of_path(name.data()), number);
  ::unlink(name.data());
  files.forget(descriptor);
  EXPECT_EQ(files.of_descriptor(descriptor), number) << "a deleted file keeps its name";
  ::close(descriptor);
  files.forget(descriptor);
  EXPECT_EQ(files.of_descriptor(descriptor), Files::kUnknown);
  EXPECT_EQ(files.of_descriptor(-1), Files::kUnknown);
  const auto all = defined<DecodedFile>();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].path, name.data());
}

TEST_F(TablesTest, ReusedDescriptorGetsItsNewName) {
  Files files(queue_);
  const int first = ::open("/dev/null", O_RDONLY);
  const std::uint32_t before = files.of_descriptor(first);
  ::close(first);
  const int second = ::open("/dev/zero", O_RDONLY);
  ASSERT_EQ(first, second);
  EXPECT_EQ(files.of_descriptor(second), before) << "a change that it does not know";
  files.forget(second);
  EXPECT_NE(files.of_descriptor(second), before);
  ::close(second);
}

TEST_F(TablesTest, AFileThatIsOpenedAgainIsTheSame) {
  Files files(queue_);
  std::array<char, 32> folder = {"/tmp/ardoise_opened_XXXXXX"};
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string directory = folder.data(), one = directory + "/one", two = directory + "/two";
  const auto number_of = [&](const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    files.forget(descriptor);
    const std::uint32_t number = files.opened(descriptor, path.c_str());
    EXPECT_EQ(files.of_descriptor(descriptor), number);
    ::close(descriptor);
    return number;
  };
  const std::uint32_t first = number_of(one), other = number_of(two);
  EXPECT_NE(first, other);
  EXPECT_EQ(first, files.of_path(one));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(number_of(one), first);
  ASSERT_EQ(::rename(one.c_str(), two.c_str()), 0);
  EXPECT_EQ(number_of(two), other) << "the path decides";
  EXPECT_EQ(number_of(one), first);

  // A link that leads elsewhere from now on.
  const std::string link = directory + "/newest";
  ASSERT_EQ(::symlink("one", link.c_str()), 0);
  EXPECT_EQ(number_of(link), first);
  ASSERT_EQ(::unlink(link.c_str()), 0);
  ASSERT_EQ(::symlink("two", link.c_str()), 0);
  EXPECT_EQ(number_of(link), other);

  const int device = ::open("/dev/null", O_RDONLY);
  EXPECT_EQ(files.opened(device, "/dev/null"), files.of_path("/dev/null"));
  files.forget(device);
  EXPECT_EQ(files.opened(device, nullptr), files.of_path("/dev/null"));
  ::close(device);
  EXPECT_EQ(files.opened(-1, one.c_str()), Files::kUnknown);
  std::filesystem::remove_all(directory);
}

TEST_F(TablesTest, TooManyFilesShareANumber) {
  Files files(queue_);
  std::set<std::uint32_t> numbers;
  for (std::size_t i = 0; i < Files::kMaxFiles; ++i) numbers.insert(files.of_path("/f/" + std::to_string(i)));
  EXPECT_EQ(numbers.size(), Files::kMaxFiles);
  const std::uint32_t rest = files.of_path("/one/more");
  EXPECT_FALSE(numbers.contains(rest));
  EXPECT_EQ(files.of_path("/and/another"), rest);
  const auto all = defined<DecodedFile>();
  ASSERT_EQ(all.size(), Files::kMaxFiles + 1);
  EXPECT_EQ(all.back().fixed.file, rest);
  EXPECT_EQ(all.back().path, "(further files)");
}

TEST(DisplayPath, SaysWhatAUserUnderstands) {
  const auto shown = [](int descriptor, std::string_view link) {
    std::array<char, 64> room;
    return std::string(display_path(descriptor, link, room));
  };
  EXPECT_EQ(shown(5, "/data/x (deleted)"), "/data/x");
  EXPECT_EQ(shown(5, "socket:[4711]"), "(socket)");
  EXPECT_EQ(shown(5, "pipe:[1]"), "(pipe)");
  EXPECT_EQ(shown(5, "anon_inode:[eventfd]"), "(eventfd)");
  EXPECT_EQ(shown(5, "anon_inode:inotify"), "(inotify)");
  EXPECT_EQ(shown(1, "pipe:[1]"), "(standard output)");
  EXPECT_EQ(shown(2, "/dev/pts/0"), "(standard error)");
  EXPECT_EQ(shown(1, "/home/me/out.txt"), "/home/me/out.txt");
}

TEST(HandleIds, GenerationTellsOfEveryChange) {
  HandleIds ids;
  const std::uint32_t start = ids.generation();
  ids.put(7, 1);
  EXPECT_NE(ids.generation(), start);
  EXPECT_EQ(ids.find(7, 99), 1u);
  const std::uint32_t known = ids.generation();
  ids.erase(8);
  EXPECT_EQ(ids.generation(), known);
  ids.erase(7);
  EXPECT_NE(ids.generation(), known);
  EXPECT_EQ(ids.find(7, 99), 99u);
  EXPECT_NE(handle_key(HandleKind::kComm, 5), handle_key(HandleKind::kFile, 5));
}

TEST(IdCache, RemembersUntilOverwritten) {
  IdCache<4> cache;
  EXPECT_EQ(cache.find(1), 0u);
  for (std::uint64_t key = 1; key <= 100; ++key) {
    cache.put(key, static_cast<std::uint32_t>(key));
    EXPECT_EQ(cache.find(key), key);
  }
  cache.clear();
  EXPECT_EQ(cache.find(100), 0u);
}

TEST_F(TablesTest, AccessesAreToldBySequenceAndSize) {
  FileAccesses accesses;
  const auto add = [&](std::int64_t position, std::uint64_t bytes, bool write) {
    accesses.add(3, 7, position, bytes, write);
  };
  for (int i = 0; i < 5; ++i) add(FileAccesses::kHere, 100, false);  // one after the other
  accesses.move_to(7, 0);
  add(FileAccesses::kHere, 1024, true);                              // back
  for (int i = 1; i <= 4; ++i) add(1024 + 5000 * i, 1000, true);     // on by 5000, then three times by 4000
  add(1 << 30, (4 << 20) + 1, false);                                // on
  accesses.add(0, 7, 0, 1, false);                                   // of no file
  for (int i = 0; i < 3; ++i) accesses.add(4, 8, 10 * i, 1, false);  // too few to tell
  accesses.define(queue_);
  const auto all = defined<DecodedFileAccess>();
  ASSERT_EQ(all.size(), 1u);
  const FileAccessDefinition& told = all[0].fixed;
  EXPECT_EQ(told.file, 3u);
  EXPECT_EQ(told.consecutive, 4u);
  EXPECT_EQ(told.backward, 1u);
  EXPECT_EQ(told.strided, 2u);
  EXPECT_EQ(told.forward, 3u) << "by 5000, the first time by 4000, the last";
  EXPECT_EQ(told.reads[0], 5u);
  EXPECT_EQ(told.writes[1], 5u);
  EXPECT_EQ(told.reads[6], 1u);
}

}  // namespace
}  // namespace ardoise::instrument

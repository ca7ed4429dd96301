// Python's structures made by hand for version 3.11: code objects are read, and garbage causes no fault. The
// interpreters themselves: tests/tools/python_test.cpp.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "instrument/format/definition_reader.hpp"
#include "instrument/python/checked_memory.hpp"
#include "instrument/python/codes.hpp"

namespace ardoise::instrument::python {
namespace {

const Layout& layout() { return *layout_of("3.11.2 (main, Mar 13 2023) [GCC 12.2.0]"); }

template <class T>
void put(std::string& object, std::size_t at, T value) {
  if (object.size() < at + sizeof(T)) object.resize(at + sizeof(T));
  std::memcpy(object.data() + at, &value, sizeof(T));
}
std::uint64_t address(const std::string& object) { return reinterpret_cast<std::uint64_t>(object.data()); }

// A str of characters of `kind` bytes.
std::string text_object(const std::u32string& characters, std::uint32_t kind, bool ascii) {
  std::string object;
  put<std::uint64_t>(object, kTextLength, characters.size());
  put<std::uint32_t>(object, kTextState, kind << 2 | 32u | (ascii ? 64u : 0u));
  const std::size_t at = ascii ? layout().ascii : layout().compact;
  object.resize(at);
  for (const char32_t character : characters) {
    const auto value = static_cast<std::uint32_t>(character);
    object.append(reinterpret_cast<const char*>(&value), kind);
  }
  return object;
}

class PythonTest : public ::testing::Test {
 protected:
  std::string code(const std::string& name, const std::string& file, std::uint32_t line) {
    std::string object(256, '\0');
    put(object, layout().name, address(name));
    put(object, layout().file, address(file));
    put(object, layout().lines, address(lines_));
    put(object, layout().first_line, line);
    return object;
  }
  std::vector<DecodedPythonCode> defined() {
    std::vector<DecodedPythonCode> all;
    for (Bin* const bin : queue_.take()) {
      DefinitionReader reader({bin->payload(), bin->header.payload_bytes});
      while (const auto next = reader.next()) {
        if (const auto* one = std::get_if<DecodedPythonCode>(&*next)) all.push_back(*one);
      }
    }
    return all;
  }
  static std::string lines() {
    std::string object(kBytes, '\0');
    put<std::uint64_t>(object, kSize, 3);
    return object + "abc";
  }

  BinPool pool_{1 << 20, 32 << 10, 0.5};
  DefinitionQueue queue_{pool_};
  Codes codes_{queue_};
  CheckedMemory memory_;
  std::string lines_ = lines();
};

TEST_F(PythonTest, ACodeObjectIsDefinedOnce) {
  const std::string name = text_object(U"Solver.step", 1, true), file = text_object(U"/src/sölver.py", 1, false);
  const std::string one = code(name, file, 12), other = code(name, file, 40);
  const std::uint32_t number = codes_.number_of(address(one), layout(), memory_);
  EXPECT_GT(number, kImport);
  EXPECT_EQ(codes_.number_of(address(one), layout(), memory_), number);
  EXPECT_NE(codes_.number_of(address(other), layout(), memory_), number);
  EXPECT_NE(codes_.hash_of(number), 0u);
  auto all = defined();
  ASSERT_EQ(all.size(), 2u);
  if (all[0].fixed.code != number) std::swap(all[0], all[1]);
  EXPECT_EQ(all[0].fixed.code, number);
  EXPECT_EQ(all[0].fixed.minor, 11u);
  EXPECT_EQ(all[0].fixed.first_line, 12u);
  EXPECT_EQ(all[0].name, "Solver.step");
  EXPECT_EQ(all[0].file, "/src/sölver.py");
  EXPECT_EQ(all[0].lines, "abc");
}

TEST_F(PythonTest, NamesOfAllKindsBecomeUtf8) {
  const std::string file = text_object(U"f", 1, true);
  const std::string greek = text_object(U"αβ", 2, false), smile = text_object(U"\U0001F600", 4, false);
  (void)codes_.number_of(address(code(greek, file, 1)), layout(), memory_);
  (void)codes_.number_of(address(code(smile, file, 2)), layout(), memory_);
  for (const auto& each : defined()) EXPECT_EQ(each.name, each.fixed.first_line == 1 ? "αβ" : "\U0001F600");
}

TEST_F(PythonTest, TheImportOfModulesIsOneFunction) {
  const std::string name = text_object(U"_find_and_load", 1, true),
                    file = text_object(U"<frozen importlib._bootstrap>", 1, true);
  EXPECT_EQ(codes_.number_of(address(code(name, file, 1)), layout(), memory_), kImport);
  EXPECT_EQ(codes_.number_of(address(code(name, file, 2)), layout(), memory_), kImport);
  EXPECT_TRUE(defined().empty());
}

TEST_F(PythonTest, GarbageIsNotRead) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const gone = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(gone, MAP_FAILED);
  ::munmap(static_cast<char*>(gone) + page, page);
  const auto end = reinterpret_cast<std::uint64_t>(gone) + page;
  for (const std::uint64_t bad : {std::uint64_t{0}, std::uint64_t{8}, end, end - 64, ~std::uint64_t{0} - 64}) {
    EXPECT_EQ(codes_.number_of(bad, layout(), memory_), kNoCode) << bad;
  }
  // A code object without texts.
  std::string object = code(std::string(), std::string(), 1);
  put(object, layout().name, end);
  put(object, layout().file, end - 8);
  put(object, layout().lines, std::uint64_t{3});
  EXPECT_NE(codes_.number_of(address(object), layout(), memory_), kNoCode);
  for (const auto& each : defined()) EXPECT_EQ(each.name, "");
  ::munmap(gone, page);
}

TEST(PythonLayout, OfKnownVersionsOnly) {
  EXPECT_EQ(layout_of("3.13.0 (main)")->minor, 13u);
  EXPECT_EQ(layout_of("3.13.0 experimental free-threading build (main)"), nullptr);
  EXPECT_EQ(layout_of("3.8.18 (main)"), nullptr);
  EXPECT_EQ(layout_of("3.14.0 (main)"), nullptr);
  EXPECT_EQ(layout_of("2.7.18 (default)"), nullptr);
}

}  // namespace
}  // namespace ardoise::instrument::python

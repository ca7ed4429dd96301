// Call sites to function, file and line: with debug information, with it in a separate file, without.
#include "knowledge_sources/symbols/symbolizer.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "knowledge_sources/symbols/symbol_name.hpp"

// Called by the library; what it returns is the call site.
extern "C" [[gnu::visibility("default"), gnu::noinline]] void* current_return_address() {
  return __builtin_return_address(0);
}

namespace ardoise::knowledge_sources {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

const std::string kDirectory = TEST_TARGETS;

// The return address in the library of the call that `function` makes.
std::uint64_t call_site(const char* function) {
  static void* const library = dlopen((kDirectory + "symbolizer_target.so").c_str(), RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto* const call = reinterpret_cast<void* (*)()>(dlsym(library, function));
  void* const address = call();
  Dl_info info;
  if (dladdr(address, &info) == 0) throw std::runtime_error("no library at the call site");
  return static_cast<std::uint64_t>(static_cast<char*>(address) - static_cast<char*>(info.dli_fbase));
}

TEST(SymbolName, CopiesAndPartsOfFunctionsAreReadable) {
  EXPECT_EQ(readable_symbol("_ZN4Grid4stepEi"), "Grid::step(int)");
  EXPECT_EQ(readable_symbol("_ZN4Grid4stepEi.constprop.0"), "Grid::step(int)");
  EXPECT_EQ(readable_symbol("_ZL4calcPdi._omp_fn.0"), "calc(double*, int) [OpenMP region 1]");
  EXPECT_EQ(readable_symbol("solve._omp_fn.2"), "solve [OpenMP region 3]");
  EXPECT_EQ(readable_symbol("solve.omp_outlined"), "solve [OpenMP region]");
  EXPECT_EQ(readable_symbol("solve.omp_outlined.1"), "solve [OpenMP region 1]");
  for (const char* other : {"solve", "a.b", ".omp_outlined.", ""}) EXPECT_EQ(readable_symbol(other), other);
}

TEST(SymbolName, FunctionsOfCWithNamesOfMangledTypesKeepTheirNames) {
  std::vector<std::string> names;
  for (char c = 'A'; c <= 'Z'; ++c)
    names.insert(names.end(), {std::string(1, c), std::string(1, static_cast<char>(c + 32))});
  names.insert(names.end(), {"Pd", "PKc", "St", "Ss", "Dn", "FivE", "i", "_", "Z3foov", "_GLOBAL__sub_I_a"});
  for (const std::string& name : names) {
    EXPECT_EQ(readable_symbol(name), name);
    EXPECT_EQ(readable_symbol(name + ".constprop.0"), name);
    EXPECT_EQ(readable_symbol(name + "._omp_fn.0"), name + " [OpenMP region 1]");
  }
}

TEST(Symbolizer, FunctionFileAndLine) {
  Symbolizer symbolizer;
  const auto frame = symbolizer.find(kDirectory + "symbolizer_target.so", "", call_site("call_plain"));
  EXPECT_EQ(frame.symbol, "target::Solver::exchange_halo(int)");
  EXPECT_THAT(frame.source_file, EndsWith("tests/knowledge_sources/symbolizer_target.cpp"));
  EXPECT_EQ(frame.line, 14u);
}

TEST(Symbolizer, InlinedFramesInnermostFirst) {
  Symbolizer symbolizer;
  const auto frames = symbolizer.frames(kDirectory + "symbolizer_target.so", "", call_site("call_inlined"));
  ASSERT_GE(frames.size(), 2u);
  EXPECT_EQ(frames[0].symbol, "target::inner_function()");
  EXPECT_EQ(frames[0].line, 8u);
  EXPECT_EQ(frames[1].symbol, "target::Solver::exchange_inlined()");
  EXPECT_EQ(frames[1].line, 18u);
  EXPECT_THAT(frames[1].source_file, EndsWith("symbolizer_target.cpp"));
}

TEST(Symbolizer, SeparateDebugFile) {
  Symbolizer symbolizer;
  const auto frame = symbolizer.find(kDirectory + "linked.so", "", call_site("call_plain"));
  EXPECT_EQ(frame.symbol, "target::Solver::exchange_halo(int)");
  EXPECT_EQ(frame.line, 14u);
}

// The build id in a file, in hex: the note of type 3 by "GNU".
std::string build_id_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::string note("\4\0\0\0\24\0\0\0\3\0\0\0GNU\0", 16);
  const std::size_t place = bytes.find(note);
  if (place == std::string::npos) throw std::runtime_error("no build id in " + path);
  std::string text;
  for (std::size_t i = 0; i < 20; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(bytes[place + note.size() + i]);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

TEST(Symbolizer, DebugFileByBuildId) {
  const std::string stripped = kDirectory + "stripped.so", id = build_id_of(stripped);
  const std::filesystem::path debug = kDirectory + "by_build_id", folder = debug / ".build-id" / id.substr(0, 2);
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(kDirectory + "linked.debug", folder / (id.substr(2) + ".debug"),
                             std::filesystem::copy_options::overwrite_existing);
  Symbolizer symbolizer(debug.string());
  const auto frame = symbolizer.find(stripped, id, call_site("call_plain"));
  EXPECT_EQ(frame.symbol, "target::Solver::exchange_halo(int)");
  EXPECT_EQ(frame.line, 14u);
}

TEST(Symbolizer, WhereAFunctionBegins) {
  Symbolizer symbolizer;
  const auto frames = symbolizer.frames(kDirectory + "symbolizer_target.so", "", call_site("call_inlined"));
  ASSERT_GE(frames.size(), 2u);
  EXPECT_EQ(frames[0].function_line, 8u);
  EXPECT_THAT(frames[0].function_file, EndsWith("symbolizer_target.cpp"));
  EXPECT_EQ(frames[1].function_line, 17u);
}

TEST(Symbolizer, ExportedNamesOfAStrippedLibrary) {
  Symbolizer symbolizer;
  const auto frame = symbolizer.find(kDirectory + "stripped.so", "", call_site("call_exported"));
  EXPECT_EQ(frame.symbol, "call_exported");
  EXPECT_EQ(frame.source_file, "");
  EXPECT_EQ(frame.line, 0u);
  EXPECT_EQ(symbolizer.find(kDirectory + "stripped.so", "", call_site("call_plain")).symbol, "")
      << "a function that is not exported must not be taken for its neighbour";
}

TEST(Symbolizer, WhatCannotBeReadIsEmpty) {
  Symbolizer symbolizer;
  const std::string text = kDirectory + "not_a_binary";
  std::ofstream(text) << "no ELF here";
  const std::string cut = kDirectory + "cut.so";
  std::filesystem::copy_file(kDirectory + "symbolizer_target.so", cut,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(cut, 3000);
  for (const auto& path :
       {std::string("/no/such/file"), kDirectory, std::string(""), std::string("[vdso]"), text, cut}) {
    EXPECT_EQ(symbolizer.find(path, "", 0x1000).symbol, "") << path;
  }
  const std::string good = kDirectory + "symbolizer_target.so";
  EXPECT_EQ(symbolizer.find(good, "", 0).symbol, "");
  EXPECT_EQ(symbolizer.find(good, "", ~std::uint64_t{0}).symbol, "");
  EXPECT_EQ(symbolizer.find(good, "", 1u << 30).symbol, "");
}

TEST(Symbolizer, AnotherBuildIsNotBelieved) {
  Symbolizer symbolizer;
  const auto site = call_site("call_plain");
  const std::string path = kDirectory + "symbolizer_target.so";
  EXPECT_EQ(symbolizer.find(path, "00112233445566778899aabbccddeeff00112233", site).symbol, "");
  EXPECT_NE(symbolizer.find(path, "", site).symbol, "");
}

}  // namespace
}  // namespace ardoise::knowledge_sources

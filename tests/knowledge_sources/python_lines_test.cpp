// Line tables of CPython 3.9 to 3.13 for one function, with expressions over several lines, a comprehension and a gap
// of 150 lines, against the results of their own co_lines() (3.9: dis.findlinestarts).
#include "knowledge_sources/symbols/python_lines.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace ardoise::knowledge_sources {
namespace {

struct Table {
  friend void PrintTo(const Table& table, std::ostream* out) { *out << "3." << table.minor; }
  std::uint32_t minor;
  std::string hex;
  std::string lines;  // "instruction,line;…", the last instruction of each range
};

const std::vector<Table> kTables{
    {9, "000204010c020801040102ff0803020202fe080106ff040202fe040202fe067f001b0801020102ff0602",
     "2,4;14,5;22,7;26,8;28,9;36,8;38,11;40,13;48,11;54,12;58,11;60,13;64,11;66,13;72,11;80,165;82,166;84,167;90,166;"
     "94,168"},
    {10, "04020c0108020401020108ff0203020208fe060104ff020204fe020206fe007f081b0201020104ff08ff0403",
     "2,4;14,5;22,7;26,8;28,9;36,8;38,11;40,13;48,11;54,12;58,11;60,13;64,11;66,13;72,11;80,165;82,166;84,167;88,166;"
     "96,165;100,168"},
    {11,
     "8000e00c0d8045dd0d12903189588c58f00008051ef00008051e8801e00b0c88718935f00006091ed80c119061d81617f103011718f100010"
     "d1988458845f006000d12e01516f00502161ef00002160ef00002160edd1b20a01199389c38f00302160ef10002160ef40002160ee00e10f4"
     "05021612f000021612e01c1df105020d1e88458845f07404000b1090228a2a882ad8080dd80c0df10301090f8805f003000b1090228a2a882"
     "af006000c11804c",
     "0,2;2,4;4,4;16,5;18,5;22,5;32,5;34,5;36,5;38,5;40,7;42,7;46,7;48,7;50,8;52,8;54,9;58,8;62,8;64,8;66,8;68,11;70,"
     "13;72,11;74,11;76,11;88,12;90,12;94,12;104,12;106,11;110,11;120,11;122,13;132,11;134,11;136,13;140,11;142,11;144,"
     "11;146,165;148,165;154,165;156,165;158,166;160,167;164,166;166,166;168,165;170,165;176,165;178,165;180,168;182,"
     "168"},
    {12,
     "8000e00c0d8045dc0d1290318b58f20008051e8801e00b0c88718a35d80c119061d81617f103011718f100010d198945f006000d12e11516f"
     "403001c21a0119b38f60302160ed816179201f20302160ee00e10f205021612e01c1df105020d1e8945f00d08051ef04005000b1090228a2a"
     "d8080dd80c0df10301090f8805f003000b1090228b2af006000c11804cf9f27b0402160e",
     "0,2;4,4;32,5;42,7;46,8;48,9;60,8;62,11;66,13;86,12;100,11;108,12;114,11;116,13;122,11;124,13;132,11;134,5;144,"
     "165;146,166;148,167;154,166;166,165;170,168;174,2;180,11"},
    {13,
     "8000e00c0d8045dc0d1290318e588801e00b0c88718f35d80c11d81617f103011718f100010d198a45f006000d12e61516f403001c21a0119"
     "c38f30302160ed91b23906192019938f10302160ee00e10f205021612e01c1df105020d1e8a45f10d000e16f04005000b1090228b2ad8080d"
     "d80c0df10301090f8805f003000b1090228d2af006000c11804cf9f27b0402160e",
     "0,2;4,4;32,5;52,7;54,8;56,9;70,8;72,11;86,13;108,12;116,11;132,12;136,11;138,13;144,11;146,13;156,11;160,5;172,"
     "165;174,166;176,167;182,166;198,165;202,168;206,2;212,11"},
};

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

class PythonLines : public ::testing::TestWithParam<Table> {};

TEST_P(PythonLines, AreThoseOfTheInterpreter) {
  const std::string table = bytes_of(GetParam().hex);
  const char* text = GetParam().lines.c_str();
  int compared = 0;
  while (*text != '\0') {
    char* rest = nullptr;
    const auto instruction = static_cast<std::uint32_t>(std::strtoul(text, &rest, 10));
    const auto line = static_cast<std::uint32_t>(std::strtoul(rest + 1, &rest, 10));
    EXPECT_EQ(python_line(table, GetParam().minor, 2, instruction), line) << "instruction " << instruction;
    text = *rest == ';' ? rest + 1 : rest;
    ++compared;
  }
  EXPECT_GT(compared, 15);
}

// Tables come from a stream.
TEST_P(PythonLines, CutAndBrokenTablesEnd) {
  std::string table = bytes_of(GetParam().hex);
  for (std::size_t length = 0; length < table.size(); ++length)
    (void)python_line(table.substr(0, length), GetParam().minor, 2, 100000);
  for (char& byte : table) byte = static_cast<char>(0xFF);
  (void)python_line(table, GetParam().minor, 2, 100000);
  EXPECT_EQ(python_line("", GetParam().minor, 7, 0), 7u);
}

INSTANTIATE_TEST_SUITE_P(Versions, PythonLines, ::testing::ValuesIn(kTables));

}  // namespace
}  // namespace ardoise::knowledge_sources

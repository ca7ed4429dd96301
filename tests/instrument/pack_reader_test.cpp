// check_pack(): good packs pass with their records, every spoiled field is refused.
#include "instrument/format/pack_reader.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "instrument/format/posix_functions.hpp"
#include "tests/instrument/make_pack.hpp"

namespace ardoise::instrument {
namespace {

Pack mpi_pack() {
  const std::vector<MpiRecord> records{{10, 5, 7, 1, 2, 64, make_word(0, 3, Shape::kSend)},
                                       {20, 5, 7, 1, 2, 64, make_word(0, 3, Shape::kSend)}};
  return make_record_pack(PackClass::kMpi, std::span(records));
}

TEST(CheckPack, GoodPackGivesItsRecords) {
  const Pack pack = mpi_pack();
  const PackCheck check = check_pack(pack.bytes());
  ASSERT_TRUE(check) << check.error;
  ASSERT_EQ(check.pack->records<MpiRecord>().size(), 2u);
  EXPECT_EQ(check.pack->records<MpiRecord>()[1].begin, 20u);
  EXPECT_EQ(check.pack->bytes(), pack.bytes().size());
}

TEST(CheckPack, BytesBehindThePackAreIgnored) {
  Pack pack = mpi_pack();
  pack.storage.resize(pack.storage.size() + 100);
  const PackCheck check = check_pack(pack.bytes());
  ASSERT_TRUE(check) << check.error;
  EXPECT_EQ(check.pack->records<MpiRecord>().size(), 2u);
}

TEST(CheckPack, LongerHeaderOfALaterWriterIsSkipped) {
  const std::vector<MpiRecord> records{MpiRecord{}, MpiRecord{1, 2, 3, 4, 5, 6, 7}};
  Pack pack = make_record_pack(PackClass::kMpi, std::span(records));
  pack.header().header_bytes = sizeof(PackHeader) + sizeof(MpiRecord);
  pack.header().payload_bytes = sizeof(MpiRecord);
  pack.header().record_count = 1;
  const PackCheck check = check_pack(pack.bytes());
  ASSERT_TRUE(check) << check.error;
  EXPECT_EQ(check.pack->records<MpiRecord>()[0].begin, 1u);
}

TEST(CheckPack, EverySpoiledHeaderIsRefusedWithAReason) {
  const std::vector<std::pair<std::function<void(PackHeader&)>, std::string>> faults{
      {[](PackHeader& h) { h.magic ^= 1; }, "magic"},
      {[](PackHeader& h) { h.version = 99; }, "version 99"},
      {[](PackHeader& h) { h.header_bytes = 184; }, "header of 184"},
      {[](PackHeader& h) { h.header_bytes = 196; }, "header of 196"},
      {[](PackHeader& h) { h.header_bytes = 65528; }, "header of 65528"},
      {[](PackHeader& h) { h.payload_bytes += 32; }, "ends after"},
      {[](PackHeader& h) { h.payload_bytes = std::numeric_limits<std::uint32_t>::max(); }, "ends after"},
      {[](PackHeader& h) { h.payload_bytes -= 8; }, "do not fill"},
      {[](PackHeader& h) { h.record_count = 3; }, "do not fill"},
      {[](PackHeader& h) { h.record_count = (1u << 27) + 2; }, "do not fill"},  // times 32 wraps in 32 bits
      {[](PackHeader& h) { h.pack_class = 0; }, "class 0"},
      {[](PackHeader& h) { h.pack_class = 77; }, "class 77"},
      {[](PackHeader& h) { h.pack_class = static_cast<std::uint16_t>(PackClass::kTotals); }, "do not fill"},
      {[](PackHeader& h) { h.pack_class = static_cast<std::uint16_t>(PackClass::kDefinitions); }, "definition"},
      {[](PackHeader& h) { h.first_tick = 2, h.last_tick = 1; }, "before it begins"},
      {[](PackHeader& h) { h.mpi.dropped = 1; }, "ledger"},
      {[](PackHeader& h) { h.posix.dropped = 1; }, "ledger"},
      {[](PackHeader& h) { h.samples.aggregated = 1; }, "ledger"},
      {[](PackHeader& h) {
         h.mpi = {10, 6, 5};
       },
       "ledger"},
      {[](PackHeader& h) { h.weight = 0; }, "weight 0"},
      {[](PackHeader& h) { h.counter_count = kMaxCounters + 1; }, "counters"},
      {[](PackHeader& h) { h.level = 32; }, "level 32"},
      {[](PackHeader& h) { h.level = 2; }, "weight 1"},
  };
  for (const auto& [spoil, reason] : faults) {
    Pack pack = mpi_pack();
    spoil(pack.header());
    const PackCheck check = check_pack(pack.bytes());
    EXPECT_FALSE(check) << reason;
    EXPECT_NE(check.error.find(reason), std::string::npos) << check.error;
    EXPECT_EQ(check.error.back(), '.') << check.error;
  }
}

TEST(CheckPack, EveryTruncationIsRefused) {
  const Pack pack = mpi_pack();
  for (std::size_t bytes = 0; bytes < pack.bytes().size(); ++bytes) {
    EXPECT_FALSE(check_pack(pack.bytes().first(bytes))) << bytes;
  }
}

TEST(CheckPack, UnalignedMemoryIsRefused) {
  Pack pack = mpi_pack();
  pack.storage.push_back(0);
  EXPECT_FALSE(check_pack(pack.bytes().subspan(4)));
}

TEST(CheckPack, SamplesComeWithTheirCounters) {
  std::vector<std::uint64_t> payload;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const SampleRecord record{100 + i, i, 1000, 0, 0, 0, 0, 0, 0};
    payload.resize(payload.size() + sizeof(record) / 8);
    std::memcpy(payload.data() + payload.size() - sizeof(record) / 8, &record, sizeof(record));
    payload.push_back(10 * i);
    payload.push_back(10 * i + 1);
  }
  Pack pack = make_pack(PackClass::kSamples, std::as_bytes(std::span(payload)), 3);
  EXPECT_FALSE(check_pack(pack.bytes())) << "without counters they don't fill it";
  pack.header().counter_count = 2;
  const PackCheck check = check_pack(pack.bytes());
  ASSERT_TRUE(check) << check.error;
  EXPECT_EQ(check.pack->sample(2).record.tick, 102u);
  ASSERT_EQ(check.pack->sample(2).counters.size(), 2u);
  EXPECT_EQ(check.pack->sample(2).counters[1], 21u);
}

TEST(PosixFunctions, NumberNamesAndCategoriesAgree) {
  const auto number = [](PosixFunction function) { return static_cast<std::uint16_t>(function); };
  EXPECT_EQ(posix_function_info(number(PosixFunction::kOpen)).name, "open");
  EXPECT_EQ(posix_function_info(number(PosixFunction::kPwritev)).name, "pwritev");
  EXPECT_EQ(posix_function_info(number(PosixFunction::kFread)).name, "fread");
  EXPECT_EQ(posix_function_info(number(PosixFunction::kMmap)).name, "mmap");
  EXPECT_EQ(posix_function_info(number(PosixFunction::kSendfile)).name, "sendfile");
  EXPECT_EQ(posix_function_info(60000).name, "");
  EXPECT_EQ(category_name(posix_function_info(number(PosixFunction::kFsync)).category), "sync");
}

}  // namespace
}  // namespace ardoise::instrument

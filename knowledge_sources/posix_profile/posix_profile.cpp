// The profile of POSIX input and output by function, by call site and by file. Reads the posix_events of its level;
// contributes Application::posix, call_sites and files.
#include <memory>

#include "instrument/posix_functions.hpp"
#include "knowledge_sources/call_profile.hpp"
#include "knowledge_sources/file_profile.hpp"
#include "knowledge_sources/pack_time.hpp"
#include "knowledge_sources/plugin.hpp"
#include "knowledge_sources/worker_slots.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::PosixCategory;
using instrument::PosixFunction;

constexpr std::uint32_t kVersion = 1;

bool opens(std::uint16_t function) {
  const auto id = static_cast<PosixFunction>(function);
  return id == PosixFunction::kOpen || id == PosixFunction::kFopen || id == PosixFunction::kFreopen;
}

class PosixProfile final : public Analysis {
 public:
  explicit PosixProfile(const AnalysisContext& context)
      : level_(context.level),
        ticks_per_second_(context.ticks_per_second),
        files_(context.ranks),
        rank_count_(context.ranks) {}

  void attach(blackboard::Blackboard& board) override {
    slots_.create(board, [] { return std::make_unique<Slot>(); });
    board.add({"posix_profile@" + level_,
               {blackboard::entry_type(level_, kPosixEvents)},
               [this](const blackboard::Context& context, std::span<blackboard::EntryRef> entries) {
                 add(slots_.of(context), entries[0].as<PosixSpan>());
               }});
  }

  std::vector<std::byte> partial() const override {
    ByteWriter out;
    out.put(kVersion);
    merged().write(out);
    files_.write(out);
    return out.take();
  }

  void absorb(std::span<const std::byte> partial) override {
    ByteReader in(partial, "posix_profile");
    in.expect_version(kVersion);
    const CallProfile calls = CallProfile::read(in, instrument::PackClass::kPosix);
    FileProfile files(rank_count_);
    files.read(in);
    in.expect_end();
    absorbed_.merge(calls);
    files_.merge(files);
  }

  void contribute(const Resolver& resolver, reports::Application& application) const override {
    merged().contribute(resolver, application.posix, application.call_sites);
    files_.contribute(resolver, application);
  }

 private:
  struct Slot {
    CallScratch scratch{instrument::kPosixFunctionCount};
    FileScratch files;
    CallProfile results{instrument::PackClass::kPosix};
  };

  void add(Slot& slot, const PosixSpan& span) {
    const auto& header = *span.header;
    slot.scratch.begin(slot.results, header, ns_per_tick(header, ticks_per_second_));
    for (const instrument::PosixRecord& record : span.records) {
      if (record.function >= instrument::kPosixFunctionCount) continue;  // of a later version
      slot.scratch.add(record.function, record.call_site, record.duration, record.bytes);
      slot.scratch.add_size(record.function, record.bytes);

      FileSums& file = slot.files.at(std::uint64_t{record.file} + 1,
                                     [&](FileScratch& full) { files_.add(header.rank, header.weight, full); });
      const PosixCategory category = instrument::kPosixFunctions[record.function].category;
      const std::uint64_t read = category == PosixCategory::kRead ? 1 : 0;
      const std::uint64_t written = category == PosixCategory::kWrite ? 1 : 0;
      file.calls += 1;
      file.opens += opens(record.function) ? 1 : 0;
      file.reads += read;
      file.writes += written;
      file.bytes_read += read * record.bytes;
      file.bytes_written += written * record.bytes;
      file.ticks += record.duration;
    }
    slot.scratch.finish();
    files_.add(header.rank, header.weight, slot.files);
  }

  [[nodiscard]] CallProfile merged() const {
    CallProfile result = absorbed_;
    for (const auto& slot : slots_) result.merge(slot->results);
    return result;
  }

  std::string level_;
  double ticks_per_second_;
  WorkerSlots<Slot> slots_;
  CallProfile absorbed_{instrument::PackClass::kPosix};
  FileProfile files_;
  std::uint32_t rank_count_;
};

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(posix_profile, "1.0", ardoise::knowledge_sources::PosixProfile)

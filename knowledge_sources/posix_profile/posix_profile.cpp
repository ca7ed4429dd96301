// The profile of POSIX input and output by function, by call site and by file. Reads the posix_events of its level;
// contributes Application::posix, call_sites and files.
#include "instrument/format/posix_functions.hpp"
#include "knowledge_sources/call_analysis.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::PosixCategory;
using instrument::PosixFunction;

bool opens(std::uint16_t function) {
  const auto id = static_cast<PosixFunction>(function);
  return id == PosixFunction::kOpen || id == PosixFunction::kFopen || id == PosixFunction::kFreopen;
}

class PosixProfile final : public CallAnalysis<instrument::PosixRecord> {
 public:
  explicit PosixProfile(const AnalysisContext& context)
      : CallAnalysis(context, "posix_profile", kPosixEvents, instrument::PackClass::kPosix,
                     instrument::kPosixFunctionCount) {}

  void contribute(const Resolver& resolver, reports::Application& application) const override {
    contribute_to(resolver, application.posix, application);
  }

 private:
  void add(Slot& slot, const PosixSpan& span) override {
    for (const instrument::PosixRecord& record : span.records) {
      if (record.function >= instrument::kPosixFunctionCount) continue;  // of a later version
      slot.scratch.add(record.function, record.call_site, record.duration, record.bytes);
      slot.scratch.add_size(record.function, record.bytes);

      FileSums& sums = file(slot, *span.header, record.file);
      const PosixCategory category = instrument::kPosixFunctions[record.function].category;
      const std::uint64_t read = category == PosixCategory::kRead ? 1 : 0;
      const std::uint64_t written = category == PosixCategory::kWrite ? 1 : 0;
      sums.calls += 1;
      sums.opens += opens(record.function) ? 1 : 0;
      sums.reads += read;
      sums.writes += written;
      sums.bytes_read += read * record.bytes;
      sums.bytes_written += written * record.bytes;
      sums.ticks += record.duration;
    }
  }

  void add(Slot& slot, const instrument::PackHeader& header, const instrument::AggregateRecord& record) override {
    if (record.function >= instrument::kPosixFunctionCount) return;
    slot.scratch.add(record.function, record.call_site, site_of(record, record.bytes));
    slot.scratch.add_sizes(record.function, record.size_bits, record.calls);
    FileSums& sums = file(slot, header, static_cast<std::uint32_t>(record.peer));
    const PosixCategory category = instrument::kPosixFunctions[record.function].category;
    sums.calls += record.calls;
    sums.opens += opens(record.function) ? record.calls : 0;
    if (category == PosixCategory::kRead) {
      sums.reads += record.calls;
      sums.bytes_read += record.bytes;
    }
    if (category == PosixCategory::kWrite) {
      sums.writes += record.calls;
      sums.bytes_written += record.bytes;
    }
    sums.ticks += record.ticks;
  }
};

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(posix_profile, "1.0", ardoise::knowledge_sources::PosixProfile)

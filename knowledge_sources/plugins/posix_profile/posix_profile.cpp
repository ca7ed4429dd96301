// The profile of POSIX I/O by function, by call site and by file. Reads the posix_events of its level; contributes
// Application::posix, call_sites and files.
#include "instrument/format/posix_functions.hpp"
#include "knowledge_sources/calls/call_analysis.hpp"

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
    contribute_accesses(resolver, application);
  }

 private:
  void add(Slot& slot, const PosixSpan& span) override {
    for (const instrument::PosixRecord& record : span.records) {
      if (record.function >= instrument::kPosixFunctionCount) continue;  // of a later version
      slot.scratch.add(record.function, record.call_site, record.duration, record.bytes);
      slot.scratch.add_size(record.function, record.bytes);
      add_to_file(file(slot, *span.header, record.file), record.function, 1, record.bytes, record.duration);
    }
  }

  void add(Slot& slot, const instrument::PackHeader& header, const instrument::AggregateRecord& record) override {
    if (record.function >= instrument::kPosixFunctionCount) return;
    slot.scratch.add(record.function, record.call_site, site_of(record, record.bytes));
    slot.scratch.add_sizes(record.function, record.size_bits, record.calls);
    add_to_file(file(slot, header, static_cast<std::uint32_t>(record.peer)), record.function, record.calls,
                record.bytes, record.ticks);
  }

  static void add_to_file(FileSums& sums, std::uint16_t function, std::uint64_t calls, std::uint64_t bytes,
                          std::uint64_t ticks) {
    const PosixCategory category = instrument::kPosixFunctions[function].category;
    sums.add(category == PosixCategory::kRead    ? FileSums::Kind::read
             : category == PosixCategory::kWrite ? FileSums::Kind::write
                                                 : FileSums::Kind::other,
             calls, bytes, ticks);
    if (opens(function)) sums.opens += calls;
  }
};

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(posix_profile, "1.0", ardoise::knowledge_sources::PosixProfile)

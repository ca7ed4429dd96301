// The profile of MPI calls by function and by call site: calls, time, bytes, shortest and longest call, sizes, and the
// files of MPI-IO. (By rank: plug-ins density and run_summary.) Reads the mpi_events of its level; contributes
// Application::mpi, call_sites and files.
//
// The bytes of a posted receive are those of its completion, counted for the call that posted it.
#include <optional>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/calls/call_analysis.hpp"
#include "knowledge_sources/calls/event_bytes.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::Shape;

constexpr std::size_t kFunctions = std::size_t{1} << instrument::kFunctionBits;

class MpiProfile final : public CallAnalysis<instrument::MpiRecord> {
 public:
  explicit MpiProfile(const AnalysisContext& context)
      : CallAnalysis(context, "mpi_profile", kMpiEvents, instrument::PackClass::kMpi, kFunctions) {}

  void contribute(const Resolver& resolver, reports::Application& application) const override {
    contribute_to(resolver, application.mpi, application);
  }

 private:
  void add(Slot& slot, const MpiSpan& span) override {
    CallScratch& scratch = slot.scratch;
    std::uint64_t completing_begin = 0, completing_ticks = 0;  // call that the next completions belong to
    // call site of the operation that the completing call starts; unknown if its record came before
    std::optional<std::uint32_t> starting_site;
    instrument::for_each_event(
        span.records,
        [&](const instrument::MpiEvent& event) {
          const auto function = event.record.function();
          const std::uint64_t size = moved(event).size;
          scratch.add(function, event.record.call_site, event.duration, size);
          const Shape shape = event.record.shape();
          completing_begin = event.record.begin;
          completing_ticks = event.duration;
          starting_site = event.record.call_site;
          if (shape != Shape::kPostReceive) [[likely]]
            scratch.add_size(function, size);
          if (shape == Shape::kFileRead || shape == Shape::kFileWrite) [[unlikely]]
            file(slot, *span.header, static_cast<std::uint32_t>(event.record.peer))
                .add(kind_of(shape), 1, event.bytes, event.duration);
        },
        [&](const instrument::CompletionRecord& completion) {
          // Started in an earlier pack: then it is unknown.
          if (completing_begin > completion.post_begin) {
            const std::uint64_t flight = completing_begin + completing_ticks - completion.post_begin;
            scratch.add_operation(record_of(completion.word).function(), completion.call_site, flight,
                                  completing_ticks);
          }
          if (!tells_bytes(completion)) return;
          const auto function = record_of(completion.word).function();
          scratch.add_bytes(function, completion.call_site, completion_bytes(completion));
          scratch.add_size(function, completion_bytes(completion));
        },
        [](const instrument::NeighbourExtension&) {},
        [&](const instrument::StartedExtension& started) {
          if (record_of(started.operation).shape() != Shape::kSend) return;
          const auto function = record_of(started.word).function();
          if (starting_site) scratch.add_bytes(function, *starting_site, started.bytes);
          scratch.add_size(function, started.bytes);
        });
  }

  void add(Slot& slot, const instrument::PackHeader& header, const instrument::AggregateRecord& record) override {
    using instrument::AggregatePart;
    CallScratch& scratch = slot.scratch;
    if (record.part == AggregatePart::kCompletion && tells_bytes(record)) {
      scratch.add_bytes(record.function, record.call_site, record.bytes);
      scratch.add_sizes(record.function, record.size_bits, record.calls);
    }
    if (record.part == AggregatePart::kStarted && record_of(record.word).shape() == Shape::kSend) {
      scratch.add_sizes(record.function, record.size_bits, record.calls);
    }
    if (record.part != AggregatePart::kCall) return;
    const Shape shape = record_of(record.word).shape();
    const std::uint64_t size = moved(record).size;
    scratch.add(record.function, record.call_site, site_of(record, size));
    if (shape != Shape::kPostReceive) {
      scratch.add_sizes(record.function, size == 0 ? 0 : record.size_bits, record.calls);
    }
    if (shape != Shape::kFileRead && shape != Shape::kFileWrite) return;
    file(slot, header, static_cast<std::uint32_t>(record.peer))
        .add(kind_of(shape), record.calls, record.bytes, record.ticks);
  }

  static FileSums::Kind kind_of(Shape shape) {
    return shape == Shape::kFileRead ? FileSums::Kind::read : FileSums::Kind::write;
  }
};

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(mpi_profile, "1.0", ardoise::knowledge_sources::MpiProfile)

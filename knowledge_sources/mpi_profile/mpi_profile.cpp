// The profile of MPI calls by function and by call site: calls, time, bytes, shortest and longest call, sizes, and the
// files of MPI-IO. (By rank: plug-ins density and run_summary.) Reads the mpi_events of its level; contributes
// Application::mpi, call_sites and files.
//
// The bytes of a posted receive are those of its completion, booked to the call that posted it.
#include <memory>

#include "instrument/event_reader.hpp"
#include "knowledge_sources/call_profile.hpp"
#include "knowledge_sources/event_bytes.hpp"
#include "knowledge_sources/file_profile.hpp"
#include "knowledge_sources/pack_time.hpp"
#include "knowledge_sources/plugin.hpp"
#include "knowledge_sources/worker_slots.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::Shape;

constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFunctions = std::size_t{1} << instrument::kFunctionBits;

class MpiProfile final : public Analysis {
 public:
  explicit MpiProfile(const AnalysisContext& context)
      : level_(context.level),
        ticks_per_second_(context.ticks_per_second),
        files_(context.ranks),
        rank_count_(context.ranks) {}

  void attach(blackboard::Blackboard& board) override {
    slots_.create(board, [] { return std::make_unique<Slot>(); });
    board.add({"mpi_profile@" + level_,
               {blackboard::entry_type(level_, kMpiEvents)},
               [this](const blackboard::Context& context, std::span<blackboard::EntryRef> entries) {
                 add(slots_.of(context), entries[0].as<MpiSpan>());
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
    ByteReader in(partial, "mpi_profile");
    in.expect_version(kVersion);
    const CallProfile calls = CallProfile::read(in, instrument::PackClass::kMpi);
    FileProfile files(rank_count_);
    files.read(in);
    in.expect_end();
    absorbed_.merge(calls);
    files_.merge(files);
  }

  void contribute(const Resolver& resolver, reports::Application& application) const override {
    merged().contribute(resolver, application.mpi, application.call_sites);
    files_.contribute(resolver, application);
  }

 private:
  struct Slot {
    CallScratch scratch{kFunctions};
    FileScratch files;
    CallProfile results{instrument::PackClass::kMpi};
  };

  void add(Slot& slot, const MpiSpan& span) {
    CallScratch& scratch = slot.scratch;
    const auto& header = *span.header;
    scratch.begin(slot.results, header, ns_per_tick(header, ticks_per_second_));
    instrument::for_each_event(
        span.records,
        [&](const instrument::MpiEvent& event) {
          const auto function = event.record.function();
          const std::uint64_t size = moved(event).size;
          scratch.add(function, event.record.call_site, event.duration, size);
          const Shape shape = event.record.shape();
          if (shape != Shape::kPostReceive) [[likely]]
            scratch.add_size(function, size);
          if (shape == Shape::kFileRead || shape == Shape::kFileWrite) [[unlikely]]
            add_file(slot, header, event);
        },
        [&](const instrument::CompletionRecord& completion) {
          if (!tells_bytes(completion)) return;
          const auto function = record_of(completion.word).function();
          scratch.add_bytes(function, completion.call_site, completion_bytes(completion));
          scratch.add_size(function, completion_bytes(completion));
        },
        [](const instrument::NeighbourExtension&) {},
        [&](const instrument::StartedExtension& started) {
          if (record_of(started.operation).shape() != Shape::kSend) return;
          scratch.add_size(record_of(started.word).function(), started.bytes);
        });
    scratch.finish();
    if (!slot.files.empty()) files_.add(header.rank, header.weight, slot.files);
  }

  void add_file(Slot& slot, const instrument::PackHeader& header, const instrument::MpiEvent& event) {
    FileSums& file = slot.files.at(std::uint64_t{static_cast<std::uint32_t>(event.record.peer)} + 1,
                                   [&](FileScratch& full) { files_.add(header.rank, header.weight, full); });
    const bool read = event.record.shape() == Shape::kFileRead;
    file.calls += 1;
    (read ? file.reads : file.writes) += 1;
    (read ? file.bytes_read : file.bytes_written) += event.bytes;
    file.ticks += event.duration;
  }

  [[nodiscard]] CallProfile merged() const {
    CallProfile result = absorbed_;
    for (const auto& slot : slots_) result.merge(slot->results);
    return result;
  }

  std::string level_;
  double ticks_per_second_;
  WorkerSlots<Slot> slots_;
  CallProfile absorbed_{instrument::PackClass::kMpi};
  FileProfile files_;
  std::uint32_t rank_count_;
};

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(mpi_profile, "1.0", ardoise::knowledge_sources::MpiProfile)

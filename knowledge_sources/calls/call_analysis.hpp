// Common part of mpi_profile and posix_profile: a profile of calls for each worker, the files that ranks accessed, and
// their conversion to bytes and model. A derived plug-in defines how a span of its records is added up.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "knowledge_sources/calls/aggregate_bytes.hpp"
#include "knowledge_sources/calls/call_profile.hpp"
#include "knowledge_sources/calls/file_profile.hpp"
#include "knowledge_sources/interface/pack_time.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/interface/worker_slots.hpp"

namespace ardoise::knowledge_sources {

template <class Record>
class CallAnalysis : public Analysis {
 public:
  void attach(LevelSources& sources) override {
    slots_.create(sources, [this] { return std::make_unique<Slot>(functions_, record_class_); });
    const auto in_pack = [this](Slot& slot, const instrument::PackHeader& header, const auto& add_all) {
      slot.scratch.begin(slot.results, header, ns_per_tick(header, ticks_per_second_));
      add_all();
      slot.scratch.finish();
      if (!slot.files.empty()) files_.add(header, slot.files);
    };
    subscribe<Span<Record>>(sources, name_, level_, entry_, slots_, [=, this](Slot& slot, const Span<Record>& span) {
      in_pack(slot, *span.header, [&] { add(slot, span); });
    });
    const auto add_aggregates = [=, this](Slot& slot, const AggregateSpan& span) {
      in_pack(slot, *span.header, [&] {
        for (const auto& record : span.records) {
          const bool posix = record.part == instrument::AggregatePart::kPosix;
          if (is_known(record) && posix == (record_class_ == instrument::PackClass::kPosix))
            add(slot, *span.header, record);
        }
      });
    };
    subscribe<AggregateSpan>(sources, name_, level_, kAggregates, slots_, add_aggregates);
  }

  std::vector<std::byte> partial() const override { return write_partial(kVersion, merged(), files_); }

  void absorb(std::span<const std::byte> partial) override {
    CallProfile calls(record_class_);
    FileProfile files(ranks_);
    read_partial(partial, name_, kVersion, calls, files);
    absorbed_.merge(calls);
    files_.merge(files);
  }

 protected:
  struct Slot {
    Slot(std::size_t functions, instrument::PackClass record_class) : scratch(functions), results(record_class) {}
    CallScratch scratch;
    FileProfile::Scratch files;
    CallProfile results;
  };

  // `functions`: number of function ids of this class.
  CallAnalysis(const AnalysisContext& context, std::string name, std::string_view entry,
               instrument::PackClass record_class, std::size_t functions)
      : name_(std::move(name)),
        entry_(entry),
        record_class_(record_class),
        functions_(functions),
        level_(context.level),
        ticks_per_second_(context.ticks_per_second),
        ranks_(context.ranks),
        absorbed_(record_class),
        files_(context.ranks) {}

  // Adds the records of a span to slot.scratch and slot.files.
  virtual void add(Slot& slot, const Span<Record>& span) = 0;
  // The same for an aggregate of records of this class.
  virtual void add(Slot& slot, const instrument::PackHeader& header, const instrument::AggregateRecord& record) = 0;
  [[nodiscard]] static SiteTicks site_of(const instrument::AggregateRecord& record, std::uint64_t size) {
    return {record.calls, record.ticks, size, record.min_ticks, record.max_ticks};
  }

  // The sums of one file, by its number in the process.
  FileSums& file(Slot& slot, const instrument::PackHeader& header, std::uint32_t number) {
    return files_.at(slot.files, header, std::uint64_t{number} + 1);
  }

  void contribute_to(const Resolver& resolver, std::vector<reports::FunctionProfile>& functions,
                     reports::Application& application) const {
    merged().contribute(resolver, functions, application.call_sites);
    files_.contribute(resolver, application);
  }

 private:
  static constexpr std::uint32_t kVersion = 2;

  [[nodiscard]] CallProfile merged() const {
    CallProfile result = absorbed_;
    for (const auto& slot : slots_) result.merge(slot->results);
    return result;
  }

  std::string name_;
  std::string_view entry_;
  instrument::PackClass record_class_;
  std::size_t functions_;
  std::string level_;
  double ticks_per_second_;
  std::uint32_t ranks_;
  WorkerSlots<Slot> slots_;
  CallProfile absorbed_;
  FileProfile files_;
};

}  // namespace ardoise::knowledge_sources

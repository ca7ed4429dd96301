#include "tests/instrument/adaptive_model.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "instrument/buffer/hierarchical_buffer.hpp"
#include "instrument/record/aggregates.hpp"

namespace ardoise::instrument {
namespace {

class Model {
 public:
  Model(const ModelScenario& scenario, double every_seconds)
      : scenario_(scenario),
        calls_apart_(static_cast<std::uint64_t>(kModelHertz) * sizeof(MpiRecord) / scenario.mpi_bytes_per_second),
        points_apart_(static_cast<std::uint64_t>(every_seconds * kModelHertz)) {
    samples_.open(0, HierarchicalBuffer::kMaxLevels);
    mpi_.open(0, 1);
  }

  ModelResult run() {
    const auto end = static_cast<std::uint64_t>(kModelHertz * kModelSeconds);
    std::uint64_t next_call = calls_apart_, next_point = 0;
    for (std::uint64_t n = 1; n <= end; ++n) {
      if (!samples_.is_closed(level_of(n))) store_sample(n);
      if (n == next_call) {
        next_call += calls_apart_;
        store_call(n);
      }
      if (n >= next_point) {
        next_point += points_apart_;
        point(n);
      }
    }
    result_.offered = end;
    result_.hertz = kModelHertz / static_cast<double>(std::uint64_t{1} << samples_.lowest());
    result_.halvings = samples_.lowest();
    result_.kept = samples_.records();
    result_.mpi_records = mpi_.records();
    BinList tables;
    fold_scratch();
    aggregates_.flush(true, tables);
    count(tables);
    return std::move(result_);
  }

 private:
  void store_sample(std::uint64_t n) {
    std::byte* room = samples_.room(level_of(n), scenario_.sample_bytes, n);
    while (room == nullptr) {
      halve(n);
      if (samples_.is_closed(level_of(n))) return;
      room = samples_.room(level_of(n), scenario_.sample_bytes, n);
    }
    std::memcpy(room, &n, sizeof(n));
  }

  void store_call(std::uint64_t n) {
    const auto peer = static_cast<std::int32_t>(result_.mpi_calls % 6);
    const MpiRecord record{n, 1, 7, peer, 0, 1024, make_word(0, 5, Shape::kSend)};
    ++result_.mpi_calls;
    result_.mpi_bytes_sent += record.bytes;
    if (result_.mpi_removed == 0) {
      std::byte* room = mpi_.room(0, sizeof(record), n);
      while (room == nullptr && !pool_.share_used_up(PackClass::kMpi)) {
        halve(n);
        room = mpi_.room(0, sizeof(record), n);
      }
      if (room != nullptr) {
        std::memcpy(room, &record, sizeof(record));
        return;
      }
      point(n);
      remove_mpi();
      result_.mpi_removed = static_cast<double>(n) / kModelHertz;
      point(n);
    }
    scratch_[scratch_used_++] = record;
    if (scratch_used_ == scratch_.size()) fold_scratch();
  }

  void halve(std::uint64_t n) {
    point(n);
    (void)samples_.drop_lowest();
    point(n);
  }

  void remove_mpi() {
    BinList bins;
    (void)mpi_.seal(bins);
    mpi_.open(0, 1);
    while (Bin* const bin = bins.take_first(pool_)) {
      fold({reinterpret_cast<const MpiRecord*>(bin->payload()), bin->header.record_count});
      pool_.give(bin);
    }
  }

  void fold_scratch() {
    fold(std::span<const MpiRecord>(scratch_).first(scratch_used_));
    scratch_used_ = 0;
  }
  void fold(std::span<const MpiRecord> records) {
    if (records.empty()) return;
    BinList full;
    (void)aggregates_.fold(records, records.front().begin, records.back().begin, full);
    count(full);
  }
  void count(BinList& tables) {
    while (Bin* const table = tables.take_first(pool_)) {
      const auto* const records = reinterpret_cast<const AggregateRecord*>(table->payload());
      for (const AggregateRecord& record : std::span(records, table->header.record_count)) {
        result_.mpi_aggregated += record.calls;
        result_.mpi_bytes_aggregated += record.bytes;
      }
      pool_.give(table);
    }
  }

  void point(std::uint64_t n) {
    const auto share = [this](PackClass pack_class) {
      return static_cast<double>(pool_.used(pack_class)) / static_cast<double>(pool_.bins());
    };
    result_.points.push_back({static_cast<double>(n) / kModelHertz, share(PackClass::kMpi), share(PackClass::kSamples),
                              kModelHertz / static_cast<double>(std::uint64_t{1} << samples_.lowest())});
  }

  const ModelScenario scenario_;
  const std::uint64_t calls_apart_, points_apart_;  // in samples at the base rate
  BinPool pool_{kModelBudget, kModelBin, 0.5};
  HierarchicalBuffer samples_{pool_, PackClass::kSamples};
  HierarchicalBuffer mpi_{pool_, PackClass::kMpi};
  Aggregates aggregates_{pool_};
  std::array<MpiRecord, 64> scratch_{};
  std::size_t scratch_used_ = 0;
  ModelResult result_;
};

}  // namespace

ModelResult run_model(const ModelScenario& scenario, double every_seconds) {
  return Model(scenario, every_seconds).run();
}

}  // namespace ardoise::instrument

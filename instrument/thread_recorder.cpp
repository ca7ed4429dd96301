// See thread_recorder.hpp.
#include "instrument/thread_recorder.hpp"

#include <type_traits>
#include <utility>

namespace ardoise::instrument {
namespace {

template <class Record>
constexpr PackClass class_of() {
  return std::is_same_v<Record, MpiRecord> ? PackClass::kMpi : PackClass::kPosix;
}

template <class Record>
Record* records_of(Bin* bin) {
  return reinterpret_cast<Record*>(bin->payload());
}

}  // namespace

ThreadRecorder::ThreadRecorder(Sender& sender, Ledger& ledger, std::uint32_t number)
    : sender_(sender), ledger_(ledger), number_(number) {
  mpi_.scratch = reinterpret_cast<Bin*>(scratch_[0].bytes.data());
  posix_.scratch = reinterpret_cast<Bin*>(scratch_[1].bytes.data());
}

void ThreadRecorder::restart(std::uint32_t number) {
  number_ = number;
  may_send = false;
  next_flush = 0;
}

template <class Record>
void ThreadRecorder::close_bin(Lane<Record>& lane) {
  if (lane.bin == nullptr) return;
  const auto records = static_cast<std::uint32_t>(lane.cursor - records_of<Record>(lane.bin));
  Bin* const bin = std::exchange(lane.bin, nullptr);
  lane.cursor = lane.limit = nullptr;
  ledger_.count_recorded(class_of<Record>(), records);
  if (bin == lane.scratch) {
    ledger_.count_dropped(class_of<Record>(), records);
    return;
  }
  PackHeader& header = bin->header;
  header.pack_class = static_cast<std::uint16_t>(class_of<Record>());
  header.record_count = records;
  header.payload_bytes = static_cast<std::uint32_t>(records * sizeof(Record));
  header.thread = number_;
  header.last_tick = lane.last_end;
  sender_.submit(bin);
}

template <class Record>
void ThreadRecorder::next_bin(Lane<Record>& lane, std::uint64_t begin) {
  close_bin(lane);
  if (may_send) sender_.pump();
  Bin* bin = sender_.take(may_send);
  std::size_t capacity = sender_.payload_bytes() / sizeof(Record);
  if (bin == nullptr) {
    bin = lane.scratch;
    capacity = kScratchRecords;
  }
  lane.bin = bin;
  bin->header.first_tick = begin;
  lane.cursor = records_of<Record>(bin);
  lane.limit = lane.cursor + capacity;
}

void ThreadRecorder::flush() {
  close_bin(mpi_);
  close_bin(posix_);
}

template void ThreadRecorder::next_bin(Lane<MpiRecord>&, std::uint64_t);
template void ThreadRecorder::next_bin(Lane<PosixRecord>&, std::uint64_t);

}  // namespace ardoise::instrument

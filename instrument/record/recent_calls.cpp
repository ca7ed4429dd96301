#include "instrument/record/recent_calls.hpp"

#include <algorithm>

#include "instrument/format/event_reader.hpp"

namespace ardoise::instrument {
namespace {

bool is_call(const MpiRecord& record) {
  return record.shape() != Shape::kExtension && record.shape() != Shape::kCompletion;
}
bool is_call(const PosixRecord&) { return true; }

// The records from the begin of the last `most` calls on.
template <class Record>
std::span<const Record> last_calls(std::span<const Record> records, std::size_t most) {
  std::size_t first = records.size();
  for (std::size_t i = records.size(); i-- != 0 && most != 0;) {
    if (!is_call(records[i])) continue;
    first = i;
    --most;
  }
  return records.subspan(first);
}

}  // namespace

void RecentCalls::put(const RecentCall& call) {
  if (count_ != 0 && call.begin <= calls_[count_ - 1].begin) return;
  if (count_ == kMost) std::shift_left(calls_.begin(), calls_.end(), 1);
  calls_[count_ == kMost ? kMost - 1 : count_++] = call;
}

void RecentCalls::add(std::span<const MpiRecord> records) {
  const auto ignore = [](const auto&) {};
  for_each_event(
      last_calls(records, kMost),
      [this](const MpiEvent& event) {
        const MpiRecord& record = event.record;
        put({record.begin, event.duration, event.bytes, record.word, record.call_site, record.peer, record.tag, 0, 0});
      },
      ignore, ignore, ignore);
}

void RecentCalls::add(std::span<const PosixRecord> records) {
  for (const PosixRecord& record : last_calls(records, kMost)) {
    put({record.begin, record.duration, record.bytes, make_word(kNoComm, record.function, Shape::kLocal),
         record.call_site, static_cast<std::int32_t>(record.file), 0, kPosixCallFlag, 0});
  }
}

}  // namespace ardoise::instrument

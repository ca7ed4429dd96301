#include "knowledge_sources/plugins/snapshots/pack_moments.hpp"

#include <algorithm>
#include <array>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/calls/event_bytes.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {
namespace {

// A rank that waits makes any number of them.
bool polls(const instrument::MpiRecord& record) {
  using vmpi::FunctionId;
  constexpr std::array kPolls{FunctionId::kTest,     FunctionId::kTestall, FunctionId::kTestany,
                              FunctionId::kTestsome, FunctionId::kIprobe,  FunctionId::kImprobe};
  return std::ranges::find(kPolls, static_cast<FunctionId>(record.function())) != kPolls.end();
}

// Some calls without communication are counted only after a while.
Moment::Kind kind_of(const instrument::MpiRecord& record) {
  const bool is_visit = record.shape() != instrument::Shape::kLocal && !polls(record);
  return is_visit ? Moment::Kind::kVisit : Moment::Kind::kCall;
}

bool is_in_world(const instrument::MpiRecord& record) {
  const instrument::Shape shape = record.shape();
  return (shape == instrument::Shape::kCollective || shape == instrument::Shape::kRooted) &&
         record.comm() == instrument::kWorldComm;
}

}  // namespace

std::span<const Moment> moments_of(const MpiSpan& span, const PackTime& time, std::vector<Moment>& room) {
  const auto& header = *span.header;
  if (room.size() < span.records.size()) room.resize(span.records.size());
  Moment* next = room.data();
  std::int64_t now = time.at(header.first_tick);  // begin and call site of the call that later records belong to
  std::uint32_t call_site = 0;
  instrument::for_each_event(
      span.records,
      [&](const instrument::MpiEvent& event) {
        const auto& record = event.record;
        const std::uint64_t ns = time.length(event.duration);
        now = time.at(record.begin);
        call_site = record.call_site;
        *next++ = {.kind = kind_of(record),
                   .is_in_world = is_in_world(record),
                   .begin = now,
                   .key = key_of_call(false, record.function(), record.call_site, header.thread),
                   .sums = {header.weight, ns * header.weight, moved(event).size * header.weight}};
      },
      // The bytes belong to the call that posted the receive, at the time when they become known.
      [&](const instrument::CompletionRecord& completion) {
        if (!tells_bytes(completion)) return;
        *next++ = {
            .kind = Moment::Kind::kCall,
            .begin = now,
            .key = key_of_call(false, record_of(completion.word).function(), completion.call_site, header.thread),
            .sums = {0, 0, instrument::completion_bytes(completion) * header.weight}};
      },
      [](const instrument::NeighbourExtension&) {},
      [&](const instrument::StartedExtension& started) {
        if (started.bytes == 0) return;
        *next++ = {.kind = Moment::Kind::kCall,
                   .begin = now,
                   .key = key_of_call(false, record_of(started.word).function(), call_site, header.thread),
                   .sums = {0, 0, started.bytes * header.weight}};
      },
      [&](const instrument::SampledExtension& sample) {
        *next++ = {.kind = Moment::Kind::kSample,
                   .where = sample.context,
                   .begin = time.at(sample.tick),
                   .key = Moment::key_of_sample(0, sample.function, sample.flags),
                   .sums = {0, sample.weight, 0}};
      },
      [](const instrument::GroupExtension&) {},
      [&](const instrument::MarkExtension& mark) {
        *next++ = {.kind = Moment::Kind::kMark,
                   .mark = mark.kind,
                   .where = mark.call_site,
                   .begin = time.at(mark.tick),
                   .key = mark.name,
                   .sums = {0, mark.value, 0}};
      });
  return {room.data(), next};
}

}  // namespace ardoise::knowledge_sources

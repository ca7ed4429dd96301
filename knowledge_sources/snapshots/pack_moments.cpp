// See pack_moments.hpp.
#include "knowledge_sources/snapshots/pack_moments.hpp"

#include "instrument/format/event_reader.hpp"

namespace ardoise::knowledge_sources {
namespace {

// Of calls without communication some are counted only after a while.
Moment::Kind kind_of(const instrument::MpiRecord& record) {
  return record.shape() == instrument::Shape::kLocal ? Moment::Kind::kCall : Moment::Kind::kVisit;
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
  instrument::for_each_event(
      span.records,
      [&](const instrument::MpiEvent& event) {
        const auto& record = event.record;
        const std::uint64_t ns = time.length(event.duration);
        *next++ = {.kind = kind_of(record),
                   .is_in_world = is_in_world(record),
                   .begin = time.at(record.begin),
                   .key = key_of_call(false, record.function(), record.call_site, header.thread),
                   .sums = {header.weight, ns * header.weight, event.bytes * header.weight}};
      },
      [](const instrument::CompletionRecord&) {}, [](const instrument::NeighbourExtension&) {},
      [](const instrument::StartedExtension&) {},
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

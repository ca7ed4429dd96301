// An example to copy: messages and bytes sent with each tag, and how many of the blocking ones on MPI_COMM_WORLD met a
// blocking receive. It reads the mpi_events of its level and adds a table to the model (Application::extensions), which
// becomes a section of the report; and in a trace (--trace all,attributes=plugins) each send has an attribute that says
// whether it is large. docs/internals/knowledge_sources.md explains each step.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/joint.hpp"
#include "knowledge_sources/interface/event_values.hpp"
#include "knowledge_sources/interface/keyed.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/interface/worker_slots.hpp"
#include "reports/extensions.hpp"

namespace {

using namespace ardoise::knowledge_sources;
namespace blackboard = ardoise::blackboard;
namespace instrument = ardoise::instrument;

constexpr std::uint32_t kVersion = 2;         // of the bytes of partial()
constexpr std::size_t kMostEnds = 1'000'000;  // that wait for their other end
constexpr std::uint64_t kLarge = 4096;        // bytes: most MPIs send larger messages only when the receiver is ready
constexpr bool kSends = true, kReceives = false;  // sides of a joint

struct Sums {
  std::uint64_t messages = 0, bytes = 0, met = 0;
};
using ByTag = std::map<std::int32_t, Sums>;

void merge(ByTag& into, const ByTag& from) {
  for (const auto& [tag, sums] : from) {
    into[tag].messages += sums.messages;
    into[tag].bytes += sums.bytes;
    into[tag].met += sums.met;
  }
}

// The two ends of a message arrive at the analyzers of the two ranks; both go to the owner of this key.
struct Channel {
  std::uint32_t source, destination;
  std::int32_t tag;
  friend bool operator==(const Channel&, const Channel&) = default;
  friend std::uint64_t hash_of(const Channel& channel) {
    return ((std::uint64_t{channel.source} << 32 | channel.destination) * 31 +
            static_cast<std::uint32_t>(channel.tag)) *
           0x9E3779B97F4A7C15u;
  }
};
struct End {
  Channel channel;
  std::uint32_t sends;
};

class TagUsage final : public Analysis {
 public:
  explicit TagUsage(const AnalysisContext& context) : context_(context), level_(context.level) {}

  // One ByTag for each worker, so that the operation needs no lock: operations of one worker never run concurrently.
  void attach(LevelSources& sources) override {
    values_.attach(sources, context_);
    size_ = values_.define<std::string_view>("tag_usage::size", "of a message: small, or large: 4096 bytes and more");
    slots_.create(sources, [] { return std::make_unique<ByTag>(); });
    subscribe<MpiSpan>(sources, "tag_usage", level_, kMpiEvents, slots_,
                       [this](ByTag& tags, const MpiSpan& span) { add(tags, span); });
    keyed_.attach(sources, "tag_usage", level_, [this](const End& end) { meet(end); });
  }

  // For the other analyzers of the launch. Nothing runs any more.
  std::vector<std::byte> partial() const override {
    ByteWriter out;
    out.put(kVersion);
    const ByTag all = merged();
    out.put_count(all.size());
    for (const auto& [tag, sums] : all) {
      out.put(tag);
      out.put(sums.messages);
      out.put(sums.bytes);
      out.put(sums.met);
    }
    return out.take();
  }

  // Read everything, then merge: rejected bytes (BadPartial) must have no effect.
  void absorb(std::span<const std::byte> partial) override {
    ByteReader in(partial, "tag_usage");
    in.expect_version(kVersion);
    ByTag other;
    for (auto left = in.get_count(28); left != 0; --left) {
      Sums& sums = other[in.get<std::int32_t>()];
      sums.messages += in.get<std::uint64_t>();
      sums.bytes += in.get<std::uint64_t>();
      sums.met += in.get<std::uint64_t>();
    }
    in.expect_end();
    merge(absorbed_, other);
  }

  void contribute(const Resolver&, ardoise::reports::Application& application) const override {
    auto rows = nlohmann::json::array();
    for (const auto& [tag, sums] : merged()) rows.push_back({tag, sums.messages, sums.bytes, sums.met});
    add_extension(
        application, "tag_usage",
        {{"title", "Messages by tag"}, {"columns", {"tag", "messages", "bytes", "met"}}, {"rows", std::move(rows)}});
  }

 private:
  void add(ByTag& tags, const MpiSpan& span) {
    EventValueBatch values(values_);
    const std::uint64_t weight = span.header->weight;  // number of calls that a record represents
    const std::uint32_t rank = span.header->rank;
    instrument::for_each_event(
        span.records,
        [&](const instrument::MpiEvent& event) {
          const auto& record = event.record;
          const auto peer = static_cast<std::uint32_t>(record.peer);
          const bool is_in_world = record.comm() == instrument::kWorldComm && record.peer >= 0;
          if (record.shape() == instrument::Shape::kSend) {
            Sums& sums = tags[record.tag];
            sums.messages += weight;
            sums.bytes += event.bytes * weight;
            values.add(size_, {rank, span.header->thread, record.begin, EventPlace::kEnter},
                       event.bytes < kLarge ? "small" : "large");
            if (is_in_world) send({{rank, peer, record.tag}, kSends});
          } else if (record.shape() == instrument::Shape::kReceive && is_in_world) {
            send({{peer, rank, record.tag}, kReceives});
          }
        },
        [](const instrument::CompletionRecord&) {}, [](const instrument::NeighbourExtension&) {},
        [](const instrument::StartedExtension&) {});
  }

  void send(const End& end) {
    const std::uint64_t key = hash_of(end.channel);
    if (keyed_.is_own(key)) {
      meet(end);
    } else {
      keyed_.send(key, end);
    }
  }
  // On the owner of the key, on any worker.
  void meet(const End& end) {
    const std::scoped_lock guard(mutex_);
    (void)ends_.add(end.channel, end.sends == kSends, end.channel.tag, [this](std::int32_t tag) { ++met_[tag].met; });
  }

  [[nodiscard]] ByTag merged() const {
    ByTag all = absorbed_;
    merge(all, met_);
    for (const auto& slot : slots_) merge(all, *slot);
    return all;
  }

  const AnalysisContext context_;
  std::string level_;
  EventValues values_;
  EventKey<std::string_view> size_;
  WorkerSlots<ByTag> slots_;
  Keyed<End> keyed_;
  std::mutex mutex_;  // guards the next two
  Joint<Channel, std::int32_t> ends_{kMostEnds};
  ByTag met_;
  ByTag absorbed_;
};

}  // namespace

ARDOISE_ANALYSIS(tag_usage, "1.0", TagUsage)

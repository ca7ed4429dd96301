// An example to copy: how many messages and bytes went out with each tag. It reads the mpi_events of its level and adds
// a table to the model (Application::extensions), which becomes a section of the report. docs/knowledge_sources.md
// explains each step.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/byte_stream.hpp"
#include "knowledge_sources/plugin.hpp"
#include "knowledge_sources/worker_slots.hpp"

namespace {

using namespace ardoise::knowledge_sources;
namespace blackboard = ardoise::blackboard;
namespace instrument = ardoise::instrument;

constexpr std::uint32_t kVersion = 1;  // of the bytes of partial()

struct Sums {
  std::uint64_t messages = 0, bytes = 0;
};
using ByTag = std::map<std::int32_t, Sums>;

void merge(ByTag& into, const ByTag& from) {
  for (const auto& [tag, sums] : from) {
    into[tag].messages += sums.messages;
    into[tag].bytes += sums.bytes;
  }
}

class TagUsage final : public Analysis {
 public:
  explicit TagUsage(const AnalysisContext& context) : level_(context.level) {}

  // One ByTag for each worker, so that the operation needs no lock: operations of one worker never run at the same
  // time.
  void attach(LevelSources& sources) override {
    slots_.create(sources, [] { return std::make_unique<ByTag>(); });
    subscribe<MpiSpan>(sources, "tag_usage", level_, kMpiEvents, slots_, add);
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
    }
    return out.take();
  }

  // Read everything, then merge: bytes that are refused (BadPartial) must leave nothing behind.
  void absorb(std::span<const std::byte> partial) override {
    ByteReader in(partial, "tag_usage");
    in.expect_version(kVersion);
    ByTag other;
    for (auto left = in.get_count(20); left != 0; --left) {
      Sums& sums = other[in.get<std::int32_t>()];
      sums.messages += in.get<std::uint64_t>();
      sums.bytes += in.get<std::uint64_t>();
    }
    in.expect_end();
    merge(absorbed_, other);
  }

  void contribute(const Resolver&, ardoise::reports::Application& application) const override {
    auto rows = nlohmann::json::array();
    for (const auto& [tag, sums] : merged()) rows.push_back({tag, sums.messages, sums.bytes});
    application.extensions["tag_usage"] = {
        {"title", "Messages by tag"}, {"columns", {"tag", "messages", "bytes"}}, {"rows", std::move(rows)}};
  }

 private:
  static void add(ByTag& tags, const MpiSpan& span) {
    const std::uint64_t weight = span.header->weight;  // occurrences that a record stands for
    instrument::for_each_event(
        span.records,
        [&](const instrument::MpiEvent& event) {
          if (event.record.shape() != instrument::Shape::kSend) return;
          Sums& sums = tags[event.record.tag];
          sums.messages += weight;
          sums.bytes += event.bytes * weight;
        },
        [](const instrument::CompletionRecord&) {}, [](const instrument::NeighbourExtension&) {},
        [](const instrument::StartedExtension&) {});
  }

  [[nodiscard]] ByTag merged() const {
    ByTag all = absorbed_;
    for (const auto& slot : slots_) merge(all, *slot);
    return all;
  }

  std::string level_;
  WorkerSlots<ByTag> slots_;
  ByTag absorbed_;
};

}  // namespace

ARDOISE_ANALYSIS(tag_usage, "1.0", TagUsage)

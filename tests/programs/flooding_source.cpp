// A knowledge source that sends far more to the other analyzers than they can take: for each MPI record twenty of its
// own, and processing one takes microseconds. The report shows how many were sent and processed, and their sums.
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "knowledge_sources/interface/keyed.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "reports/extensions.hpp"

namespace {

using namespace ardoise;

struct Record {
  std::uint64_t number;
  std::uint64_t rest[7];
};
struct Sums {
  std::uint64_t sent = 0, sent_sum = 0, used = 0, used_sum = 0;
};

class Flooding final : public knowledge_sources::Analysis {
 public:
  explicit Flooding(const knowledge_sources::AnalysisContext& context) : level_(context.level) {}
  void attach(knowledge_sources::LevelSources& sources) override {
    keyed_.attach(sources, "flooding", level_, [this](const Record& record) { use(record); });
    sources.add({"flooding@" + level_,
                 {blackboard::entry_type(level_, knowledge_sources::kMpiEvents)},
                 [this](const blackboard::Context&, std::span<blackboard::EntryRef> entries) {
                   flood(entries[0].as<knowledge_sources::MpiSpan>());
                 }});
  }
  [[nodiscard]] std::vector<std::byte> partial() const override {
    knowledge_sources::ByteWriter out;
    out.put(sums_);
    return out.take();
  }
  void absorb(std::span<const std::byte> partial) override {
    knowledge_sources::ByteReader in(partial, "flooding");
    const auto other = in.get<Sums>();
    sums_.sent += other.sent;
    sums_.sent_sum += other.sent_sum;
    sums_.used += other.used;
    sums_.used_sum += other.used_sum;
  }
  void contribute(const knowledge_sources::Resolver&, reports::Application& application) const override {
    add_extension(application, "flooding",
                  {{"title", "Records"},
                   {"columns", {"sent", "sum", "used", "sum"}},
                   {"rows", {{sums_.sent, sums_.sent_sum, sums_.used, sums_.used_sum}}}});
  }

 private:
  void flood(const knowledge_sources::MpiSpan& span) {
    std::uint64_t number = span.header->order << 32 | std::uint64_t{span.header->rank} << 20, sum = 0;
    const std::uint64_t count = 20 * span.records.size();
    for (std::uint64_t i = 0; i < count; ++i, ++number) {
      sum += number;
      if (keyed_.is_own(number)) {
        use({number, {}});
      } else {
        keyed_.send(number, {number, {}});
      }
    }
    const std::scoped_lock guard(mutex_);
    sums_.sent += count;
    sums_.sent_sum += sum;
  }
  void use(const Record& record) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(3);
    while (std::chrono::steady_clock::now() < until) continue;
    const std::scoped_lock guard(mutex_);
    ++sums_.used;
    sums_.used_sum += record.number;
  }

  std::string level_;
  knowledge_sources::Keyed<Record> keyed_;
  std::mutex mutex_;
  Sums sums_;
};

}  // namespace

ARDOISE_ANALYSIS(flooding, "1.0", Flooding)

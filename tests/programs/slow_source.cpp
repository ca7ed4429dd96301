// A plug-in that takes a tenth of a second for each pack of MPI events, for tests of its effect on the programs.
#include <chrono>
#include <string>
#include <thread>

#include "knowledge_sources/interface/plugin.hpp"

namespace {

using namespace ardoise;

class Slow final : public knowledge_sources::Analysis {
 public:
  explicit Slow(const knowledge_sources::AnalysisContext& context) : level_(context.level) {}
  void attach(knowledge_sources::LevelSources& sources) override {
    sources.add({"slow@" + level_,
                 {blackboard::entry_type(level_, knowledge_sources::kMpiEvents)},
                 [](const blackboard::Context&, std::span<blackboard::EntryRef>) {
                   std::this_thread::sleep_for(std::chrono::milliseconds(100));
                 }});
  }
  [[nodiscard]] std::vector<std::byte> partial() const override { return {}; }
  void absorb(std::span<const std::byte>) override {}
  void contribute(const knowledge_sources::Resolver&, reports::Application&) const override {}

 private:
  std::string level_;
};

}  // namespace

ARDOISE_ANALYSIS(slow, "1.0", Slow)

// A plug-in with an operation that throws, for tests that this affects only its own part.
#include <stdexcept>
#include <string>

#include "knowledge_sources/interface/plugin.hpp"

namespace {

using namespace ardoise;

class Failing final : public knowledge_sources::Analysis {
 public:
  explicit Failing(const knowledge_sources::AnalysisContext& context) : level_(context.level) {}
  void attach(knowledge_sources::LevelSources& sources) override {
    sources.add(
        {"failing@" + level_,
         {blackboard::entry_type(level_, knowledge_sources::kMpiEvents)},
         [](const blackboard::Context&, std::span<blackboard::EntryRef>) { throw std::runtime_error("on purpose"); }});
  }
  [[nodiscard]] std::vector<std::byte> partial() const override { return {}; }
  void absorb(std::span<const std::byte>) override {}
  void contribute(const knowledge_sources::Resolver&, reports::Application&) const override {}

 private:
  std::string level_;
};

}  // namespace

ARDOISE_ANALYSIS(failing, "1.0", Failing)

// Wait states of collectives and messages: their length, the awaited ranks, the pattern, and the activity of the
// awaited ranks. Reads the mpi_events, contexts and definitions of its level; contributes Application::waiting. Ranks
// of programs that share a world wait for each other: those programs share the analysis (world_waits.hpp).
#include <memory>
#include <utility>
#include <vector>

#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/interface/worker_slots.hpp"
#include "knowledge_sources/plugins/waits/world_waits.hpp"

namespace ardoise::knowledge_sources {
namespace {

std::shared_ptr<WorldWaits> world_of(const AnalysisContext& context) {
  if (context.share == nullptr) return std::make_shared<WorldWaits>(context.ranks);
  if (*context.share == nullptr) *context.share = std::make_shared<WorldWaits>(context.world_ranks);
  return std::static_pointer_cast<WorldWaits>(*context.share);
}

class Waits final : public Analysis {
 public:
  explicit Waits(const AnalysisContext& context) : context_(context), world_(world_of(context)) {
    if (context.share == nullptr) context_.first_rank = 0;
  }

  void attach(LevelSources& sources) override {
    number_ = world_->add_program(context_, sources);
    slots_.create(sources, [] { return std::make_unique<std::vector<Arrived>>(); });
    subscribe<MpiSpan>(sources, "waits", context_.level, kMpiEvents, slots_,
                       [this](auto& arrived, const MpiSpan& span) { world_->add(number_, arrived, span); });
    subscribe<ContextSpan>(sources, "waits", context_.level, kContexts, slots_,
                           [this](auto&, const ContextSpan& span) { world_->add_contexts(number_, span); });
    subscribe<DefinitionSpan>(
        sources, "waits", context_.level, kDefinitions, slots_,
        [this](auto& arrived, const DefinitionSpan& span) { world_->define(number_, arrived, span); });
  }

  // The partial results of the whole world belong to its first program.
  void shorten() override {
    if (number_ == 0) world_->shorten();
  }
  std::vector<std::byte> partial() const override {
    return number_ == 0 ? world_->partial() : std::vector<std::byte>();
  }
  void absorb(std::span<const std::byte> partial) override {
    if (number_ == 0) return world_->absorb(partial);
    Analysis::absorb(partial);
  }

  void contribute(const Resolver& resolver, reports::Application& application) const override {
    world_->contribute(number_, resolver, application);
  }

 private:
  AnalysisContext context_;
  std::shared_ptr<WorldWaits> world_;
  std::size_t number_ = 0;  // number of the program in it
  WorkerSlots<std::vector<Arrived>> slots_;
};

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(waits, "1.1", ardoise::knowledge_sources::Waits)

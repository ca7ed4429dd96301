// A whole analysis without MPI: one or several analyzers, each a blackboard with a Reduction, fed with packs and
// reduced to one run. Used by the tests of the knowledge sources.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "knowledge_sources/reduction/reduction.hpp"
#include "replay/local_transport.hpp"
#include "replay/pack_maker.hpp"
#include "replay/plugins.hpp"

namespace ardoise::replay {

class Session {
 public:
  explicit Session(std::vector<knowledge_sources::Program> programs, unsigned workers = 0, std::size_t analyzers = 1,
                   std::vector<knowledge_sources::AnalysisFactory> factories = load_plugins(),
                   std::size_t byte_limit = blackboard::Options().byte_limit);
  ~Session();

  // The pack is copied; the order of calls is the order of submission.
  void submit(const Pack& pack, std::size_t analyzer = 0);
  void submit(const std::vector<Pack>& packs, std::size_t analyzer = 0);
  void submit_bytes(std::span<const std::byte> bytes, std::size_t analyzer = 0);

  // Drains all analyzers until no data moves between them, absorbs the partial results of all but the first into the
  // first, and returns the model.
  reports::Run finish();
  // finish() of a session with one program.
  reports::Application application() { return finish().applications.at(0); }

  knowledge_sources::Reduction& reduction(std::size_t analyzer = 0) { return *analyzers_[analyzer].reduction; }
  blackboard::Blackboard& board(std::size_t analyzer = 0) { return *analyzers_[analyzer].board; }

 private:
  struct Analyzer {
    std::unique_ptr<blackboard::Blackboard> board;
    std::unique_ptr<knowledge_sources::Reduction> reduction;
  };
  std::vector<Analyzer> analyzers_;
  std::unique_ptr<LocalTransports> transports_;
};

}  // namespace ardoise::replay

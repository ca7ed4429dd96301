#include "replay/session.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace ardoise::replay {

Session::Session(std::vector<knowledge_sources::Program> programs, unsigned workers, std::size_t analyzers,
                 std::vector<knowledge_sources::AnalysisFactory> factories, std::size_t byte_limit) {
  for (std::size_t i = 0; i < analyzers; ++i) {
    blackboard::Options options;
    options.workers = workers;
    options.byte_limit = byte_limit;
    options.on_failure = [](std::string_view source, std::string_view message) {
      std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(source.size()), source.data(),
                   static_cast<int>(message.size()), message.data());
      std::abort();
    };
    Analyzer& analyzer = analyzers_.emplace_back();
    analyzer.board = std::make_unique<blackboard::Blackboard>(std::move(options));
  }
  std::vector<blackboard::Blackboard*> boards;
  for (const auto& analyzer : analyzers_) boards.push_back(analyzer.board.get());
  transports_ = std::make_unique<LocalTransports>(boards);
  for (auto& analyzer : analyzers_) {
    analyzer.reduction = std::make_unique<knowledge_sources::Reduction>(*analyzer.board, factories);
    for (const auto& program : programs) analyzer.reduction->add_program(program);
  }
}

Session::~Session() {
  transports_->settle([] {});
  for (auto& analyzer : analyzers_) analyzer.reduction.reset();
}

void Session::submit_bytes(std::span<const std::byte> bytes, std::size_t analyzer) {
  auto entry = blackboard::make_entry(knowledge_sources::Reduction::pack_type(), bytes.size());
  std::ranges::copy(bytes, entry.writable().begin());
  analyzers_[analyzer].board->submit(std::move(entry));
}

void Session::submit(const Pack& pack, std::size_t analyzer) { submit_bytes(pack.bytes(), analyzer); }

void Session::submit(const std::vector<Pack>& packs, std::size_t analyzer) {
  for (const Pack& pack : packs) submit(pack, analyzer);
}

reports::Run Session::finish() {
  const auto flush = [this] {
    for (const auto& analyzer : analyzers_) analyzer.reduction->flush();
  };
  transports_->settle(flush);
  for (const auto& analyzer : analyzers_) analyzer.reduction->end();
  transports_->settle(flush);
  for (std::size_t i = 1; i < analyzers_.size(); ++i) {
    analyzers_[0].reduction->absorb(analyzers_[i].reduction->partial());
  }
  reports::Run run;
  analyzers_[0].reduction->contribute(run);
  return run;
}

}  // namespace ardoise::replay

#include "analyzer/run/analyzer_run.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "reports/findings/efficiency_over_time.hpp"

namespace ardoise::analyzer {

using knowledge_sources::ByteReader;
using knowledge_sources::ByteWriter;
using knowledge_sources::Sentences;

AnalyzerRun::AnalyzerRun(Options options)
    : rule_counts_(options.rules),
      board_({.workers = options.workers,
              .in_background = options.in_background,
              .byte_limit = options.memory_bytes,
              .on_failure =
                  [this](std::string_view source, std::string_view message) {
                    complain(fmt::format("The knowledge source {} failed, and some of its results are missing: {}.",
                                         source, message));
                  }}),
      reduction_(board_, std::move(options.analyses)),
      snapshots_(std::move(options.snapshots)),
      traces_(std::move(options.traces)) {
  for (const Rule& rule : options.rules) snapshots_.watched.push_back(rule.condition);
  snapshots_.becomes_true = [this](std::uint32_t rule, std::uint32_t program, std::uint32_t rank) {
    held_rules_.note({rule, program, rank});
  };
  for (const Rule& rule : options.rules) targets_.push_back(rule.target);
  snapshots_.becomes_true_of_program = [this](std::uint32_t rule, std::uint32_t program,
                                              std::span<const std::uint32_t> differing) {
    if (targets_[rule] != RuleTarget::kDiffering) return held_rules_.note({rule, program, kAllRanks});
    for (const std::uint32_t rank : differing) held_rules_.note({rule, program, rank});
  };
}

void AnalyzerRun::add_program(knowledge_sources::Program program) {
  program.snapshots = snapshots_;
  program.traces = traces_;
  programs_.push_back(program);
  reduction_.add_program(std::move(program));
}

void AnalyzerRun::submit(const SourcedPack& pack) {
  if (pack.bytes.size() >= sizeof(instrument::PackHeader)) {  // otherwise the dispatcher reports it
    auto& header = *reinterpret_cast<instrument::PackHeader*>(pack.bytes.data());
    const knowledge_sources::Program* found = nullptr;
    for (const auto& program : programs_) {
      const bool may_be = program.world == header.partition && program.place.first_rank <= header.rank;
      if (may_be && (found == nullptr || program.place.first_rank > found->place.first_rank)) found = &program;
    }
    header.partition = found != nullptr ? found->partition : UINT32_MAX;
    if (found != nullptr) header.rank -= found->place.first_rank;
  }
  board_.submit(
      blackboard::adopt_entry(knowledge_sources::Reduction::pack_type(), pack.bytes, pack.release, pack.context));
}

// Packs held back for lost predecessors occupy room that no job frees.
bool AnalyzerRun::wait_for_room(std::chrono::milliseconds timeout) {
  if (board_.wait_below_limit(timeout)) return true;
  if (board_.is_quiet()) reduction_.make_room();
  return false;
}

void AnalyzerRun::complain(const std::string& sentence) {
  const MutexLock guard(complaints_mutex_);
  complaints_.add(sentence);
}

std::vector<std::string> AnalyzerRun::complaints() const {
  const MutexLock guard(complaints_mutex_);
  return complaints_.lines();
}

std::vector<std::byte> AnalyzerRun::partial() const {
  ByteWriter out;
  const auto reduction = reduction_.partial();
  {
    const MutexLock guard(complaints_mutex_);
    complaints_.write(out);
  }
  rule_counts_.write(out);
  out.reserve(reduction.size() + 4096);
  out.put_bytes(reduction);
  return out.take();
}

void AnalyzerRun::absorb(std::span<const std::byte> partial) {
  try {
    ByteReader in(partial, "an analyzer");
    const auto complaints = Sentences::read(in);
    const auto rule_counts = RuleCounts::read(in);
    const auto reduction = in.get_bytes();
    in.expect_end();
    reduction_.absorb(reduction);
    rule_counts_.merge(rule_counts);
    const MutexLock guard(complaints_mutex_);
    complaints_.merge(complaints);
  } catch (const std::exception& error) {
    complain(fmt::format("The results of one analyzer are missing: {}", error.what()));
  }
}

void AnalyzerRun::contribute(reports::Run& run) const {
  reduction_.contribute(run);
  for (auto& application : run.applications) reports::fill_efficiencies(application);
  for (const auto& lines : {complaints(), rule_counts_.notices()})
    run.notices.insert(run.notices.end(), lines.begin(), lines.end());
}

}  // namespace ardoise::analyzer

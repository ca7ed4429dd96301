// See analyzer_run.hpp.
#include "analyzer/analyzer_run.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "knowledge_sources/byte_stream.hpp"

namespace ardoise::analyzer {

using knowledge_sources::ByteReader;
using knowledge_sources::ByteWriter;
using knowledge_sources::Sentences;

AnalyzerRun::AnalyzerRun(Options options)
    : board_({.workers = options.workers,
              .byte_limit = options.memory_bytes,
              .on_failure =
                  [this](std::string_view source, std::string_view message) {
                    complain(fmt::format("The knowledge source {} failed, and some of its numbers are missing: {}.",
                                         source, message));
                  }}),
      reduction_(board_, std::move(options.analyses)) {}

void AnalyzerRun::add_program(knowledge_sources::Program program) { reduction_.add_program(std::move(program)); }

void AnalyzerRun::submit(const SourcedPack& pack) {
  board_.submit(
      blackboard::adopt_entry(knowledge_sources::Reduction::pack_type(), pack.bytes, pack.release, pack.context));
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
  out.reserve(reduction.size() + 4096);
  out.put_bytes(reduction);
  return out.take();
}

void AnalyzerRun::absorb(std::span<const std::byte> partial) {
  try {
    ByteReader in(partial, "an analyzer");
    const auto complaints = Sentences::read(in);
    const auto reduction = in.get_bytes();
    in.expect_end();
    reduction_.absorb(reduction);
    const MutexLock guard(complaints_mutex_);
    complaints_.merge(complaints);
  } catch (const std::exception& error) {
    complain(fmt::format("The numbers of one analyzer are missing: {}", error.what()));
  }
}

void AnalyzerRun::contribute(reports::Run& run) const {
  reduction_.contribute(run);
  const auto lines = complaints();
  run.notices.insert(run.notices.end(), lines.begin(), lines.end());
}

}  // namespace ardoise::analyzer

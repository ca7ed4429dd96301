#include "knowledge_sources/otf2/packs/traced_rank.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "instrument/format/mark_name.hpp"

namespace ardoise::knowledge_sources {

void TracedLosses::add(const TracedLosses& more) {
  outside_calls += more.outside_calls;
  further_messages += more.further_messages;
  unknown_ends += more.unknown_ends;
  inner_calls += more.inner_calls;
  unbalanced += more.unbalanced;
  unfinished += more.unfinished;
  values += more.values;
  flushes += more.flushes;
  others += more.others;
  neighbourhoods += more.neighbourhoods;
  untimely += more.untimely;
}

std::vector<std::string> TracedLosses::sentences() const {
  std::vector<std::string> list;
  const auto say_if = [&](std::uint64_t count, std::string_view what) {
    if (count != 0) list.push_back(fmt::format("In the trace, {} {}.", count, what));
  };
  say_if(outside_calls,
         "messages, collectives and accesses are outside of MPI calls; they are shown as calls "
         "without duration");
  say_if(further_messages, "messages are not shown because their calls already have one");
  say_if(unknown_ends, "ends of operations are not shown because their starts are missing");
  say_if(inner_calls, "MPI calls are made inside MPI calls and not shown separately");
  say_if(unbalanced, "regions are left without having been entered");
  say_if(unfinished, "calls have no end; they are shown up to the last event of their thread");
  say_if(values, "values of metrics and parameters are not shown");
  say_if(flushes, "times the tool that wrote it flushed a buffer, which delayed the program");
  say_if(others, "events of threads, tasks and locks, or of unknown kinds, are not shown");
  say_if(neighbourhoods,
         "calls of neighbourhood collectives lack their neighbours; waiting in them, and the data that they send to "
         "each rank, are not shown");
  say_if(untimely, "operations took so long that the communicator of their start is not shown");
  return list;
}

void TracedRank::define_code(std::uint32_t code) {
  if (code == 0 || !codes_.insert(code).second) return;
  const TracedProgram::Code& of = program.code(code);
  packs.define(instrument::PythonCodeDefinition{code, 0, of.first_line == kUndefined32 ? 0 : of.first_line, 0},
               std::string_view(of.name), std::string_view(of.file), std::string_view());
}

std::uint32_t TracedRank::site_of(CodePlace place) {
  if (place.code == 0) return 0;
  const auto [found, is_new] = sites_.try_emplace(std::uint64_t{place.code} << 32 | place.line, 0);
  if (is_new) {
    define_code(place.code);
    const TracedProgram::Code& code = program.code(place.code);
    // Equal in all processes.
    found->second = instrument::mark_name_id(fmt::format("{}\n{}\n{}", code.name, code.file, place.line));
    packs.define(instrument::CallSiteDefinition{found->second, instrument::kPythonModule, found->first});
  }
  return found->second;
}

void TracedRank::use_file(std::uint32_t file) {
  if (file == 0 || !files_.insert(file).second) return;
  packs.define(instrument::FileDefinition{file, 0}, std::string_view(program.path_of(file)));
}

void TracedRank::use_mark(std::uint32_t name) {
  if (name == 0 || !marks_.insert(name).second) return;
  packs.define(instrument::MarkNameDefinition{name, 0},
               std::string_view(program.mark_name(name)).substr(0, instrument::kMaxMarkName));
}

void TracedRank::define_sampling(instrument::SampleUnit unit, const std::string& event, double hertz,
                                 std::uint64_t period, std::uint32_t thread) {
  if (!sampled_threads_.insert(thread).second) return;
  if (sampled_threads_.size() == 1)
    packs.define(instrument::CountersDefinition{0, unit}, std::string_view(event), std::span<const std::string_view>());
  if (hertz <= 0 && period == 0) return;
  instrument::SamplingDefinition sampling{};
  sampling.thread = thread;
  sampling.tick = program.origin_tick();
  sampling.hertz = hertz;
  sampling.period = period;
  packs.define(sampling);
}

void TracedRank::note_mpi_thread(std::uint32_t thread) {
  if (!mpi_thread_) mpi_thread_ = thread;
  if (*mpi_thread_ != thread) packs.set_several_threads();
}

// Sends the definitions that calls refer to before all calls.
TracedRank::TracedRank(const TracedProgram& of_program, std::uint32_t rank, std::uint64_t first_tick,
                       const TakePack& take)
    : program(of_program), number(rank), packs({rank, of_program.origin_tick(), of_program.ticks_per_second()}, take) {
  program.define_clock(packs, number, 0);
  program.define_communicators(packs, number);
  // Without MPI_Init, all calls count as after it.
  counts_ = !program.has_init();
  if (counts_) define_process(program.is_ours() ? program.origin_tick() : first_tick, 0);
}

void TracedRank::define_process(std::uint64_t begin_tick, std::uint64_t init_ticks) {
  is_defined_ = true;
  program.define_process(packs, number, begin_tick, init_ticks, 0);
}

void TracedRank::finish() {
  if (!is_defined_) define_process(program.origin_tick(), 0);
  losses.untimely = packs.sent_before_known();
  program.define_clock(packs, number, finalize_ != 0 ? finalize_ : std::max(last_tick_, program.origin_tick()));
  packs.finish();
}

}  // namespace ardoise::knowledge_sources

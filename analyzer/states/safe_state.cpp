#include "analyzer/states/safe_state.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/output_folder/live_process.hpp"
#include "analyzer/output_folder/own_files.hpp"
#include "analyzer/results/results.hpp"
#include "analyzer/states/memory_kills.hpp"
#include "instrument/machine/own_folder.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "reports/atomic_file.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using knowledge_sources::ByteReader;
using knowledge_sources::ByteWriter;
using knowledge_sources::Program;

void put(ByteWriter& out, const Program& program) {
  out.put(program.partition);
  out.put_text(program.name);
  out.put(program.ranks);
  out.put(program.ticks_per_second);
  out.put(program.world);
  out.put(program.place);
}
Program get_program(ByteReader& in) {
  Program program;
  program.partition = in.get<std::uint32_t>();
  program.name = in.get_text();
  program.ranks = in.get<std::uint32_t>();
  program.ticks_per_second = in.get<double>();
  program.world = in.get<std::uint32_t>();
  program.place = in.get<knowledge_sources::WorldPart>();
  return program;
}

}  // namespace

SafeState read_safe_state(const fs::path& path) {
  const std::string text = read_own_file(path).value_or("");
  const std::string name = path.filename().string();
  ByteReader in(std::as_bytes(std::span(text)), name);
  SafeState state;
  in.check(in.get_text() == ARDOISE_VERSION, "is of another version of Ardoise");
  state.facts.run.universe_ranks = in.get<std::uint32_t>();
  state.facts.run.analyzer_ranks = in.get<std::uint32_t>();
  state.facts.run.analyzer_workers = in.get<std::uint32_t>();
  for (auto left = in.get_count(sizeof(std::uint32_t)); left != 0; --left)
    state.facts.run.notices.emplace_back(in.get_text());
  state.command = in.get_text();
  for (auto left = in.get_count(3 * sizeof(std::uint32_t)); left != 0; --left) {
    reports::RunSetting& setting = state.settings.emplace_back();
    setting.name = in.get_text();
    setting.value = in.get_text();
    setting.set_by = in.get_text();
  }
  for (auto left = in.get_count(sizeof(double)); left != 0; --left) state.facts.programs.push_back(get_program(in));
  for (auto left = in.get_count(sizeof(std::uint32_t)); left != 0; --left)
    state.facts.first_gone.emplace_back(in.get_text());
  for (auto left = in.get_count(sizeof(std::uint64_t)); left != 0; --left) {
    const auto partition = in.get<std::uint32_t>(), rank = in.get<std::uint32_t>();
    state.facts.arrived[{partition, rank}] = in.get<std::uint64_t>();
  }
  state.facts.complete = in.get<std::uint32_t>();
  state.facts.time = in.get<std::int64_t>();
  state.facts.memory_kills_before = in.get<std::uint64_t>();
  state.facts.run.memory_kills = in.get<std::uint64_t>();
  state.facts.analyzer = in.get<std::int64_t>();
  state.host = in.get_text();
  const auto partial = in.get_bytes();
  state.partial.assign(partial.begin(), partial.end());
  in.expect_end();
  // A state has more than a byte for each rank.
  std::uint64_t ranks = 0;
  for (const Program& program : state.facts.programs) ranks += program.ranks;
  in.check(ranks <= state.partial.size(), "has more ranks than its bytes allow");
  return state;
}

void write_safe_state(const AnalyzerRun& run, const SafeFacts& facts, unsigned rank, const Options& options) {
  ByteWriter out;
  out.put_text(ARDOISE_VERSION);
  out.put(facts.run.universe_ranks);
  out.put(facts.run.analyzer_ranks);
  out.put(facts.run.analyzer_workers);
  out.put_count(facts.run.notices.size());
  for (const std::string& notice : facts.run.notices) out.put_text(notice);
  out.put_text(options.command);
  out.put_count(options.settings.size());
  for (const reports::RunSetting& setting : options.settings) {
    out.put_text(setting.name);
    out.put_text(setting.value);
    out.put_text(setting.set_by);
  }
  out.put_count(facts.programs.size());
  for (const Program& program : facts.programs) put(out, program);
  out.put_count(facts.first_gone.size());
  for (const std::string& each : facts.first_gone) out.put_text(each);
  out.put_count(facts.arrived.size());
  for (const auto& [process, next] : facts.arrived) {
    out.put(process.first);
    out.put(process.second);
    out.put(next);
  }
  out.put(facts.complete);
  out.put(facts.time);
  out.put(facts.memory_kills_before);
  out.put(memory_kills_since(facts.memory_kills_before));
  out.put(facts.analyzer);
  out.put_text(host_name());
  out.put_bytes(run.partial());
  const auto bytes = out.take();
  // Not synced to disk, which may take too long: the process ends, not the machine.
  const fs::path path = safe_state_file(options.output, facts.prefix, rank);
  if (write_own_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()})) return;
  if (facts.prefix == kSafeStatePrefix) say(fmt::format("the measured data cannot be written to {}.", path.string()));
}

void use_as_first_state(const std::string& prefix, unsigned rank, const Options& options) {
  const instrument::OwnFolder folder(options.output.c_str());
  const auto name_of = [rank](const std::string& of) { return safe_state_file("", of, rank).string(); };
  const std::string first = name_of(kFirstStatePrefix), beside = reports::half_written(first);
  struct stat found {};
  if (folder.link(name_of(prefix).c_str(), beside.c_str()) != 0) return;
  if (folder.stat(first.c_str(), found) != 0 || folder.rename(beside.c_str(), first.c_str()) != 0)
    folder.remove(beside.c_str());
}

void remove_safe_state(unsigned rank, const Options& options) {
  for (const char* const prefix : {kFirstStatePrefix, kNextStatePrefix, kSafeStatePrefix, kSavesMarkPrefix})
    remove_own_file(safe_state_file(options.output, prefix, rank));
  if (rank != 0) return;
  remove_requests(options.output);
  remove_all_with(options.output, {instrument::kControlName});
}

}  // namespace ardoise::analyzer

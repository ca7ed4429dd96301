// Feeds bytes as files that the processes and analyzers of a launch write into its folder: the states of processes,
// whose hang is then explained, or the state of an analyzer. The first eight bytes choose ("process", "state", zeros).
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/hangs/deadlock.hpp"
#include "analyzer/hangs/stalled_processes.hpp"
#include "analyzer/output_folder/own_files.hpp"
#include "analyzer/states/safe_state.hpp"
#include "instrument/format/pack_file.hpp"
#include "instrument/format/process_states.hpp"
#include "knowledge_sources/interface/analysis.hpp"
#include "reports/text/utf8.hpp"

using namespace ardoise;

namespace {

namespace fs = std::filesystem;

// In memory. libFuzzer ends without destructors, so each process removes the folders of ended processes.
const fs::path& folder() {
  static const fs::path path = [] {
    const std::string prefix = "/dev/shm/fuzz_left_";
    for (const auto& entry : fs::directory_iterator("/dev/shm")) {
      const std::string other = entry.path().string();
      if (other.starts_with(prefix) && ::kill(std::atoi(other.c_str() + prefix.size()), 0) != 0) fs::remove_all(other);
    }
    const std::string own = prefix + std::to_string(::getpid());
    if (::mkdir(own.c_str(), 0700) != 0) std::abort();
    return own;
  }();
  return path;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write(const std::string& name, std::span<const std::byte> bytes) {
  if (!analyzer::write_own_file(folder() / name, text_of(bytes))) std::abort();
}

// Each pack belongs to one process.
void read_process_states(std::span<const std::byte> bytes) {
  for (const fs::path& file : analyzer::position_files(folder())) fs::remove(file);
  instrument::PackSequence packs(bytes);
  std::uint32_t rank = 0;
  const std::byte* begin = bytes.data();
  while (const auto pack = packs.next()) {
    write(instrument::process_state_name(0, rank++), {begin, pack->bytes()});
    begin += pack->bytes();
  }
  if (rank == 0) write(instrument::process_state_name(0, 0), bytes);
  std::map<std::uint32_t, std::vector<analyzer::StalledProcess>> worlds;
  for (auto& stalled : analyzer::read_stalled_processes(folder()))
    worlds[stalled.process.first].push_back(std::move(stalled));
  for (const auto& [world, processes] : worlds) {
    const std::string text = analyzer::reason_of_hang(processes).text;
    if (text != reports::printable(text)) std::abort();
  }
}

void read_state(std::span<const std::byte> bytes) {
  const fs::path file = analyzer::safe_state_file(folder(), analyzer::kFirstStatePrefix, 0);
  write(file.filename(), bytes);
  try {
    const analyzer::SafeState state = analyzer::read_safe_state(file);
    std::uint64_t ranks = 0;
    for (const auto& program : state.facts.programs) ranks += program.ranks;
    if (ranks > bytes.size()) std::abort();
  } catch (const knowledge_sources::BadPartial&) {  // the sentence that is said
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kWhich = 8;
  if (size < kWhich) return 0;
  std::vector<std::uint64_t> aligned((size + 7) / 8);
  std::memcpy(aligned.data(), data, size);
  const auto bytes = std::as_bytes(std::span(aligned)).first(size);
  const std::string_view which = text_of(bytes.first(kWhich));
  if (which.starts_with("process")) read_process_states(bytes.subspan(kWhich));
  if (which.starts_with("state")) read_state(bytes.subspan(kWhich));
  return 0;
}

// The extra cost of one MPI call under Ardoise: the loops of call_cost_loop.c and .f90 run native, with libvmpi.so
// preloaded (wrappers, no observer) and with libardoise.so recording every call (two clock reads, call site, record,
// totals) into packs that go to /dev/null, in turns, several rounds. Prints medians beside the physical limit, two
// reads of the clock that the recorder uses on this machine; the last line is for tools/bench.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "instrument/machine/clock.hpp"

namespace {

enum Mode { kNative, kUnobserved, kObserved, kModes };
constexpr int kRounds = 7;

using Nanoseconds = std::map<std::string, std::array<std::vector<double>, kModes>>;  // by "language function"

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// The shortest of many batches, like the loops.
double clock_read_ns() {
  constexpr int kBatches = 400, kReads = 1000;
  double shortest = 1e9;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kReads; ++i) (void)ardoise::instrument::now();
    const std::chrono::duration<double, std::nano> duration = std::chrono::steady_clock::now() - begin;
    shortest = std::min(shortest, duration.count());
  }
  return shortest / kReads;
}

// Discards the packs of the programs with these names: the capture files are links to /dev/null.
std::filesystem::path make_sink(const std::vector<std::string>& names) {
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("ardoise_call_cost_{}", ::getpid());
  std::filesystem::create_directories(directory);
  for (const auto& name : names) std::filesystem::create_symlink("/dev/null", directory / (name + ".0.packs"));
  return directory;
}

bool run(Mode mode, const std::string& language, const std::string& program, const std::string& sink,
         Nanoseconds& results) {
  std::string environment;
  if (mode == kUnobserved) environment = fmt::format("env LD_PRELOAD='{}'", ARDOISE_VMPI_LIBRARY);
  if (mode == kObserved) {
    environment = fmt::format("env LD_PRELOAD='{}' ARDOISE_CAPTURE='{}'", ARDOISE_PRELOAD_LIBRARY, sink);
  }
  const std::string command = fmt::format("{} -n 1 {} '{}' 2>&1", MPIEXEC, environment, program);
  std::FILE* const output = ::popen(command.c_str(), "r");
  if (output == nullptr) return false;
  std::array<char, 256> function{};
  double nanoseconds = 0;
  while (std::fscanf(output, "%255s %lf", function.data(), &nanoseconds) == 2) {
    results[language + " " + function.data()][mode].push_back(nanoseconds);
  }
  return ::pclose(output) == 0;
}

}  // namespace

int main() {
  // As root, mpirun requires two variables.
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  const std::array<std::pair<std::string, std::string>, 2> programs{
      std::pair{std::string("C"), std::string(ARDOISE_C_LOOP)},
      std::pair{std::string("Fortran"), std::string(ARDOISE_FORTRAN_LOOP)}};
  std::vector<std::string> names;
  for (const auto& [language, program] : programs) names.push_back(std::filesystem::path(program).filename());
  const auto sink = make_sink(names);
  Nanoseconds results;
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& [language, program] : programs) {
      for (const Mode mode : {kNative, kUnobserved, kObserved}) {
        if (!run(mode, language, program, sink, results)) {
          fmt::print(stderr, "call_cost_bench: {} failed; see whether it runs under mpirun by itself.\n", program);
          std::filesystem::remove_all(sink);
          return 1;
        }
      }
    }
  }
  std::filesystem::remove_all(sink);

  fmt::print("{:<24} {:>10} {:>18} {:>18}   (ns, medians of {} rounds)\n", "call", "native", "unobserved adds",
             "observed adds", kRounds);
  double worst_unobserved = 0, worst_observed = 0;
  for (const auto& [call, modes] : results) {
    // The table shows the sum of a pair of calls, which counts as half for each.
    const int calls = call.find('+') == std::string::npos ? 1 : 2;
    const double native = median(modes[kNative]);
    const double unobserved = median(modes[kUnobserved]) - native, observed = median(modes[kObserved]) - native;
    fmt::print("{:<24} {:>10.1f} {:>18.1f} {:>18.1f}\n", call, native, unobserved, observed);
    worst_unobserved = std::max(worst_unobserved, unobserved / calls);
    worst_observed = std::max(worst_observed, observed / calls);
  }
  const double two_reads = 2 * clock_read_ns();
  fmt::print("Two reads of the clock ({}): {:.1f} ns. The line below is the worst of the calls, for one of them.\n",
             ardoise::instrument::clock_name(), two_reads);
  fmt::print("bench: call_cost_observed_ns={:.1f} call_cost_clock_ratio={:.2f} call_cost_unobserved_ns={:.1f}\n",
             worst_observed, worst_observed / two_reads, worst_unobserved);
}

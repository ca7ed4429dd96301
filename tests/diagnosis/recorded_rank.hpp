// The packs of one simulated rank: records, samples and definitions as a real process would send them. Times are
// seconds of virtual time; a tick is a nanosecond.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "instrument/format/posix_functions.hpp"
#include "instrument/machine/thread_watch.hpp"
#include "tests/replay/pack_maker.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::diagnosis {

// A function of the simulated program and a line in it.
struct Place {
  const char* function;
  std::uint32_t line;
};

class RecordedRank {
 public:
  // An operation that was started: the fields of its completion.
  struct Started {
    std::uint64_t begin = 0;
    std::uint32_t site = 0;
    vmpi::FunctionId function{};
  };
  struct Call {
    vmpi::FunctionId function;
    instrument::Shape shape;
    double begin, end;
    std::int32_t peer = instrument::kNoPeer, tag = 0;
    std::uint64_t bytes = 0;
    std::uint32_t comm = 0;
  };

  // One of several programs in a world: the number of the program, and its ranks in the world.
  struct Program {
    std::uint32_t number = 0, first_rank = 0, ranks = 0;
  };
  // rank: in the world; suffix: of all names of functions.
  RecordedRank(std::uint32_t rank, std::uint32_t world_ranks, Program program, double sampling, std::uint32_t host,
               std::string suffix);

  // Whether the calls from now on use data in runs of 8 bytes.
  void use_short_runs(bool does) { in_short_runs_ = does; }
  [[nodiscard]] bool uses_short_runs() const { return in_short_runs_; }

  void define_communicator(std::uint32_t comm, const std::vector<std::uint32_t>& members);
  Started call(Place place, const Call& call);
  void completion(const Started& started, std::int32_t source, std::int32_t tag, std::uint64_t bytes);
  void file_call(Place place, instrument::PosixFunction function, const std::string& path, double begin, double end,
                 std::uint64_t bytes);
  void mpi_file_call(Place place, vmpi::FunctionId function, const std::string& path, double begin, double end,
                     std::uint64_t bytes);
  // CPU time outside of calls; kernel_share of it in the kernel.
  void compute(Place place, double begin, double end, double kernel_share);
  void compute_in_thread(std::uint32_t thread, Place place, double begin, double end);
  void wait_for_processor(double seconds) { without_processor_ += seconds; }
  void sleep(double seconds, instrument::SleepReason reason) {
    asleep_outside_[static_cast<std::size_t>(reason)] += seconds;
  }
  // In a call, which would use CPU time otherwise.
  void preempt(double seconds) {
    without_processor_ += seconds;
    cpu_ -= seconds;
  }
  [[nodiscard]] std::vector<replay::Pack> finish(double end, std::uint32_t processors_of_host);

 private:
  struct Thread {
    double until_sample;
    std::uint64_t taken = 0;
    std::vector<instrument::SampleRecord> samples;
  };
  // The content of a sample beside its context.
  struct InCall {
    std::uint16_t function = 0;  // number + 1; 0: none
    std::uint8_t flags = 0;
    double kernel_share = 0;
  };

  std::uint32_t site(Place place);
  std::uint32_t context(Place place);
  std::uint32_t code(const std::string& name);
  std::uint32_t file(const std::string& path);
  // Samples of CPU time that was used in a context, from begin to end.
  void sample(std::uint32_t thread, std::uint32_t context, double begin, double end, InCall call);
  void add_context_totals(std::uint32_t context, instrument::PackClass record_class, std::uint16_t function,
                          double seconds, std::uint64_t sent, std::uint64_t received);
  [[nodiscard]] std::uint32_t looks(double seconds);
  void put_sampled();  // the samples since the last call, before the next one

  std::uint32_t rank_;
  replay::PackMaker packs_;
  double sampling_;
  std::string suffix_, host_name_;
  double cpu_ = 0, other_threads_cpu_ = 0, without_processor_ = 0, asleep_in_io_ = 0;
  std::array<double, instrument::kSleepReasons> asleep_outside_{};  // by reason
  std::mt19937 random_;
  std::map<std::string, std::uint32_t> codes_, files_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> contexts_, sites_;
  std::set<std::uint32_t> sites_with_short_runs_;
  bool in_short_runs_ = false;
  std::vector<instrument::ContextRecord> all_contexts_;  // of every thread
  std::map<std::uint32_t, Thread> threads_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, instrument::ContextTotalsRecord> context_totals_;
  instrument::SampledExtension between_{};
};

}  // namespace ardoise::diagnosis

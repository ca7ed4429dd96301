// The program of an OTF2 archive in the terms of the event format: its processes are ranks 0, 1 …, its regions are
// functions of MPI, of I/O or of the program, its communicators are numbered for each rank. Made once before the events
// are read, and constant afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/packs/made_packs.hpp"
#include "knowledge_sources/otf2/reader/archive_reader.hpp"

namespace ardoise::knowledge_sources {

// A place in the program: a function of a code table (PythonCodeDefinition) and a line.
struct CodePlace {
  std::uint32_t code = 0;  // 0: none
  std::uint32_t line = 0;  // 0: unknown
  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

struct TracedRegion {
  enum class Kind : std::uint8_t { kUser, kMpi, kPosix, kInit, kFinalize, kPhase };
  Kind kind = Kind::kUser;
  bool is_mpi_io = false;       // moves data of files
  bool is_io = false;           // of kUser: accesses files
  std::uint16_t function = 0;   // kMpi, kPosix
  std::uint32_t mark_name = 0;  // kPhase
  CodePlace own;                // the function itself
  CodePlace caller;             // its call site, if the region has it
};

// Immutable once made.
class TracedProgram {
 public:
  // Number in the packs, from 0.
  struct Thread {
    std::uint32_t rank, thread;
    bool is_samples;  // a location of samples, no thread
  };
  struct Code {
    std::string name, file;
    std::uint32_t first_line;
  };

  explicit TracedProgram(const ArchiveReader& archive);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(groups_.size()); }
  [[nodiscard]] bool is_ours() const { return is_ours_; }
  [[nodiscard]] bool has_init() const { return has_init_; }  // rank 0 calls MPI_Init, near the beginning
  [[nodiscard]] const ArchiveDefinitions& definitions() const { return definitions_; }

  // nullopt: it belongs to no process of the program.
  [[nodiscard]] std::optional<Thread> thread_of(const ArchivedLocation& location) const;
  [[nodiscard]] const TracedRegion& region(std::uint32_t reference) const;
  [[nodiscard]] const Code& code(std::uint32_t number) const { return codes_[number - kFirstCode]; }
  [[nodiscard]] const std::string& mark_name(std::uint32_t id) const;
  // Name of the mark that a parameter or a metric represents, 0 for MPI_Pcontrol; nullopt: none.
  [[nodiscard]] std::optional<std::uint32_t> mark_of_parameter(std::uint32_t parameter) const;
  [[nodiscard]] std::optional<std::uint32_t> mark_of_metric(std::uint32_t metric) const;
  // Attribute with the calling contexts of calls (ardoise::callstack); kUndefined32: there is none.
  [[nodiscard]] std::uint32_t stack_attribute() const { return stack_attribute_; }

  // Numbers of a rank; kNoComm if it is no member.
  [[nodiscard]] std::uint32_t comm_of(std::uint32_t rank, std::uint32_t reference) const;
  struct Window {
    std::uint32_t comm, number;
  };
  [[nodiscard]] Window window_of(std::uint32_t rank, std::uint32_t reference) const;
  // Members of a group as ranks in the window's communicator.
  [[nodiscard]] std::vector<std::int32_t> group_in_window(std::uint32_t window, std::uint32_t group) const;
  // File of a handle; 0: unknown.
  [[nodiscard]] std::uint32_t file_of(std::uint32_t handle) const;
  [[nodiscard]] const std::string& path_of(std::uint32_t file) const { return paths_[file - 1]; }

  // Converts the archive's time to ticks, finer if the archive's clock is coarse, so that events of equal time in a
  // thread differ.
  [[nodiscard]] std::uint64_t tick(std::uint64_t time) const { return time * ticks_per_tick_ + kFirstTick; }
  [[nodiscard]] double ticks_per_second() const { return ticks_per_second_; }
  [[nodiscard]] std::uint64_t origin_tick() const { return tick(origin_); }
  [[nodiscard]] std::uint64_t length_ticks() const { return length_ * ticks_per_tick_; }

  // Definitions of a process at its begin; init: of MPI_Init, 0 if there is none.
  void define_process(MadePacks& packs, std::uint32_t rank, std::uint64_t begin_tick, std::uint64_t init_ticks,
                      std::uint32_t thread_level) const;
  void define_clock(MadePacks& packs, std::uint32_t rank, std::uint64_t end_tick) const;
  void define_communicators(MadePacks& packs, std::uint32_t rank) const;

  // Omitted data, and replacements.
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }

 private:
  static constexpr std::uint32_t kFirstCode = 2;  // 1 is the import of modules
  static constexpr std::uint64_t kFirstTick = 1;  // 0 means no tick
  struct Comm {
    const ArchivedComm* archived;
    std::vector<std::int32_t> members, others;  // ranks; instrument::kNoPeer: outside the program
    std::uint64_t hash;
    std::uint32_t instance;
  };

  void find_ranks();
  void find_threads();
  void find_origin();
  void find_regions();
  void find_communicators();
  void find_windows();
  void find_files();
  void find_marks();
  void find_losses();
  [[nodiscard]] TracedRegion region_of(const ArchivedRegion& region);
  [[nodiscard]] std::uint32_t code_of(Code code);
  [[nodiscard]] std::vector<std::int32_t> ranks_of(const std::vector<std::uint64_t>& locations) const;

  const ArchiveReader& archive_;
  const ArchiveDefinitions& definitions_;
  bool is_ours_, has_init_ = false;
  std::uint32_t stack_attribute_ = kUndefined32;
  std::string name_;
  std::vector<std::uint32_t> groups_;                       // location groups, by rank
  std::unordered_map<std::uint32_t, std::uint32_t> ranks_;  // of location groups
  std::unordered_map<std::uint64_t, Thread> threads_;       // of locations
  std::vector<std::string> hosts_, nodes_;                  // by rank; node: an id
  std::vector<double> clock_errors_;                        // by rank, seconds
  std::uint64_t origin_ = 0, length_ = 0, ticks_per_tick_ = 1;
  double ticks_per_second_ = 1e9;
  std::vector<TracedRegion> regions_;  // in the order of the definitions
  std::vector<Code> codes_;
  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::uint32_t> code_numbers_;
  std::vector<Comm> comms_;                                        // except that of all ranks, and MPI_COMM_SELF
  std::unordered_map<std::uint32_t, std::uint32_t> comms_of_all_;  // numbers of these, by reference
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> comms_of_rank_;  // by rank: numbers, by reference
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> windows_;  // comm and number, by reference
  std::unordered_map<std::uint32_t, std::uint32_t> files_;                              // by handle
  std::vector<std::string> paths_;                                                      // by file - 1
  std::unordered_map<std::uint32_t, std::uint32_t> parameters_, metrics_;               // names of marks
  std::unordered_map<std::uint32_t, std::string> mark_names_;
  std::vector<std::string> notices_;
};

}  // namespace ardoise::knowledge_sources

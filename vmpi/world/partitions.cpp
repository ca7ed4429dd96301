// Two collectives carry data: 32 bytes of each process (key, length of its texts, identity), and the name and command
// line of the first process of each application context. Around them, all processes agree whether each has succeeded so
// far: a process that failed alone would be in the real world and wait for others in theirs.
#include "vmpi/world/partitions.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vmpi/loader/launch_environment.hpp"
#include "vmpi/real_functions.hpp"
#include "vmpi/world/agreement.hpp"
#include "vmpi/world/partition_name.hpp"
#include "vmpi/world/process_identity.hpp"

namespace ardoise::vmpi {
namespace {

constexpr std::size_t kMaxCommand = 16 * 1024;

struct State {
  Partitions partitions;
  std::unordered_map<int, std::int64_t> watchable;  // by universe rank: processes that can be watched from here
  std::vector<std::string> commands, program_commands;
  std::vector<VMPI_Partition_desc> descriptors;
  std::vector<VMPI_Program_desc> programs;
  MPI_Comm universe = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;
};

// Written in MPI_Init and MPI_Finalize, which MPI orders before and after all other calls.
std::optional<State> state;
bool was_initialised = false;
std::string explicit_name;
std::string name_complaint;  // printed once, by the first process of the partition

// Relaxed: the program itself orders its MPI calls after MPI_Init.
std::atomic<MPI_Comm> current_partition_comm{MPI_COMM_NULL};

struct Announcement {
  std::uint64_t key;
  std::int32_t context;  // number of the application context
  std::uint32_t text_bytes;
  ProcessIdentity identity;
};
static_assert(sizeof(Announcement) == 32);

std::vector<std::string> read_command_line(int argc, char** argv) {
  std::vector<std::string> arguments;
  std::string text;
  // Not stdio: instrument counts the program's I/O, and this read is ours.
  if (const int file = ::open("/proc/thread-self/cmdline", O_RDONLY | O_CLOEXEC); file >= 0) {
    char chunk[4096];
    for (ssize_t got; text.size() < 16 * kMaxCommand && (got = ::read(file, chunk, sizeof chunk)) > 0;)
      text.append(chunk, static_cast<std::size_t>(got));
    ::close(file);
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\0', begin), text.size());
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (arguments.empty() && argv != nullptr) {
    for (int i = 0; i < argc && argv[i] != nullptr; ++i) arguments.emplace_back(argv[i]);
  }
  return arguments;
}

std::string read_executable() {
  char path[4096];
  const auto length = ::readlink("/proc/thread-self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

std::string joined(const std::vector<std::string>& arguments) {
  std::string line;
  for (const auto& argument : arguments) line += (line.empty() ? "" : " ") + argument;
  return truncated(line, kMaxCommand);
}

void complain_about_name(std::string_view name, const char* why) {
  name_complaint = "ardoise: the partition name \"" + truncated(name, 40) + "\" is not used because " + why +
                   "; the program's own name is used instead.";
}

void take_name_from_environment() {
  const char* name = std::getenv("VMPI_PARTITION_NAME");
  if (name == nullptr || !explicit_name.empty()) return;
  if (const char* why = invalid_partition_name(name)) {
    complain_about_name(name, why);
  } else {
    explicit_name = name;
  }
}

// Number of the application context on the launch line, -1: the launcher does not number them.
std::int32_t own_context() {
  int* number = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
  return found != 0 && number != nullptr ? *number : -1;
}

PartitionKey own_key(std::int32_t context, const std::string& executable, const std::string& command) {
  if (!explicit_name.empty()) return PartitionKey::explicit_name(explicit_name);
  if (context >= 0) return PartitionKey::application_context(context);
  return PartitionKey::command_line(executable, command);
}

// The program's name, the explicit partition name or none, and the command, as the first process of an application
// context sends them.
std::string texts_of(const std::string& program, const std::string& command) {
  return program + '\0' + explicit_name + '\0' + command;
}

// The processes of one application context in one partition, which share a command line.
struct Program {
  std::size_t first_rank;
  int processes;
};

// In the order of the launch line, in runs of consecutive ranks. A launcher without context numbers gives one program
// for each run.
std::vector<Program> programs_of(const std::vector<Announcement>& announced) {
  std::vector<Program> programs;
  for (std::size_t rank = 0; rank < announced.size(); ++rank) {
    const auto& now = announced[rank];
    const bool continues = rank > 0 && now.key == announced[rank - 1].key && now.context == announced[rank - 1].context;
    if (!continues) programs.push_back({rank, 0});
    ++programs.back().processes;
  }
  return programs;
}

// Lengths and offsets of the processes' texts.
struct Texts {
  std::vector<Program> programs;
  std::vector<int> counts, offsets;
  std::string text;

  explicit Texts(const std::vector<Announcement>& announced)
      : programs(programs_of(announced)), counts(announced.size(), 0), offsets(announced.size(), 0) {
    const auto share = text_share(programs.size());
    for (const auto& program : programs) {
      const auto bytes = std::min<std::size_t>(announced[program.first_rank].text_bytes, share);
      counts[program.first_rank] = static_cast<int>(bytes);
      offsets[program.first_rank] = static_cast<int>(text.size());
      text.resize(text.size() + bytes);
    }
  }
};

// The texts of one program.
struct Described {
  int partition;
  std::string name, explicit_name, command;
};

std::vector<Described> read_texts(const Texts& texts, const PartitionTable& table) {
  std::vector<Described> programs;
  for (const auto& program : texts.programs) {
    const std::string_view all(texts.text);
    std::string_view rest = all.substr(static_cast<std::size_t>(texts.offsets[program.first_rank]),
                                       static_cast<std::size_t>(texts.counts[program.first_rank]));
    const auto take = [&rest] {
      const auto end = std::min(rest.find('\0'), rest.size());
      const std::string text(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      return text;
    };
    auto& described = programs.emplace_back();
    described.partition = table.partition_of(static_cast<int>(program.first_rank));
    described.name = take();
    described.explicit_name = take();
    described.command = rest;
  }
  return programs;
}

// Names and command lines of all partitions. The command line of a partition that joins several contexts would launch
// them alone: "-n 2 ./ocean : -n 4 ./atmosphere".
void describe_partitions(const Texts& texts, const std::vector<Described>& programs, State& made) {
  const auto& table = made.partitions.table;
  std::vector<std::string> names(static_cast<std::size_t>(table.count()));
  std::vector<bool> is_explicit(names.size(), false);
  std::vector<int> first_processes(names.size(), 0);
  made.commands.resize(names.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto id = static_cast<std::size_t>(programs[i].partition);
    const auto& command = programs[i].command;
    const int processes = texts.programs[i].processes;
    auto& line = made.commands[id];
    if (names[id].empty()) {
      is_explicit[id] = !programs[i].explicit_name.empty();
      names[id] = is_explicit[id] ? programs[i].explicit_name : programs[i].name;
      first_processes[id] = processes;
      line = command;
    } else if (line.size() < kMaxCommand) {
      if (first_processes[id] > 0) line = "-n " + std::to_string(std::exchange(first_processes[id], 0)) + " " + line;
      line += " : -n " + std::to_string(processes) + " " + command;
    }
  }
  make_names_unique(names, is_explicit);
  for (std::size_t i = 0; i < names.size(); ++i) {
    made.commands[i] = truncated(made.commands[i], kMaxCommand);
    VMPI_Partition_desc descriptor{};
    descriptor.id = static_cast<int>(i);
    names[i].copy(descriptor.name, kMaxPartitionName);
    descriptor.command = made.commands[i].c_str();
    descriptor.size = table.size(descriptor.id);
    descriptor.root = table.root(descriptor.id);
    made.descriptors.push_back(descriptor);
  }
}

// The programs of all partitions, in the order of partitions. If the ranks of a context are not consecutive, its whole
// partition is one program.
void describe_programs(const Texts& texts, const std::vector<Described>& described,
                       const std::vector<Announcement>& announced, State& made) {
  const auto& table = made.partitions.table;
  std::vector<std::string> names;
  std::vector<bool> is_explicit;
  for (const auto& partition : made.descriptors) {
    std::vector<std::size_t> runs;
    std::set<std::int32_t> contexts;
    for (std::size_t i = 0; i < described.size(); ++i) {
      if (described[i].partition != partition.id) continue;
      runs.push_back(i);
      contexts.insert(announced[texts.programs[i].first_rank].context);
    }
    if (runs.size() == 1 || contexts.size() < runs.size()) {
      made.programs.push_back({partition.id, 0, partition.size, {}, nullptr});
      made.program_commands.emplace_back(partition.command);
      names.emplace_back(partition.name);
      is_explicit.push_back(true);
      continue;
    }
    for (const auto i : runs) {
      const auto& program = texts.programs[i];
      made.programs.push_back({partition.id,
                               table.rank_in(partition.id, static_cast<int>(program.first_rank)),
                               program.processes,
                               {},
                               nullptr});
      made.program_commands.push_back(described[i].command);
      names.push_back(described[i].name);
      is_explicit.push_back(false);
    }
  }
  make_names_unique(names, is_explicit);
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i].copy(made.programs[i].name, kMaxPartitionName);
    made.programs[i].command = made.program_commands[i].c_str();
  }
}

void make_table(const std::vector<Announcement>& announced, const ProcessIdentity& own, State& made) {
  auto& all = made.partitions;
  std::vector<std::uint64_t> keys;
  keys.reserve(announced.size());
  for (const auto& each : announced) keys.push_back(each.key);
  all.table = PartitionTable(keys);
  all.id = all.table.partition_of(all.universe_rank);
  all.rank = all.table.rank_in(all.id, all.universe_rank);
  for (std::size_t rank = 0; rank < announced.size(); ++rank) {
    if (const auto process = watchable(own, announced[rank].identity); process != 0)
      made.watchable.emplace(static_cast<int>(rank), process);
  }
}

// Partition and universe inherit the world's error handler; the control communicator, duplicated while the world
// returns errors, returns them. Every process makes all three collective calls, even after a failure.
void make_communicators(State& made, MPI_Comm& partition, Failure& failure) {
  const auto& all = made.partitions;
  failure.check(PMPI_Comm_split(MPI_COMM_WORLD, all.id, all.universe_rank, &partition), "MPI_Comm_split failed");
  failure.check(PMPI_Comm_dup(MPI_COMM_WORLD, &made.universe), "MPI_Comm_dup failed");
  failure.check(PMPI_Comm_dup(MPI_COMM_WORLD, &made.control), "MPI_Comm_dup failed");
}

// Collective; the same result in all processes.
bool build(int argc, char** argv, State& made, MPI_Comm& partition) {
  auto& all = made.partitions;
  Failure failure;
  PMPI_Comm_rank(MPI_COMM_WORLD, &all.universe_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &all.universe_size);
  const auto self = static_cast<std::size_t>(all.universe_rank);
  const auto context = own_context();
  Announcement own{};
  std::string own_text;
  std::vector<Announcement> announced;
  failure.attempt([&] {
    take_name_from_environment();
    const auto arguments = read_command_line(argc, argv);
    const auto executable = read_executable();
    const auto command = joined(arguments);
    own_text = texts_of(program_name(arguments, executable), command);
    own = {own_key(context, executable, command).bits(), context, static_cast<std::uint32_t>(own_text.size()),
           own_identity()};
    announced.resize(static_cast<std::size_t>(all.universe_size));
  });
  if (!all_succeeded(failure, context, all.universe_rank)) return false;

  failure.check(PMPI_Allgather(&own, sizeof own, MPI_BYTE, announced.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD),
                "MPI_Allgather failed");
  std::optional<Texts> texts;
  failure.attempt([&] {
    make_table(announced, own.identity, made);
    texts.emplace(announced);
  });
  if (!all_succeeded(failure, context, all.universe_rank)) return false;

  failure.check(PMPI_Allgatherv(own_text.data(), texts->counts[self], MPI_BYTE, texts->text.data(),
                                texts->counts.data(), texts->offsets.data(), MPI_BYTE, MPI_COMM_WORLD),
                "MPI_Allgatherv failed");
  failure.attempt([&] {
    const auto programs = read_texts(*texts, all.table);
    describe_partitions(*texts, programs, made);
    describe_programs(*texts, programs, announced, made);
  });
  make_communicators(made, partition, failure);
  return all_succeeded(failure, context, all.universe_rank);
}

}  // namespace

bool initialise_partitions(int argc, char** argv) noexcept {
  if (was_initialised) return partition_comm() != MPI_COMM_NULL;
  was_initialised = true;
  State made;
  MPI_Comm partition = MPI_COMM_NULL;

  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const bool done = build(argc, argv, made, partition);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (done) {
    PMPI_Comm_set_errhandler(partition, handler);
    PMPI_Comm_set_errhandler(made.universe, handler);
    PMPI_Comm_set_errhandler(made.control, MPI_ERRORS_RETURN);
    PMPI_Comm_set_name(partition, "MPI_COMM_WORLD");
    PMPI_Comm_set_name(made.universe, "MPI_COMM_UNIVERSE");
  }
  PMPI_Errhandler_free(&handler);
  if (!done) return false;  // MPI_Finalize frees the communicators

  if (!name_complaint.empty() && made.partitions.rank == 0) std::fprintf(stderr, "%s\n", name_complaint.c_str());
  state = std::move(made);
  current_partition_comm.store(partition, std::memory_order_relaxed);
  return true;
}

MPI_Comm partition_comm() noexcept { return current_partition_comm.load(std::memory_order_relaxed); }

MPI_Comm universe_comm() noexcept { return state ? state->universe : MPI_COMM_NULL; }

MPI_Comm control_comm() noexcept { return state ? state->control : MPI_COMM_NULL; }

const Partitions* partitions() noexcept { return state ? &state->partitions : nullptr; }

void finalise_partitions() noexcept {
  if (!state) return;
  MPI_Comm partition = current_partition_comm.exchange(MPI_COMM_NULL, std::memory_order_relaxed);
  if (partition != MPI_COMM_NULL) library.Comm_free(&partition);  // ours refuses to free a world
  // Duplicates of the world are left to MPI_Finalize: freeing them is collective over programs that end at different
  // times.
  state.reset();
}

std::int64_t watchable_process(int universe_rank) noexcept {
  if (!state) return 0;
  const auto found = state->watchable.find(universe_rank);
  return found == state->watchable.end() ? 0 : found->second;
}

const VMPI_Partition_desc* partition_descriptor(int id) noexcept {
  if (!state || id < 0 || id >= state->partitions.table.count()) return nullptr;
  return &state->descriptors[static_cast<std::size_t>(id)];
}

const VMPI_Partition_desc* partition_descriptor(std::string_view name) noexcept {
  if (!state) return nullptr;
  for (const auto& descriptor : state->descriptors) {
    if (name == descriptor.name) return &descriptor;
  }
  return nullptr;
}

int program_count() noexcept { return state ? static_cast<int>(state->programs.size()) : 0; }

const VMPI_Program_desc* program_descriptor(int id) noexcept {
  return id < 0 || id >= program_count() ? nullptr : &state->programs[static_cast<std::size_t>(id)];
}

void take_name_of_launcher() noexcept {
  if (std::getenv(kPartitionContextsVariable) == nullptr) return;
  try {
    take_name_from_environment();
  } catch (const std::exception&) {
    // Without memory for a name MPI_Init fails too.
  }
  unsetenv(kPartitionContextsVariable);
  unsetenv("VMPI_PARTITION_NAME");
}

std::string_view requested_partition_name() noexcept {
  if (!explicit_name.empty()) return explicit_name;
  const char* const name = std::getenv("VMPI_PARTITION_NAME");
  return name == nullptr ? std::string_view() : std::string_view(name);
}

int set_partition_name(const char* name) noexcept {
  if (was_initialised) return VMPI_ERR_STATE;
  try {
    const std::string_view wanted = name == nullptr ? std::string_view() : std::string_view(name);
    if (const char* why = invalid_partition_name(wanted)) {
      complain_about_name(wanted, why);
      return VMPI_ERR_ARG;
    }
    explicit_name = wanted;
    return VMPI_SUCCESS;
  } catch (const std::exception&) {
    return VMPI_ERR_NO_MEMORY;
  }
}

}  // namespace ardoise::vmpi

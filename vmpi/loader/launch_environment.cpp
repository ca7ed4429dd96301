// Values are overwritten in place: they only get shorter, and setenv() may not be ready when libraries are loaded (a
// shell has its own). MPI itself reads PMIX_ and OMPI_MCA_ variables, which stay and from which the original values can
// be restored.
#include "vmpi/loader/launch_environment.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <numeric>
#include <utility>

#include "vmpi/loader/preload_environment.hpp"

namespace ardoise::vmpi {
namespace {

constexpr const char* kSize = "OMPI_MCA_orte_ess_num_procs";
constexpr const char* kRank = "OMPI_MCA_ess_base_vpid";
constexpr const char* kNodeRank = "OMPI_MCA_orte_ess_node_rank";
constexpr const char* kNodes = "OMPI_MCA_orte_num_nodes";
constexpr const char* kJob = "OMPI_MCA_ess_base_jobid";
constexpr const char* kContext = "OMPI_MCA_orte_app_num";
constexpr const char* kContexts = "OMPI_NUM_APP_CTX";
constexpr const char* kContextSizes = "OMPI_APP_CTX_NUM_PROCS";
constexpr const char* kOversubscribed = "OMPI_MCA_mpi_oversubscribe";

// Not getenv(): a shell has its own, which is not ready yet.
char* find(const char* name) noexcept {
  const auto length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  }
  return nullptr;
}
const char* variable(const char* name) { return find(name); }

// Overwrites an existing variable whose value is long enough.
void overwrite(const char* name, std::string_view value) noexcept {
  char* const old = find(name);
  if (old == nullptr || std::strlen(old) < value.size() || value == old) return;
  std::memcpy(old, value.data(), value.size());
  old[value.size()] = '\0';
}

bool read_number(const char* text, int& number) noexcept {
  if (text == nullptr || *text == '\0') return false;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < 0 || value > 100'000'000) return false;
  number = static_cast<int>(value);
  return true;
}

// Non-negative numbers between separators; empty when the text is anything else.
std::vector<int> read_numbers(const char* text, char separator) {
  std::vector<int> numbers;
  for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
    const auto end = std::min(rest.find(separator), rest.size());
    int number = 0;
    if (!read_number(std::string(rest.substr(0, end)).c_str(), number)) return {};
    numbers.push_back(number);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return numbers;
}

std::string joined(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

bool is_hydra(const char* (*variable)(const char* name)) { return variable("PMI_FD") != nullptr; }

// The process's socket to Hydra, as text of constant length.
std::string own_connection() {
  struct stat status {};
  int file = 0;
  if (!read_number(find("PMI_FD"), file) || ::fstat(file, &status) != 0) return kNoConnection;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(status.st_ino));
  return text;
}

struct OwnRanks {
  int first = 0, size = 0, all = 0;
  const char* connection = nullptr;
};

bool read_own_ranks(const char* text, OwnRanks& ranks) noexcept {
  if (text == nullptr) return false;
  for (int* const number : {&ranks.first, &ranks.size, &ranks.all}) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (end == text || value < 0 || value > 100'000'000 || *end != ',') return false;
    *number = static_cast<int>(value);
    text = end + 1;
  }
  ranks.connection = text;
  return ranks.size > 0 && ranks.first + ranks.size <= ranks.all && ranks.size < ranks.all;
}

// Single node only: Hydra's variables do not give local ranks on other nodes.
bool read_own_hydra_launch(const char* (*variable)(const char* name), OwnLaunch& launch) {
  OwnRanks ranks;
  int rank = 0, size = 0, local_size = 0;
  if (!read_own_ranks(variable(kOwnRanksVariable), ranks) || std::strcmp(ranks.connection, kNoConnection) != 0)
    return false;
  if (!read_number(variable("PMI_RANK"), rank) || !read_number(variable("PMI_SIZE"), size)) return false;
  if (!read_number(variable("MPI_LOCALNRANKS"), local_size) || size != ranks.all || local_size != ranks.all)
    return false;
  if (rank < ranks.first || rank >= ranks.first + ranks.size) return false;
  rank -= ranks.first;
  launch = {rank, ranks.size, rank, ranks.size, {ranks.size}};
  return true;
}

// Marks in Hydra's variable which process rewrote the others; the variable has been read, and ends with kNoConnection.
// False: the mark does not fit, so the others must stay.
bool sign_own_ranks() {
  char* const value = find(kOwnRanksVariable);
  const auto connection = own_connection();
  if (value == nullptr || connection == kNoConnection) return false;
  std::memcpy(value + std::strlen(value) - connection.size(), connection.data(), connection.size());
  return true;
}

bool was_preloaded = false;

// Runs before main and before the constructors of the program's libraries, which may read the environment.
[[gnu::constructor]] void describe_at_start() {
  const char* const list = find("LD_PRELOAD");
  if (list == nullptr) return;
  try {
    was_preloaded = without_own_entries(list, own_library()).size() != std::strlen(list);
    if (was_preloaded && find(kSlotsSufficeVariable) != nullptr) overwrite(kOversubscribed, "0");
    OwnLaunch launch;
    if (!was_preloaded || !read_own_launch(variable, launch)) return;
    if (!is_hydra(variable) || sign_own_ranks()) describe_own_launch(launch);
  } catch (const std::exception&) {
    // Without memory the environment stays as it is.
  }
}

}  // namespace

bool is_spawned_job() noexcept {
  const char* const job = find(kJob);
  // The lower half of the job id numbers the job within its family; mpirun's first job is 1.
  return job != nullptr && (std::strtoul(job, nullptr, 10) & 0xffffU) > 1;
}

bool is_one_of_several() noexcept {
  const char* const contexts = find(kContexts);
  if (contexts == nullptr) return false;
  if (std::strcmp(contexts, "1") != 0) return true;
  const char* const own = find(kContextSizes);  // may describe the program alone already
  const char* const all = find(kSize);
  return own != nullptr && all != nullptr && std::strcmp(own, all) != 0;
}

bool is_preloaded() noexcept { return was_preloaded; }

bool read_own_launch(const char* (*variable)(const char* name), OwnLaunch& launch) {
  int nodes = 0, contexts = 0, context = 0, rank = 0, size = 0;
  const char* const joined = variable(kPartitionContextsVariable);
  // The partition may join contexts that the environment does not describe.
  if (joined == nullptr && variable("VMPI_PARTITION_NAME") != nullptr) return false;
  if (is_hydra(variable)) return read_own_hydra_launch(variable, launch);
  if (!read_number(variable(kNodes), nodes) || nodes < 1) return false;
  if (!read_number(variable(kContexts), contexts) || contexts < 2) return false;
  if (!read_number(variable(kContext), context) || context >= contexts) return false;
  if (!read_number(variable(kRank), rank) || !read_number(variable(kSize), size)) return false;
  const char* const job = variable(kJob);
  if (job == nullptr || (std::strtoul(job, nullptr, 10) & 0xffffU) > 1) return false;
  const auto sizes = read_numbers(variable(kContextSizes), ' ');
  auto own = joined != nullptr ? read_numbers(joined, ',') : std::vector<int>{context};
  if (static_cast<int>(sizes.size()) != contexts || std::accumulate(sizes.begin(), sizes.end(), 0) != size)
    return false;
  if (std::find(own.begin(), own.end(), context) == own.end()) return false;

  OwnLaunch found;
  int first = 0;
  for (int i = 0; i < contexts; ++i) {
    const int processes = sizes[static_cast<std::size_t>(i)];
    if (std::find(own.begin(), own.end(), i) != own.end()) {
      if (i == context && (rank < first || rank >= first + processes)) return false;
      if (i == context) found.rank = found.size + rank - first;
      found.size += processes;
      found.contexts.push_back(processes);
    }
    first += processes;
  }
  if (found.contexts.size() != own.size()) return false;
  if (nodes == 1) {
    found.local_rank = found.rank;
    found.local_size = found.size;
  }
  launch = std::move(found);
  return true;
}

std::vector<std::pair<std::string, std::string>> describe(const OwnLaunch& launch) {
  std::vector<int> first_ranks;
  for (int first = 0; const int size : launch.contexts) {
    first_ranks.push_back(first);
    first += size;
  }
  std::vector<std::pair<std::string, std::string>> described{{"OMPI_COMM_WORLD_SIZE", std::to_string(launch.size)},
                                                             {"OMPI_COMM_WORLD_RANK", std::to_string(launch.rank)},
                                                             {kContexts, std::to_string(launch.contexts.size())},
                                                             {kContextSizes, joined(launch.contexts)},
                                                             {"OMPI_FIRST_RANKS", joined(first_ranks)}};
  if (launch.local_size != 0) {
    described.insert(described.end(), {{"OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(launch.local_size)},
                                       {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(launch.local_rank)},
                                       {"OMPI_COMM_WORLD_NODE_RANK", std::to_string(launch.local_rank)}});
  }
  return described;
}

std::vector<std::pair<std::string, std::string>> describe_for_hydra(const OwnLaunch& launch) {
  return {{"PMI_SIZE", std::to_string(launch.size)},
          {"PMI_RANK", std::to_string(launch.rank)},
          {"MPI_LOCALNRANKS", std::to_string(launch.local_size)},
          {"MPI_LOCALRANKID", std::to_string(launch.local_rank)}};
}

std::vector<std::pair<std::string, std::string>> truth_of_hydra(const char* (*variable)(const char* name),
                                                                const std::string& connection) {
  OwnRanks ranks;
  int rank = 0;
  if (!is_hydra(variable) || !read_own_ranks(variable(kOwnRanksVariable), ranks)) return {};
  if (connection == kNoConnection || connection != ranks.connection) return {};
  if (!read_number(variable("PMI_RANK"), rank)) return {};
  rank += ranks.first;
  return describe_for_hydra({rank, ranks.all, rank, ranks.all, {}});
}

void restore_launch_environment() noexcept {
  try {
    for (const auto& [name, value] : truth_of_hydra(variable, own_connection())) setenv(name.c_str(), value.c_str(), 1);
  } catch (const std::exception&) {
    // Without memory MPI_Init fails too.
  }
  unsetenv(kOwnRanksVariable);
  unsetenv(kSlotsSufficeVariable);
  int nodes = 0;
  if (!was_preloaded || !is_one_of_several() || !read_number(find(kNodes), nodes)) return;
  const auto restore = [](const char* name, const char* truth) {
    const char* const value = find(truth);
    const char* const now = find(name);
    if (value != nullptr && now != nullptr && std::strcmp(value, now) != 0) setenv(name, value, 1);
  };
  restore("OMPI_COMM_WORLD_SIZE", kSize);
  restore("OMPI_COMM_WORLD_RANK", kRank);
  if (nodes != 1) return;
  restore("OMPI_COMM_WORLD_LOCAL_SIZE", kSize);
  restore("OMPI_COMM_WORLD_LOCAL_RANK", kNodeRank);
  restore("OMPI_COMM_WORLD_NODE_RANK", kNodeRank);
}

void describe_own_launch(const OwnLaunch& launch) noexcept {
  try {
    const auto variables = is_hydra(variable) ? describe_for_hydra(launch) : describe(launch);
    for (const auto& [name, value] : variables) overwrite(name.c_str(), value);
  } catch (const std::exception&) {
    // Without memory the environment stays as it is.
  }
}

}  // namespace ardoise::vmpi

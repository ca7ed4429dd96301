// An observer for tests: counts every call by function, with its bytes, completions and peers, and writes one file a
// process, $VMPI_COUNT_FILE.<rank>, when MPI is finalized. Loaded as libvmpi_counting.so instead of libvmpi.so.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "vmpi/world/partitions.hpp"
#include "vmpi/wrappers/observer.hpp"

namespace {

using ardoise::vmpi::Call;
using ardoise::vmpi::kFunctionCount;

struct Totals {
  std::atomic<long long> calls, sent, received, requests, completed, completed_bytes, peers, tags, new_comms,
      neighbours;
};
Totals totals[kFunctionCount];
std::atomic<long long> without_return_address;

void add(std::atomic<long long>& total, long long value) { total.fetch_add(value, std::memory_order_relaxed); }

// The status of a completed send has no meaning in its bytes: only those of receives and file accesses are added.
std::mutex lock;
// Number of receive requests with a handle. With threads, a handle may be posted again before the thread that
// completed it reports that.
std::map<MPI_Request, int> receives;
std::set<MPI_Request> persistent;

void note_request(const Call& call) {
  using ardoise::vmpi::Role;
  const auto& traits = ardoise::vmpi::function_traits(call.function);
  if (!traits.starts_request || call.request_count != 1) return;
  if (traits.role != Role::kPostReceive && traits.role != Role::kFileRead && traits.role != Role::kFileWrite) return;
  const std::lock_guard guard(lock);
  ++receives[call.requests[0]];
  if (traits.persistent) persistent.insert(call.requests[0]);
}

bool is_receive(MPI_Request request) {
  const std::lock_guard guard(lock);
  const auto found = receives.find(request);
  if (found == receives.end() || found->second == 0) return false;
  if (!persistent.contains(request)) --found->second;
  return true;
}

void enter(Call& call) noexcept { call.begin = 1; }

void exit_call(Call& call) noexcept {
  auto& sums = totals[static_cast<unsigned>(call.function)];
  add(sums.calls, 1);
  add(sums.sent, call.bytes_sent);
  add(sums.received, call.bytes_received);
  add(sums.requests, call.request_count);
  add(sums.completed, call.completed_count);
  if (call.peer >= 0) add(sums.peers, call.peer + 1);
  if (call.source >= 0) add(sums.peers, 100 * (call.source + 1));
  add(sums.tags, call.tag + call.receive_tag);
  if (call.new_comm != MPI_COMM_NULL) add(sums.new_comms, 1);
  for (int i = 0; i < call.neighbour_count; ++i) {
    add(sums.neighbours,
        call.neighbours[i] == MPI_PROC_NULL ? 0 : (i + 1) * (call.neighbours[i] + 1) + call.neighbour_bytes[i]);
  }
  note_request(call);
  for (int i = 0; call.statuses != nullptr && i < call.completed_count; ++i) {
    const int index = call.completed_indices != nullptr ? call.completed_indices[i] : i;
    if (index >= call.request_count && call.request_count != 0) std::abort();
    if (call.request_count != 0 && !is_receive(call.requests[index])) continue;
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(&call.statuses[i], MPI_BYTE, &bytes);
    if (bytes > 0) add(sums.completed_bytes, bytes);
  }
  if (call.return_address == nullptr) add(without_return_address, 1);
}

void after_init(int /*thread_level*/) noexcept {}

void before_finalize() noexcept {
  const char* const prefix = std::getenv("VMPI_COUNT_FILE");
  if (prefix == nullptr) return;
  const auto* const place = ardoise::vmpi::partitions();
  const std::string path = std::string(prefix) + "." + std::to_string(place->rank);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) std::abort();
  for (unsigned id = 0; id < kFunctionCount; ++id) {
    const auto& sums = totals[id];
    if (sums.calls == 0) continue;
    std::fprintf(file,
                 "%s calls=%lld sent=%lld received=%lld requests=%lld completed=%lld/%lld peers=%lld tags=%lld "
                 "comms=%lld neighbours=%lld\n",
                 ardoise::vmpi::kFunctionTraits[id].name, sums.calls.load(), sums.sent.load(), sums.received.load(),
                 sums.requests.load(), sums.completed.load(), sums.completed_bytes.load(), sums.peers.load(),
                 sums.tags.load(), sums.new_comms.load(), sums.neighbours.load());
  }
  std::fprintf(file, "calls without return address: %lld\n", without_return_address.load());
  std::fclose(file);
}

constexpr ardoise::vmpi::Observer kCounter{enter, exit_call, after_init, before_finalize};

[[gnu::constructor]] void install() { ardoise::vmpi::observer.store(&kCounter, std::memory_order_release); }

}  // namespace

// See stream_handshake.hpp.
#include "vmpi/stream_handshake.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "vmpi/backoff.hpp"
#include "vmpi/stream_tags.hpp"
#include "vmpi/transport.hpp"
#include "vmpi/vmpi.h"

namespace ardoise::vmpi {
namespace {

constexpr std::uint32_t kMagic = 0x4d525453;  // "STRM"
constexpr std::uint16_t kVersion = 1;

// As it travels: bytes of a C struct, between processes of one launch on machines of one kind.
struct Hello {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint8_t reads = 0;
  std::uint8_t writes = 0;
  std::uint64_t block_bytes = 0;
  std::int32_t tag = 0;
  std::int32_t process = 0;
  std::uint64_t process_space = 0;  // equal: the same process ids mean the same processes
  std::uint64_t process_start = 0;  // tells a process from a later one with the same id
};
static_assert(sizeof(Hello) == 40);

std::string first_line(const std::string& path) {
  std::string text;
  if (const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC); file >= 0) {
    char chunk[1024];
    if (const auto got = ::read(file, chunk, sizeof chunk); got > 0) text.assign(chunk, static_cast<std::size_t>(got));
    ::close(file);
  }
  return text;
}

// Start time of a process in clock ticks, 0: unknown. The 22nd field of its stat file, counted behind the program's
// name, which is in parentheses and may hold anything.
std::uint64_t start_of(std::int32_t process) {
  const auto stat = first_line("/proc/" + std::to_string(process) + "/stat");
  auto at = stat.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  return at == std::string::npos ? 0 : std::strtoull(stat.c_str() + at, nullptr, 10);
}

std::uint64_t own_process_space() {
  char name[256] = "";
  const auto length = ::readlink("/proc/self/ns/pid", name, sizeof name - 1);
  if (length <= 0) return 0;
  return std::hash<std::string>()(first_line("/proc/sys/kernel/random/boot_id") + name);
}

Hello own_hello(const StreamTerms& terms) {
  Hello hello;
  hello.reads = terms.mode.reads ? 1 : 0;
  hello.writes = terms.mode.writes ? 1 : 0;
  hello.block_bytes = terms.block_bytes;
  hello.tag = terms.tag;
  hello.process = ::getpid();
  hello.process_space = own_process_space();
  hello.process_start = start_of(hello.process);
  return hello;
}

// What doesn't fit, as the end of a sentence; empty: all fits.
std::string mismatch(const Hello& own, const Hello& peer) {
  if (peer.magic != kMagic || peer.version != kVersion) return "it has another version of vmpi";
  if (peer.block_bytes != own.block_bytes)
    return "its blocks have " + std::to_string(peer.block_bytes) + " bytes and ours " + std::to_string(own.block_bytes);
  if (peer.reads != own.writes || peer.writes != own.reads) {
    const auto name = [](const Hello& h) { return h.reads == 0 ? "\"w\"" : h.writes == 0 ? "\"r\"" : "\"rw\""; };
    return std::string("it opened the stream with mode ") + name(peer) + ", which doesn't fit our " + name(own);
  }
  return {};
}

std::int64_t watchable_process(const Hello& own, const Hello& peer) {
  const bool visible = peer.process_space != 0 && peer.process_space == own.process_space && peer.process_start != 0 &&
                       start_of(peer.process) == peer.process_start;
  return visible ? peer.process : 0;
}

// Exchanges one message of fixed size with every rank.
int exchange(MPI_Comm comm, const std::vector<int>& ranks, int tag, const void* own, void* theirs, int bytes) {
  std::vector<MPI_Request> requests(2 * ranks.size(), MPI_REQUEST_NULL);
  auto* into = static_cast<char*>(theirs);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    int result =
        PMPI_Irecv(into + i * static_cast<std::size_t>(bytes), bytes, MPI_BYTE, ranks[i], tag, comm, &requests[2 * i]);
    if (result == MPI_SUCCESS) result = PMPI_Isend(own, bytes, MPI_BYTE, ranks[i], tag, comm, &requests[2 * i + 1]);
    if (result != MPI_SUCCESS) return code_of(result);
  }
  Backoff backoff;
  for (int done = 0; done == 0; backoff.pause()) {
    const int result = PMPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (result != MPI_SUCCESS) return code_of(result);
    if (done != 0) break;
  }
  return VMPI_SUCCESS;
}

}  // namespace

int meet(MPI_Comm comm, const std::vector<int>& ranks, const StreamTerms& terms, std::vector<Endpoint>& endpoints) {
  const Hello own = own_hello(terms);
  std::vector<Hello> hellos(ranks.size());
  if (const int code = exchange(comm, ranks, kHelloTag, &own, hellos.data(), sizeof own); code != VMPI_SUCCESS)
    return code;

  std::int32_t verdict = VMPI_SUCCESS;
  for (std::size_t i = 0; i < ranks.size() && verdict == VMPI_SUCCESS; ++i) {
    if (const auto why = mismatch(own, hellos[i]); !why.empty()) {
      verdict = VMPI_ERR_PROTOCOL;
      std::fprintf(stderr, "ardoise: the stream to process %d of the universe is not opened because %s.\n", ranks[i],
                   why.c_str());
    }
  }
  std::vector<std::int32_t> verdicts(ranks.size());
  if (const int code = exchange(comm, ranks, kVerdictTag, &verdict, verdicts.data(), sizeof verdict);
      code != VMPI_SUCCESS)
    return code;
  for (const auto other : verdicts) {
    if (other != VMPI_SUCCESS) verdict = VMPI_ERR_PROTOCOL;
  }
  if (verdict != VMPI_SUCCESS) return verdict;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    endpoints.push_back({ranks[i], hellos[i].tag, watchable_process(own, hellos[i])});
  return VMPI_SUCCESS;
}

}  // namespace ardoise::vmpi

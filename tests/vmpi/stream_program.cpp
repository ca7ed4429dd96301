// One program of a launch that tests streams over real MPI; the other end is the same program with another role:
//   mpirun -n 3 stream_program write [options] : -n 2 stream_program read [options]
// Every block has its writer, its number and a checksum. At the end, all processes compare the sent with the received
// data; exit status 1 and a sentence when they differ. streams.cmake runs it in many variants.
#include <fmt/core.h>
#include <mpi.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "vmpi/vmpi.h"

namespace {

struct Settings {
  std::string role;
  int blocks = 200;  // of each writer
  std::size_t block_bytes = 100'000;
  int balance = VMPI_STREAM_BALANCE_ROUND_ROBIN;
  int map_policy = VMPI_MAP_ROUND_ROBIN;
  int buffers = 3;
  std::size_t limit_blocks = 8;
  bool copies = false;   // write and read instead of lend and take
  bool two_way = false;  // both roles write and read; one peer each
  bool threads = false;  // readers release blocks from other threads
  bool nonblocking = false;
  int pause_microseconds = 0;  // longest random pause between two blocks
  int late_milliseconds = 0;   // before a writer closes, times its rank
  bool dies = false;           // the first writer is killed after half of its blocks; ends without MPI_Finalize
  bool costs = false;          // print what the stream cost each process
  unsigned seed = 1;
};

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "stream_program: {}\n", what);
  MPI_Abort(MPI_COMM_UNIVERSE, 1);
  std::abort();
}

int expect(int code, const char* what) {
  if (code < 0) fail(fmt::format("{}: {}", what, VMPI_Error_string(code)));
  return code;
}

struct Header {
  std::int32_t writer;
  std::int32_t number;
  std::uint64_t bytes;
  std::uint64_t checksum;
};

std::uint64_t checksum(const unsigned char* data, std::size_t bytes) {
  std::uint64_t sum = bytes;
  for (std::size_t i = sizeof(Header); i < bytes; i += 97) sum = sum * 31 + data[i];
  return sum;
}

// Totals that must be equal for all senders and all receivers.
struct Totals {
  std::array<std::uint64_t, 4> sent_and_received{};  // blocks and bytes sent, blocks and bytes received
};

class Party {
 public:
  explicit Party(const Settings& settings) : settings_(settings) {
    MPI_Comm_rank(MPI_COMM_UNIVERSE, &rank_);
    random_.seed(settings.seed * 1000 + static_cast<unsigned>(rank_));
    VMPI_Map map;
    VMPI_Map_clear(&map);
    const bool writes = settings_.role == "write";
    for (int id = 0; id < VMPI_Get_partition_count(); ++id) {
      const bool other_writes = std::string(VMPI_Get_desc_by_id(id)->name).starts_with("write");
      if (writes == other_writes) continue;
      expect(VMPI_Map_partitions(id, static_cast<VMPI_Map_policy>(settings_.map_policy), &map), "map");
    }
    if (settings_.two_way && map.count != 1) fail("--two-way is for as many readers as writers");
    expect(VMPI_Stream_init(&stream_, settings_.block_bytes, static_cast<VMPI_Stream_balance>(settings_.balance)),
           "init");
    expect(VMPI_Stream_set_buffers(&stream_, settings_.buffers, settings_.limit_blocks * settings_.block_bytes),
           "set_buffers");
    peers_ = map.count;
    MPI_Barrier(MPI_COMM_UNIVERSE);  // so that the opening is measured and not late arrivals
    const auto before = usage();
    expect(VMPI_Stream_open_map(&stream_, &map, settings_.two_way ? "rw" : writes ? "w" : "r"), "open");
    opening_ = usage() - before;
    VMPI_Map_free(&map);
  }

  // Collective over the universe: mean and greatest of each role.
  void print_costs() {
    const auto all = usage();
    const double own[] = {opening_.cpu_ms, all.cpu_ms, all.peak_mib, static_cast<double>(peers_)};
    double sum[4], greatest[4];
    MPI_Reduce(own, sum, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(own, greatest, 4, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != 0) return;
    fmt::print(
        "{} of role {}, mean (most): {:.0f} ({:.0f}) peers, opening {:.2f} ({:.2f}) ms of CPU, all with MPI_Init "
        "{:.0f} ({:.0f}) ms of CPU, peak memory {:.1f} ({:.1f}) MiB\n",
        size, settings_.role, sum[3] / size, greatest[3], sum[0] / size, greatest[0], sum[1] / size, greatest[1],
        sum[2] / size, greatest[2]);
  }

  void write_all() {
    for (int number = 0; number < settings_.blocks; ++number) {
      pause();
      write_one(number);
      if (settings_.dies && rank_ == 0 && number == settings_.blocks / 2) std::raise(SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(settings_.late_milliseconds * rank_));
    void* memory = nullptr;
    while (expect(VMPI_Stream_reclaim(&stream_, &memory, 0), "reclaim") == 1) continue;
    expect(VMPI_Stream_close(&stream_), "close");
  }

  void read_all() {
    std::vector<std::jthread> threads;
    std::vector<char> buffer(settings_.block_bytes);
    const int flags = settings_.nonblocking ? VMPI_STREAM_NONBLOCK : 0;
    for (;;) {
      pause();
      void* block = buffer.data();
      std::size_t bytes = settings_.block_bytes;
      int source = -1;
      const int code = settings_.copies ? VMPI_Stream_read(&stream_, block, 1, flags)
                                        : VMPI_Stream_take(&stream_, &block, &bytes, &source, flags);
      if (code == VMPI_EAGAIN && settings_.nonblocking) continue;
      if (code == VMPI_ERR_PEER && settings_.dies) {
        ++deaths_;
        continue;
      }
      if (expect(code, "read") == 0) break;
      check(block, bytes, source);
      if (settings_.threads) {
        threads.emplace_back([this, block] { expect(VMPI_Stream_release(&stream_, block), "release"); });
        if (threads.size() > 16) threads.clear();
      } else if (!settings_.copies) {
        expect(VMPI_Stream_release(&stream_, block), "release");
      }
    }
    threads.clear();
    expect(VMPI_Stream_close(&stream_), "close");
  }

  void write_and_read() {
    for (int number = 0; number < settings_.blocks; ++number) {
      pause();
      write_one(number);
      while (take_one(VMPI_STREAM_NONBLOCK)) continue;
    }
    while (totals_.sent_and_received[2] < static_cast<std::uint64_t>(settings_.blocks)) take_one(0);
    expect(VMPI_Stream_close(&stream_), "close");
  }

  // Instead of compare, when a process is missing. MPI_Finalize would wait for it.
  [[noreturn]] void leave_without_mpi() {
    if (settings_.role == "read") {
      fmt::print("stream_program: heard of {} death, got {} blocks\n", deaths_, totals_.sent_and_received[2]);
      std::fflush(stdout);
    }
    std::_Exit(0);
  }

  // Collective over the universe.
  void compare() {
    Totals all;
    MPI_Allreduce(totals_.sent_and_received.data(), all.sent_and_received.data(), 4, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_UNIVERSE);
    const auto& t = all.sent_and_received;
    if (t[0] == 0 && settings_.blocks > 0) fail("nothing was sent");
    if (t[0] != t[2] || t[1] != t[3])
      fail(fmt::format("{} blocks of {} bytes went in, {} blocks of {} bytes came out", t[0], t[1], t[2], t[3]));
    if (rank_ == 0) fmt::print("stream_program: {} blocks, {} bytes\n", t[0], t[1]);
  }

 private:
  struct Usage {
    double cpu_ms = 0;
    double peak_mib = 0;
    Usage operator-(const Usage& other) const { return {cpu_ms - other.cpu_ms, peak_mib - other.peak_mib}; }
  };
  static Usage usage() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto ms = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    return {ms(used.ru_utime) + ms(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024};
  }

  void pause() {
    if (settings_.pause_microseconds == 0 || random_() % 4 != 0) return;
    std::this_thread::sleep_for(
        std::chrono::microseconds(random_() % static_cast<unsigned>(settings_.pause_microseconds)));
  }

  void fill(unsigned char* block, std::size_t bytes, int number) {
    std::memset(block, number + rank_, bytes);
    const Header header{rank_, number, bytes, checksum(block, bytes)};
    std::memcpy(block, &header, sizeof header);
    totals_.sent_and_received[0] += 1;
    totals_.sent_and_received[1] += bytes;
  }

  void write_one(int number) {
    if (settings_.copies) {
      scratch_.resize(settings_.block_bytes);
      fill(scratch_.data(), settings_.block_bytes, number);
      if (expect(VMPI_Stream_write(&stream_, scratch_.data(), 1), "write") != 1) fail("a block was not written");
      return;
    }
    void* memory = nullptr;
    if (lent_.size() < static_cast<std::size_t>(settings_.buffers)) {
      memory = lent_.emplace_back(settings_.block_bytes).data();
    } else if (expect(VMPI_Stream_reclaim(&stream_, &memory, 0), "reclaim") != 1) {
      fail("lent memory did not come back");
    }
    const auto bytes = sizeof(Header) + random_() % (settings_.block_bytes - sizeof(Header) + 1);
    fill(static_cast<unsigned char*>(memory), bytes, number);
    expect(VMPI_Stream_lend(&stream_, memory, bytes), "lend");
  }

  bool take_one(int flags) {
    void* block = nullptr;
    std::size_t bytes = 0;
    int source = -1;
    const int code = VMPI_Stream_take(&stream_, &block, &bytes, &source, flags);
    if (code == VMPI_EAGAIN && flags != 0) return false;
    if (expect(code, "take") == 0) fail("the other end closed too early");
    check(block, bytes, source);
    expect(VMPI_Stream_release(&stream_, block), "release");
    return true;
  }

  void check(const void* block, std::size_t bytes, int source) {
    Header header;
    std::memcpy(&header, block, sizeof header);
    if (header.bytes != bytes) fail(fmt::format("a block of {} bytes came with {}", header.bytes, bytes));
    if (source >= 0 && source != header.writer) fail("a block came from somebody else than its writer");
    if (header.checksum != checksum(static_cast<const unsigned char*>(block), bytes)) fail("a block was damaged");
    auto [last, is_first] = last_.try_emplace(header.writer, -1);
    if (header.number <= last->second) fail(fmt::format("block {} came after {}", header.number, last->second));
    last->second = header.number;
    totals_.sent_and_received[2] += 1;
    totals_.sent_and_received[3] += bytes;
  }

  const Settings& settings_;
  int rank_ = 0;
  int deaths_ = 0;
  int peers_ = 0;
  Usage opening_;
  VMPI_Stream stream_{};
  std::mt19937 random_;
  std::vector<std::vector<unsigned char>> lent_;
  std::vector<unsigned char> scratch_;
  std::map<std::int32_t, std::int32_t> last_;
  Totals totals_;
};

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Tests streams over MPI"};
  app.add_option("role", settings.role)->required()->check(CLI::IsMember({"write", "read"}));
  app.add_option("--blocks", settings.blocks);
  app.add_option("--block-bytes", settings.block_bytes);
  app.add_option("--balance", settings.balance);
  app.add_option("--map", settings.map_policy);
  app.add_option("--buffers", settings.buffers);
  app.add_option("--limit", settings.limit_blocks);
  app.add_flag("--copies", settings.copies);
  app.add_flag("--two-way", settings.two_way);
  app.add_flag("--threads", settings.threads);
  app.add_flag("--nonblocking", settings.nonblocking);
  app.add_option("--pause", settings.pause_microseconds);
  app.add_option("--late", settings.late_milliseconds);
  app.add_flag("--dies", settings.dies);
  app.add_flag("--costs", settings.costs);
  app.add_option("--seed", settings.seed);
  CLI11_PARSE(app, argc, argv);
  expect(VMPI_Set_partition_name(settings.role.c_str()), "name");
  MPI_Init(&argc, &argv);
  {
    Party party(settings);
    if (settings.two_way) {
      party.write_and_read();
    } else {
      settings.role == "write" ? party.write_all() : party.read_all();
    }
    if (settings.dies) party.leave_without_mpi();
    party.compare();
    if (settings.costs) party.print_costs();
  }
  MPI_Finalize();
  return 0;
}

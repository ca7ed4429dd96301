// Throughput of streams beside bare MPI: the same number of blocks of the same size, the same number of blocks in
// flight, in the same run, one after the other in turns; medians of the repetitions. Two programs in one launch:
//   mpirun -n WRITERS stream_bench write : -n READERS stream_bench read
// stream.cmake runs it at several ratios. The last line is for tools/bench.
#include <fmt/core.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "vmpi/vmpi.h"

namespace {

struct Settings {
  std::string role;
  double gigabytes = 1.0;  // of each writer
  std::size_t block_bytes = 1 << 20;
  int in_flight = 3;
  int repetitions = 5;
  int blocks() const { return std::max(1, static_cast<int>(gigabytes * 1e9 / static_cast<double>(block_bytes))); }
};

struct Side {
  Settings settings;
  bool is_writer;
  VMPI_Map map;
};

void expect(int code, const char* what) {
  if (code >= 0) return;
  fmt::print(stderr, "stream_bench: {} failed: {}.\n", what, VMPI_Error_string(code));
  MPI_Abort(MPI_COMM_UNIVERSE, 1);
}

std::vector<std::vector<char>> make_buffers(int count, std::size_t bytes) {
  return std::vector<std::vector<char>>(static_cast<std::size_t>(count), std::vector<char>(bytes, 1));
}

// ---- bare MPI ----

void bare_write(const Side& side) {
  const auto& settings = side.settings;
  auto buffers = make_buffers(settings.in_flight, settings.block_bytes);
  std::vector<MPI_Request> requests(buffers.size(), MPI_REQUEST_NULL);
  for (int block = 0; block < settings.blocks(); ++block) {
    const auto i = static_cast<std::size_t>(block) % buffers.size();
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Isend(buffers[i].data(), static_cast<int>(settings.block_bytes), MPI_BYTE, side.map.ranks[0], 7,
              MPI_COMM_UNIVERSE, &requests[i]);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void bare_read(const Side& side) {
  const auto& settings = side.settings;
  const int writers = side.map.count;
  auto buffers = make_buffers(settings.in_flight * writers, settings.block_bytes);
  std::vector<MPI_Request> requests(buffers.size(), MPI_REQUEST_NULL);
  std::vector<int> posted(static_cast<std::size_t>(writers), 0);
  const auto post = [&](std::size_t slot) {
    const auto writer = slot % static_cast<std::size_t>(writers);
    if (posted[writer]++ >= settings.blocks()) return;
    MPI_Irecv(buffers[slot].data(), static_cast<int>(settings.block_bytes), MPI_BYTE, side.map.ranks[writer], 7,
              MPI_COMM_UNIVERSE, &requests[slot]);
  };
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) post(slot);
  for (;;) {
    int slot = 0;
    MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &slot, MPI_STATUS_IGNORE);
    if (slot == MPI_UNDEFINED) return;
    post(static_cast<std::size_t>(slot));
  }
}

// ---- streams ----

VMPI_Stream open_stream(const Side& side) {
  VMPI_Stream stream;
  expect(VMPI_Stream_init(&stream, side.settings.block_bytes, VMPI_STREAM_BALANCE_ROUND_ROBIN), "init");
  expect(VMPI_Stream_set_buffers(&stream, side.settings.in_flight, 0), "set_buffers");
  expect(VMPI_Stream_open_map(&stream, &side.map, side.is_writer ? "w" : "r"), "open");
  return stream;
}

// Lend and take: without copies.
void stream_write(const Side& side) {
  auto stream = open_stream(side);
  auto buffers = make_buffers(side.settings.in_flight, side.settings.block_bytes);
  for (int block = 0; block < side.settings.blocks(); ++block) {
    const auto i = static_cast<std::size_t>(block);
    void* memory = i < buffers.size() ? buffers[i].data() : nullptr;
    if (memory == nullptr) expect(VMPI_Stream_reclaim(&stream, &memory, 0), "reclaim");
    expect(VMPI_Stream_lend(&stream, memory, side.settings.block_bytes), "lend");
  }
  expect(VMPI_Stream_close(&stream), "close");
}

void stream_read(const Side& side) {
  auto stream = open_stream(side);
  void* block = nullptr;
  std::size_t bytes = 0;
  int code = 0;
  while ((code = VMPI_Stream_take(&stream, &block, &bytes, nullptr, 0)) > 0) VMPI_Stream_release(&stream, block);
  expect(code, "take");
  expect(VMPI_Stream_close(&stream), "close");
}

// Write and read, as in the figures 11 and 12 of the paper: the writer copies.
void stream_write_copying(const Side& side) {
  auto stream = open_stream(side);
  std::vector<char> buffer(side.settings.block_bytes, 1);
  for (int block = 0; block < side.settings.blocks(); ++block)
    expect(VMPI_Stream_write(&stream, buffer.data(), 1), "write");
  expect(VMPI_Stream_close(&stream), "close");
}

void stream_read_copying(const Side& side) {
  auto stream = open_stream(side);
  std::vector<char> buffer(side.settings.block_bytes);
  int code = 0;
  while ((code = VMPI_Stream_read(&stream, buffer.data(), 1, 0)) > 0) continue;
  expect(code, "read");
  expect(VMPI_Stream_close(&stream), "close");
}

double seconds_of(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_UNIVERSE);
  const double begin = MPI_Wtime();
  work();
  MPI_Barrier(MPI_COMM_UNIVERSE);
  return MPI_Wtime() - begin;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Throughput of streams beside bare MPI"};
  app.add_option("role", settings.role, "write or read")->required()->check(CLI::IsMember({"write", "read"}));
  app.add_option("--gigabytes", settings.gigabytes, "data of each writer");
  app.add_option("--block", settings.block_bytes, "bytes of a block");
  app.add_option("--in-flight", settings.in_flight, "blocks in flight of a writer");
  app.add_option("--repetitions", settings.repetitions, "of which the medians are taken");
  CLI11_PARSE(app, argc, argv);

  expect(VMPI_Set_partition_name(settings.role.c_str()), "the partition name");
  MPI_Init(&argc, &argv);
  Side side{settings, settings.role == "write", {}};
  const auto* other = VMPI_Get_desc_by_name(side.is_writer ? "read" : "write");
  if (other == nullptr) {
    fmt::print(stderr, "stream_bench: launch it as two programs, with the roles write and read.\n");
    return 1;
  }
  VMPI_Map_clear(&side.map);
  expect(VMPI_Map_partitions(other->id, VMPI_MAP_ROUND_ROBIN, &side.map), "the map");

  std::vector<double> bare, zero_copy, copying;
  for (int repetition = -1; repetition < settings.repetitions; ++repetition) {  // the first is not counted
    const double a = seconds_of([&] { side.is_writer ? bare_write(side) : bare_read(side); });
    const double b = seconds_of([&] { side.is_writer ? stream_write(side) : stream_read(side); });
    const double c = seconds_of([&] { side.is_writer ? stream_write_copying(side) : stream_read_copying(side); });
    if (repetition < 0) continue;
    bare.push_back(a);
    zero_copy.push_back(b);
    copying.push_back(c);
  }
  int universe_rank = 0;
  MPI_Comm_rank(MPI_COMM_UNIVERSE, &universe_rank);
  const auto* writers = VMPI_Get_desc_by_name("write");
  const auto* readers = VMPI_Get_desc_by_name("read");
  if (universe_rank == readers->root) {
    const double bytes =
        static_cast<double>(settings.blocks()) * static_cast<double>(settings.block_bytes) * writers->size;
    const auto row = [&](const char* what, double seconds) {
      fmt::print("{:<28}{:>10.2f} GB/s{:>8.3f}\n", what, bytes / seconds / 1e9, median(bare) / seconds);
    };
    fmt::print("{} writers : {} readers, {} blocks of {} bytes each\n", writers->size, readers->size, settings.blocks(),
               settings.block_bytes);
    row("MPI_Isend, MPI_Irecv", median(bare));
    row("stream, lend and take", median(zero_copy));
    row("stream, write and read", median(copying));
    fmt::print("bench: stream_throughput_ratio={:.3f} writers={} readers={} copying_ratio={:.3f}\n",
               median(bare) / median(zero_copy), writers->size, readers->size, median(bare) / median(copying));
  }
  VMPI_Map_free(&side.map);
  MPI_Finalize();
  return 0;
}

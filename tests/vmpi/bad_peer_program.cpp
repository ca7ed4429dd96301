// Streams with a faulty other end, over real MPI. Two programs in one launch, with the same case:
//   mpirun -n 2 bad_peer_program CASE left : -n 4 bad_peer_program CASE right
// In each case `left` is the end that must get a code and never wait for ever. It exits with 1 and a reason otherwise;
// streams.cmake lists the cases.
#include <fmt/core.h>
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "vmpi/vmpi.h"

namespace {

constexpr std::size_t kBlock = 200'000;  // above what MPI sends before the receiver asks
bool is_left = false;

void expect(int found, int expected, const char* what) {
  if (found == expected) return;
  fmt::print(stderr, "bad_peer_program: {} gave {} ({}), expected {}\n", what, found, VMPI_Error_string(found),
             expected);
  MPI_Abort(MPI_COMM_UNIVERSE, 1);
}

const VMPI_Partition_desc* other() { return VMPI_Get_desc_by_name(is_left ? "right" : "left"); }

void wait_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

int open(VMPI_Stream& stream, VMPI_Map_policy policy, const char* mode) {
  VMPI_Map map;
  VMPI_Map_clear(&map);
  expect(VMPI_Map_partitions(other()->id, policy, &map), VMPI_SUCCESS, "the map");
  expect(VMPI_Stream_init(&stream, kBlock, VMPI_STREAM_BALANCE_ROUND_ROBIN), VMPI_SUCCESS, "init");
  const int code = VMPI_Stream_open_map(&stream, &map, mode);
  VMPI_Map_free(&map);
  return code;
}

int open(VMPI_Stream& stream) { return open(stream, VMPI_MAP_ROUND_ROBIN, is_left ? "r" : "w"); }

// Reads the data of all writers until the report of their end.
void read_to_the_end(VMPI_Stream& stream, int writers, int blocks_each) {
  std::vector<char> block(kBlock);
  int blocks = 0, failures = 0;
  for (;;) {
    const int code = VMPI_Stream_read(&stream, block.data(), 1, 0);
    if (code == 0) break;
    if (code == VMPI_ERR_PEER) {
      ++failures;
      continue;
    }
    expect(code, 1, "read");
    ++blocks;
  }
  expect(blocks, writers * blocks_each, "the number of blocks");
  expect(failures, writers, "the number of writers that went");
  expect(VMPI_Stream_close(&stream), VMPI_SUCCESS, "close");
}

int writers_of_left() { return other()->size / VMPI_Get_desc_by_name("left")->size; }

// left has a short time; right hears of that, or that left ended MPI. Right ends when it hears so: no rank of left may
// end before all of them had their time.
void expect_late(int code) {
  if (!is_left && code == VMPI_ERR_PEER) return;
  expect(code, VMPI_ERR_TIMEOUT, "open");
  if (is_left) MPI_Barrier(MPI_COMM_WORLD);
}

// The two sides compute different maps.
void policies_differ() {
  VMPI_Stream stream;
  expect_late(open(stream, is_left ? VMPI_MAP_ROUND_ROBIN : VMPI_MAP_FIXED, is_left ? "r" : "w"));
  expect(VMPI_Stream_close(&stream), VMPI_SUCCESS, "close");
}

// The first two of each side open streams to each other, crosswise and in different orders.
void orders_differ() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 1) return;
  const int peers[2] = {VMPI_Get_universe_rank(other()->id, 0), VMPI_Get_universe_rank(other()->id, 1)};
  // left 0: right 0, left 1: right 1; right 0: left 1, right 1: left 0.
  const int first = is_left ? rank : 1 - rank;
  VMPI_Stream stream;
  VMPI_Stream_init(&stream, kBlock, VMPI_STREAM_BALANCE_NONE);
  expect_late(VMPI_Stream_open_rank(&stream, peers[first], is_left ? "r" : "w"));
  VMPI_Stream_close(&stream);
}

// right ends MPI, before or after the hello of left, and opens no stream.
void never_opens(int left_waits, int right_waits) {
  wait_ms(is_left ? left_waits : right_waits);
  if (!is_left) return;
  VMPI_Stream stream;
  expect(open(stream), VMPI_ERR_PEER, "open");
  expect(VMPI_Stream_close(&stream), VMPI_SUCCESS, "close");
}
void ends_before_the_hello() { never_opens(1500, 0); }
void ends_behind_the_hello() { never_opens(0, 500); }

// right is killed before it opens (the launcher lets left live); left ends without MPI.
void dies_before_opening() {
  if (!is_left) std::raise(SIGKILL);
  VMPI_Stream stream;
  expect(open(stream), VMPI_ERR_PEER, "open");
  fmt::print("bad_peer_program: all is said\n");
  std::fflush(stdout);
  std::_Exit(0);
}

// right writes and goes to MPI_Finalize.
void writer_does_not_close() {
  VMPI_Stream stream;
  expect(open(stream), VMPI_SUCCESS, "open");
  if (is_left) return read_to_the_end(stream, writers_of_left(), 5);
  const std::vector<char> block(kBlock, 'x');
  for (int i = 0; i < 5; ++i) expect(VMPI_Stream_write(&stream, block.data(), 1), 1, "write");
}

// right reads one block and goes to MPI_Finalize; left writes until it gets a code.
void reader_does_not_close() {
  VMPI_Stream stream;
  expect(open(stream, VMPI_MAP_ROUND_ROBIN, is_left ? "w" : "r"), VMPI_SUCCESS, "open");
  std::vector<char> block(kBlock, 'x');
  if (!is_left) {
    expect(VMPI_Stream_read(&stream, block.data(), 1, 0), 1, "read");
    return;
  }
  int code = 0;
  while ((code = VMPI_Stream_write(&stream, block.data(), 1)) == 1) continue;
  expect(code, VMPI_ERR_PEER, "write");
  expect(VMPI_Stream_close(&stream), VMPI_ERR_PEER, "close");
}

// Both ends leave a two-way stream open, with blocks in flight.
void nobody_closes() {
  VMPI_Stream stream;
  expect(open(stream, VMPI_MAP_ROUND_ROBIN, "rw"), VMPI_SUCCESS, "open");
  const std::vector<char> block(kBlock, 'x');
  for (int i = 0; i < 2; ++i) expect(VMPI_Stream_write(&stream, block.data(), 1), 1, "write");
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> cases = {
      {"policies_differ", policies_differ},
      {"orders_differ", orders_differ},
      {"ends_before_the_hello", ends_before_the_hello},
      {"ends_behind_the_hello", ends_behind_the_hello},
      {"dies_before_opening", dies_before_opening},
      {"writer_does_not_close", writer_does_not_close},
      {"reader_does_not_close", reader_does_not_close},
      {"nobody_closes", nobody_closes},
  };
  if (argc != 3 || !cases.contains(argv[1])) return 2;
  is_left = argv[2] == std::string("left");
  if (VMPI_Set_partition_name(argv[2]) != VMPI_SUCCESS) return 1;
  MPI_Init(&argc, &argv);
  cases.at(argv[1])();
  MPI_Finalize();
  if (is_left) fmt::print("bad_peer_program: all is said\n");
  return 0;
}

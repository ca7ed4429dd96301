// Tests partitions and maps over real MPI. Two or three programs in one launch, with the names left, right and middle:
//   mpirun -n 5 map_program left : -n 2 map_program right [: -n 3 map_program middle]
// Every process checks with every other that maps are mutual; exit status 1 and a sentence otherwise.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "vmpi/vmpi.h"

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  fmt::print(stderr, "map_program: it does not hold that {}\n", what);
  MPI_Abort(MPI_COMM_UNIVERSE, 1);
}

// matrix[a * n + b]: a has b in its map. Must be symmetric without empty rows.
void check_mutual(const VMPI_Map& map, bool is_mapped) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_UNIVERSE, &rank);
  MPI_Comm_size(MPI_COMM_UNIVERSE, &size);
  const auto n = static_cast<std::size_t>(size);
  std::vector<int> row(n, 0), matrix(n * n, 0);
  for (int i = 0; i < map.count; ++i) ++row[static_cast<std::size_t>(map.ranks[i])];
  MPI_Allgather(row.data(), size, MPI_INT, matrix.data(), size, MPI_INT, MPI_COMM_UNIVERSE);
  require(!is_mapped || map.count > 0, "each process is mapped to at least one");
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      require(matrix[a * n + b] == matrix[b * n + a], "maps are mutual");
      require(matrix[a * n + b] <= 1, "nobody is mapped twice");
    }
  }
}

struct Partner {
  int own;
  int left;
  int right;
  bool takes_part() const { return own == left || own == right; }
  int other() const { return own == left ? right : left; }
};

int reversed(int slave, int, int master_size, void*) { return master_size - 1 - slave % master_size; }
int out_of_range(int slave, int, int master_size, void*) { return slave == 1 ? master_size : 0; }
int all_to_the_first(int, int, int, void*) { return 0; }
int counts_calls(int, int, int master_size, void* context) { return (*static_cast<int*>(context))++ % master_size; }

int map_user(const Partner& partner, VMPI_Map_function function, void* context, VMPI_Map& map) {
  return VMPI_Map_partitions_user(partner.other(), function, context, &map);
}

void test_maps(const Partner& partner) {
  VMPI_Map map;
  VMPI_Map_clear(&map);
  for (const auto policy : {VMPI_MAP_ROUND_ROBIN, VMPI_MAP_RANDOM, VMPI_MAP_FIXED}) {
    if (partner.takes_part())
      require(VMPI_Map_partitions(partner.other(), policy, &map) == VMPI_SUCCESS, "a map is made");
    check_mutual(map, partner.takes_part());
    VMPI_Map_free(&map);
  }
  int calls = 0;
  if (partner.takes_part()) {
    require(map_user(partner, reversed, nullptr, map) == VMPI_SUCCESS, "a user's map is made");
    VMPI_Map_free(&map);
    require(map_user(partner, counts_calls, &calls, map) == VMPI_SUCCESS, "a map with state is made");
  }
  check_mutual(map, partner.takes_part());
  VMPI_Map_free(&map);
  if (partner.takes_part()) {
    for (const auto bad : {out_of_range, all_to_the_first, VMPI_Map_function(nullptr)}) {
      const int masters = std::min(VMPI_Get_desc_by_id(partner.left)->size, VMPI_Get_desc_by_id(partner.right)->size);
      if (bad == all_to_the_first && masters == 1) continue;  // every process is mapped
      require(map_user(partner, bad, nullptr, map) == VMPI_ERR_MAP, "a bad map is refused by everybody");
      require(map.count == 0, "a bad map leaves no ranks");
    }
  }
  // Additive: every process with every other.
  for (int id = 0; id < VMPI_Get_partition_count(); ++id) {
    if (id != partner.own) VMPI_Map_partitions(id, VMPI_MAP_FIXED, &map);
  }
  check_mutual(map, true);
  require(VMPI_Map_partitions(partner.own, VMPI_MAP_FIXED, &map) == VMPI_ERR_ARG, "nobody is mapped to itself");
  require(VMPI_Map_partitions(99, VMPI_MAP_FIXED, &map) == VMPI_ERR_ARG, "unknown partitions are refused");
  VMPI_Map_free(&map);
}

void test_descriptors() {
  int universe_size = 0, own_size = 0, own_rank = 0, universe_rank = 0, members = 0;
  MPI_Comm_size(MPI_COMM_UNIVERSE, &universe_size);
  MPI_Comm_rank(MPI_COMM_UNIVERSE, &universe_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &own_size);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  for (int id = 0; id < VMPI_Get_partition_count(); ++id) {
    const auto* desc = VMPI_Get_desc_by_id(id);
    require(desc != nullptr && desc->id == id, "every partition has a descriptor");
    require(VMPI_Get_desc_by_name(desc->name) == desc, "a partition is found by its name");
    require(std::string(desc->command).find("map_program") != std::string::npos, "the command line is known");
    require(VMPI_Get_universe_rank(id, 0) == desc->root, "the root is the first process");
    members += desc->size;
  }
  require(members == universe_size, "each process is in one partition");
  const int own = VMPI_Get_partition_id();
  require(VMPI_Get_desc_by_id(own)->size == own_size, "MPI_COMM_WORLD is the partition");
  require(VMPI_Get_universe_rank(own, own_rank) == universe_rank, "ranks are translated");
  require(VMPI_Get_universe_rank(own, own_size) == VMPI_ERR_ARG, "unknown ranks are refused");
  require(VMPI_Get_desc_by_name("nobody") == nullptr, "unknown names are not found");
  require(VMPI_Set_partition_name("late") == VMPI_ERR_STATE, "names come before MPI_Init");
}

// Both ends of a stream get a code for a mismatch and never wait for ever.
void test_mismatches(const Partner& partner) {
  if (!partner.takes_part()) return;
  VMPI_Map map;
  VMPI_Map_clear(&map);
  VMPI_Map_partitions(partner.other(), VMPI_MAP_ROUND_ROBIN, &map);
  const bool is_left = partner.own == partner.left;
  struct Terms {
    std::size_t left_bytes, right_bytes;
    const char *left_mode, *right_mode;
    int expected;
  };
  for (const auto& terms :
       {Terms{1000, 2000, "w", "r", VMPI_ERR_PROTOCOL}, Terms{1000, 1000, "w", "w", VMPI_ERR_PROTOCOL},
        Terms{1000, 1000, "r", "rw", VMPI_ERR_PROTOCOL}, Terms{1000, 1000, "w", "r", VMPI_SUCCESS}}) {
    VMPI_Stream stream;
    VMPI_Stream_init(&stream, is_left ? terms.left_bytes : terms.right_bytes, VMPI_STREAM_BALANCE_RANDOM);
    const int code = VMPI_Stream_open_map(&stream, &map, is_left ? terms.left_mode : terms.right_mode);
    require(code == terms.expected, "a mismatch is told to both ends");
    char byte = 0;
    if (code != VMPI_SUCCESS)
      require(VMPI_Stream_write(&stream, &byte, 1) == VMPI_ERR_STATE, "a stream that failed to open is closed");
    require(VMPI_Stream_close(&stream) == VMPI_SUCCESS, "it can be closed");
  }
  VMPI_Map_free(&map);
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 2, "there is one argument, the name");
  VMPI_Map early;
  VMPI_Map_clear(&early);
  if (VMPI_Map_partitions(0, VMPI_MAP_FIXED, &early) != VMPI_ERR_STATE || VMPI_Get_partition_id() != VMPI_ERR_STATE ||
      VMPI_Set_partition_name("") != VMPI_ERR_ARG)
    return 1;
  if (VMPI_Set_partition_name(argv[1]) != VMPI_SUCCESS) return 1;
  MPI_Init(&argc, &argv);
  const auto id_of = [](const char* name) {
    const auto* desc = VMPI_Get_desc_by_name(name);
    require(desc != nullptr, "left and right are there");
    return desc->id;
  };
  const Partner partner{VMPI_Get_partition_id(), id_of("left"), id_of("right")};
  test_descriptors();
  test_maps(partner);
  test_mismatches(partner);
  MPI_Finalize();
  return 0;
}

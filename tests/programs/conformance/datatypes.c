/* Datatypes: constructors and their queries; packing on communicators; messages of each type. */
#include <stddef.h>
#include <string.h>

#include "conformance.h"

enum { kBytes = 512 };

static void describe(const char* name, MPI_Datatype type) {
  MPI_Aint lower, extent, true_lower, true_extent, addresses[16];
  MPI_Count big_lower, big_extent, big_size, big_true_lower, big_true_extent;
  int size, integers, address_count, types, combiner, values[32];
  MPI_Datatype inner[8];
  MPI_Type_size(type, &size);
  MPI_Type_size_x(type, &big_size);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_extent_x(type, &big_lower, &big_extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  MPI_Type_get_true_extent_x(type, &big_true_lower, &big_true_extent);
  MPI_Type_get_envelope(type, &integers, &address_count, &types, &combiner);
  say("%s: size %d %d extent %ld+%ld %d true %ld+%ld %d envelope %d %d %d", name, size, (int)(big_size == size),
      (long)lower, (long)extent, (int)(big_lower == lower && big_extent == extent), (long)true_lower, (long)true_extent,
      (int)(big_true_lower == true_lower && big_true_extent == true_extent), integers, address_count, types);
  if (combiner == MPI_COMBINER_NAMED || integers > 32 || address_count > 16 || types > 8) return;
  MPI_Type_get_contents(type, integers, address_count, types, values, addresses, inner);
  for (int i = 0; i < integers; ++i) say("%s: integer %d", name, values[i]);
  for (int i = 0; i < types; ++i) {
    int unused, inner_combiner;
    MPI_Type_get_envelope(inner[i], &unused, &unused, &unused, &inner_combiner);
    say("%s: of a named type %d", name, inner_combiner == MPI_COMBINER_NAMED);
    if (inner_combiner != MPI_COMBINER_NAMED) MPI_Type_free(&inner[i]);
  }
}

/* One message of this type around each communicator, and through a packed buffer. */
static void travel(const char* name, MPI_Datatype type) {
  for (int i = 0; i < kIntra + kInter; ++i) {
    const Named* const named = i < kIntra ? &intra[i] : &inter[i - kIntra];
    unsigned char out[kBytes], in[kBytes], packed[kBytes];
    int rank, size, to, from, position = 0, room, elements, sum = 0;
    MPI_Count many;
    MPI_Status status;
    MPI_Comm_rank(named->comm, &rank);
    MPI_Comm_size(named->comm, &size);
    to = i < kIntra ? (rank + 1) % size : rank;
    from = i < kIntra ? (rank + size - 1) % size : rank;
    for (int j = 0; j < kBytes; ++j) out[j] = (unsigned char)(j + 7 * world_rank);
    memset(in, 0, sizeof in);
    MPI_Sendrecv(out, 1, type, to, 1, in, 1, type, from, 1, named->comm, &status);
    MPI_Get_elements(&status, type, &elements);
    MPI_Get_elements_x(&status, type, &many);
    for (int j = 0; j < kBytes; ++j) sum = (sum * 31 + in[j]) % 1000003;
    MPI_Pack_size(1, type, named->comm, &room);
    MPI_Pack(out, 1, type, packed, kBytes, &position, named->comm);
    say("%s on %s: elements %d %d sum %d pack %d of %d", name, named->name, elements, (int)many, sum, position, room);
    MPI_Sendrecv_replace(packed, position, MPI_PACKED, to, 2, from, 2, named->comm, &status);
    memset(in, 0, sizeof in);
    position = 0;
    MPI_Unpack(packed, kBytes, &position, in, 1, type, named->comm);
    sum = 0;
    for (int j = 0; j < kBytes; ++j) sum = (sum * 31 + in[j]) % 1000003;
    say("%s on %s: unpacked %d sum %d", name, named->name, position, sum);
  }
}

static void whole(const char* name, MPI_Datatype type) {
  MPI_Type_commit(&type);
  describe(name, type);
  travel(name, type);
  MPI_Type_free(&type);
  say("%s: freed %d", name, type == MPI_DATATYPE_NULL);
}

static void constructors(void) {
  const int lengths[3] = {1, 2, 3}, places[3] = {0, 4, 9}, sizes[2] = {6, 8}, part[2] = {2, 3}, start[2] = {1, 2};
  const MPI_Aint byte_places[3] = {0, 16, 40};
  const MPI_Datatype types[3] = {MPI_INT, MPI_SHORT, MPI_CHAR};
  const int distribution[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 2};
  MPI_Datatype type;
  MPI_Type_contiguous(5, MPI_INT, &type);
  whole("contiguous", type);
  MPI_Type_vector(3, 2, 4, MPI_INT, &type);
  whole("vector", type);
  MPI_Type_create_hvector(3, 2, 24, MPI_SHORT, &type);
  whole("hvector", type);
  MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
  whole("indexed", type);
  MPI_Type_create_hindexed(3, lengths, byte_places, MPI_INT, &type);
  whole("hindexed", type);
  MPI_Type_create_indexed_block(3, 2, places, MPI_DOUBLE, &type);
  whole("indexed block", type);
  MPI_Type_create_hindexed_block(3, 2, byte_places, MPI_DOUBLE, &type);
  whole("hindexed block", type);
  MPI_Type_create_struct(3, lengths, byte_places, types, &type);
  whole("struct", type);
  MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &type);
  whole("subarray", type);
  MPI_Type_create_darray(4, world_rank, 2, sizes, distribution, arguments, grid, MPI_ORDER_FORTRAN, MPI_INT, &type);
  whole("darray", type);
  MPI_Type_create_resized(MPI_INT, -4, 16, &type);
  whole("resized", type);
  MPI_Type_dup(MPI_DOUBLE_INT, &type);
  whole("duplicate", type);
  MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &type);
  describe("matched", type);
  travel("matched", type);
  travel("byte", MPI_BYTE);
}

static void named(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Datatype type;
  MPI_Type_get_name(MPI_DOUBLE, name, &length);
  say("name %s %d", name, length);
  MPI_Type_dup(MPI_INT, &type);
  MPI_Type_set_name(type, "counts of cells");
  MPI_Type_get_name(type, name, &length);
  say("name %s %d", name, length);
  MPI_Type_free(&type);
}

static void external(void) {
  char packed[256];
  const int values[4] = {1, -2, 3, 1 << 30};
  int back[4] = {0};
  MPI_Aint room, position = 0, first, second;
  MPI_Pack_external_size("external32", 4, MPI_INT, &room);
  MPI_Pack_external("external32", values, 4, MPI_INT, packed, sizeof packed, &position);
  say("external32: %ld of %ld, bytes %d %d", (long)position, (long)room, packed[3], packed[12]);
  position = 0;
  MPI_Unpack_external("external32", packed, sizeof packed, &position, back, 4, MPI_INT);
  say("external32: %d %d %d %d", back[0], back[1], back[2], back[3]);
  MPI_Get_address(&values[0], &first);
  MPI_Get_address(&values[3], &second);
  say("addresses %ld %d", (long)MPI_Aint_diff(second, first), MPI_Aint_add(first, 12) == second);
}

static void reduced(void) {
  const struct {
    double value;
    int place;
  } mine = {world_rank % 2 ? 2.5 : 1.5, world_rank};
  struct {
    double value;
    int place;
  } least;
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  say("maximum %g at %d", least.value, least.place);
}

static void fails(const char* what, int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  say("%s: error class %d", what, class);
}

/* Errors of datatypes belong to no communicator: they go to the world's handler. */
static void errors(void) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int size, values[4] = {0}, position = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  fails("commit of none", MPI_Type_commit(&type));
  fails("size of none", MPI_Type_size(MPI_DATATYPE_NULL, &size));
  fails("negative count", MPI_Type_contiguous(-1, MPI_INT, &type));
  type = MPI_INT;
  fails("free of a predefined one", MPI_Type_free(&type));
  fails("pack into too little", MPI_Pack(values, 4, MPI_INT, &size, 4, &position, MPI_COMM_WORLD));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

void datatypes(void) {
  constructors();
  named();
  external();
  reduced();
  errors();
  for (int i = 0; i < kIntra; ++i) {
    int room;
    MPI_Pack_size(7, MPI_DOUBLE, intra[i].comm, &room);
    say("seven doubles on %s need %d", intra[i].name, room);
  }
}

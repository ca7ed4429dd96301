/* Files: opened on each communicator, all families of access, views, shared pointers, and queries. */
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

enum { kCount = 6 };

static const char* where;
static MPI_File file;
static int rank, size;
static int out[kCount], in[kCount];

static void fill(int step) {
  for (int i = 0; i < kCount; ++i) {
    out[i] = 1000 * step + 100 * rank + i;
    in[i] = -1;
  }
}

static void done(const char* what, const MPI_Status* status) {
  int count;
  MPI_Get_count(status, MPI_INT, &count);
  say("%s %s: %d of %d..%d", where, what, count, in[0], in[kCount - 1]);
}

/* At offsets of its own, and with the file pointer of its own. */
static void own_places(void) {
  const MPI_Offset mine = (MPI_Offset)rank * kCount * (int)sizeof(int); /* the view is one of bytes */
  MPI_Request request;
  MPI_Status status;
  MPI_Offset at;
  fill(1);
  MPI_File_write_at(file, mine, out, kCount, MPI_INT, &status);
  MPI_File_read_at(file, mine, in, kCount, MPI_INT, &status);
  done("at", &status);
  fill(2);
  MPI_File_write_at_all(file, mine, out, kCount, MPI_INT, &status);
  MPI_File_read_at_all(file, mine, in, kCount, MPI_INT, &status);
  done("at_all", &status);
  fill(3);
  MPI_File_iwrite_at(file, mine, out, kCount, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_File_iread_at(file, mine, in, kCount, MPI_INT, &request);
  MPI_Wait(&request, &status);
  done("i_at", &status);
  fill(4);
  MPI_File_iwrite_at_all(file, mine, out, kCount, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_File_iread_at_all(file, mine, in, kCount, MPI_INT, &request);
  MPI_Wait(&request, &status);
  done("i_at_all", &status);
  fill(5);
  MPI_File_write_at_all_begin(file, mine, out, kCount, MPI_INT);
  MPI_File_write_at_all_end(file, out, &status);
  MPI_File_read_at_all_begin(file, mine, in, kCount, MPI_INT);
  MPI_File_read_at_all_end(file, in, &status);
  done("at_all split", &status);
  fill(6);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_write(file, out, kCount, MPI_INT, &status);
  MPI_File_seek(file, -kCount * (int)sizeof(int), MPI_SEEK_CUR);
  MPI_File_read(file, in, kCount, MPI_INT, &status);
  done("pointer", &status);
  MPI_File_get_position(file, &at);
  say("%s position %d", where, (int)at);
  fill(7);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_write_all(file, out, kCount, MPI_INT, &status);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_read_all(file, in, kCount, MPI_INT, &status);
  done("all", &status);
  fill(8);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_iwrite(file, out, kCount, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_iread(file, in, kCount, MPI_INT, &request);
  MPI_Wait(&request, &status);
  done("i", &status);
  fill(9);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_iwrite_all(file, out, kCount, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_iread_all(file, in, kCount, MPI_INT, &request);
  MPI_Wait(&request, &status);
  done("i_all", &status);
  fill(10);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_write_all_begin(file, out, kCount, MPI_INT);
  MPI_File_write_all_end(file, out, &status);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_read_all_begin(file, in, kCount, MPI_INT);
  MPI_File_read_all_end(file, in, &status);
  done("all split", &status);
}

/* With the shared pointer: one after the other, or in the order of ranks. */
static void shared_places(MPI_Comm comm) {
  MPI_Request request;
  MPI_Status status;
  MPI_Offset at;
  fill(11);
  MPI_Barrier(comm);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_write_ordered(file, out, kCount, MPI_INT, &status);
  MPI_File_get_position_shared(file, &at);
  MPI_Barrier(comm);
  say("%s shared position %d", where, (int)at);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_read_ordered(file, in, kCount, MPI_INT, &status);
  done("ordered", &status);
  MPI_Barrier(comm);
  fill(12);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_write_ordered_begin(file, out, kCount, MPI_INT);
  MPI_File_write_ordered_end(file, out, &status);
  MPI_Barrier(comm);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_read_ordered_begin(file, in, kCount, MPI_INT);
  MPI_File_read_ordered_end(file, in, &status);
  done("ordered split", &status);
  MPI_Barrier(comm);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  for (int turn = 0; turn < size; ++turn) {
    if (turn == rank) {
      fill(13);
      MPI_File_write_shared(file, out, kCount, MPI_INT, &status);
      MPI_File_iwrite_shared(file, out, kCount, MPI_INT, &request);
      MPI_Wait(&request, &status);
    }
    MPI_Barrier(comm);
  }
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  for (int turn = 0; turn < size; ++turn) {
    if (turn == rank) {
      MPI_File_read_shared(file, in, kCount, MPI_INT, &status);
      done("shared", &status);
      MPI_File_iread_shared(file, in, kCount, MPI_INT, &request);
      MPI_Wait(&request, &status);
      done("i_shared", &status);
    }
    MPI_Barrier(comm);
  }
}

/* Each process sees every size-th block of two integers. */
static void views(MPI_Comm comm) {
  char representation[MPI_MAX_DATAREP_STRING];
  MPI_Datatype block, type, element;
  MPI_Offset displacement, byte;
  MPI_Status status;
  MPI_Aint extent;
  const int start = 2 * rank, length = 2, whole = 2 * size;
  MPI_Type_create_subarray(1, &whole, &length, &start, MPI_ORDER_C, MPI_INT, &block);
  MPI_Type_commit(&block);
  MPI_File_set_view(file, 8, MPI_INT, block, "native", MPI_INFO_NULL);
  fill(14);
  MPI_File_write_all(file, out, kCount, MPI_INT, &status);
  MPI_File_get_view(file, &displacement, &element, &type, representation);
  MPI_File_get_byte_offset(file, 3, &byte);
  MPI_File_get_type_extent(file, MPI_INT, &extent);
  say("%s view: from %d, %s, third at %d, extent %d, integers %d", where, (int)displacement, representation, (int)byte,
      (int)extent, element == MPI_INT);

  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read_all(file, in, kCount, MPI_INT, &status);
  done("view", &status);
  MPI_Barrier(comm);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_read_at_all(file, 2, in, kCount, MPI_INT, &status);
  done("interleaved", &status);
  MPI_Type_free(&block);
}

static void properties(MPI_Comm comm) {
  MPI_Group group, of_comm;
  MPI_Info read;
  MPI_Offset bytes;
  int mode, atomic, relation;
  MPI_File_get_amode(file, &mode);
  MPI_File_set_atomicity(file, 1);
  MPI_File_get_atomicity(file, &atomic);
  MPI_File_set_atomicity(file, 0);
  MPI_File_get_group(file, &group);
  MPI_Comm_group(comm, &of_comm);
  MPI_Group_compare(group, of_comm, &relation);
  MPI_Group_free(&group);
  MPI_Group_free(&of_comm);
  MPI_File_preallocate(file, 16); /* less than there is: Open MPI 4.1 is not safe when it must write */
  MPI_File_get_size(file, &bytes);
  say("%s mode %d atomic %d its group %d bytes %d", where, mode, atomic, relation == MPI_IDENT, (int)bytes);
  MPI_Barrier(comm);
  MPI_File_set_size(file, 512);
  MPI_File_sync(file);
  MPI_File_get_size(file, &bytes);
  say("%s cut to %d, there and back %d", where, (int)bytes, MPI_File_f2c(MPI_File_c2f(file)) == file);
  MPI_File_get_info(file, &read);
  MPI_File_set_info(file, read);
  MPI_Info_free(&read);
}

void io(void) {
  for (int i = 0; i < kIntra; ++i) {
    char name[64] = "io.";
    where = intra[i].name;
    strcat(name, where);
    if (i == 3) strcat(name, world_rank % 2 ? ".odd" : ".even");
    if (i == 6) name[2] = (char)('0' + world_rank);
    MPI_Comm_rank(intra[i].comm, &rank);
    MPI_Comm_size(intra[i].comm, &size);
    MPI_File_open(intra[i].comm, path_of(name), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    own_places();
    shared_places(intra[i].comm);
    views(intra[i].comm);
    properties(intra[i].comm);
    MPI_File_close(&file);
    say("%s closed %d", where, file == MPI_FILE_NULL);
    MPI_Barrier(intra[i].comm);
    if (rank == 0) MPI_File_delete(path_of(name), MPI_INFO_NULL);
  }
  say("representation again %d", MPI_Register_datarep("native", NULL, NULL, NULL, NULL) != MPI_SUCCESS);
}

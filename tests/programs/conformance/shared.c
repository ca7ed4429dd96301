/* The common part of the chapters: the lines that a process prints, and the communicators that they use. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

int world_rank, world_size;
Named intra[kIntra];
Named inter[kInter];

const char* folder = ".";
static char* lines; /* lines of this process in this chapter */
static size_t used, room;

void say(const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  const size_t length = strlen(line);
  if (used + length + 2 > room) {
    room = 2 * room + 65536;
    lines = realloc(lines, room);
    if (lines == NULL) abort();
  }
  memcpy(lines + used, line, length);
  lines[used + length] = '\n';
  used += length + 1;
}

void print_lines(const char* chapter) {
  int lengths[4], places[4], mine = (int)used, all = 0;
  char* text = NULL;
  MPI_Gather(&mine, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; world_rank == 0 && i < world_size; ++i) {
    places[i] = all;
    all += lengths[i];
  }
  if (world_rank == 0) text = malloc((size_t)all + 1);
  MPI_Gatherv(lines, mine, MPI_CHAR, text, lengths, places, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; world_rank == 0 && i < world_size; ++i) {
    printf("== %s, rank %d\n", chapter, i);
    fwrite(text + places[i], 1, (size_t)lengths[i], stdout);
  }
  fflush(stdout);
  free(text);
  used = 0;
}

const char* path_of(const char* what) {
  static char text[4096];
  snprintf(text, sizeof text, "%s/%s", folder, what);
  return text;
}

void make_communicators(void) {
  MPI_Group group;
  MPI_Comm half, own_half;
  intra[0] = (Named){"world", MPI_COMM_WORLD};
  intra[1].name = "duplicate";
  MPI_Comm_dup(MPI_COMM_WORLD, &intra[1].comm);
  intra[2].name = "reversed";
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &intra[2].comm);
  intra[3].name = "half";
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &intra[3].comm);
  intra[4].name = "node";
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &intra[4].comm);
  intra[5].name = "created";
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &intra[5].comm);
  MPI_Group_free(&group);
  intra[6] = (Named){"self", MPI_COMM_SELF};
  half = intra[3].comm;
  inter[0].name = "inter by world";
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 11, &inter[0].comm);
  inter[1].name = "inter by duplicate";
  MPI_Comm_split(intra[1].comm, world_rank % 2, -world_rank, &own_half);
  MPI_Intercomm_create(own_half, 0, intra[1].comm, world_rank % 2 == 0 ? 3 : 2, 12, &inter[1].comm);
  MPI_Comm_free(&own_half);
  inter[2].name = "duplicate of inter";
  MPI_Comm_dup(inter[0].comm, &inter[2].comm);
}

void free_communicators(void) {
  for (int i = 1; i < kIntra - 1; ++i) MPI_Comm_free(&intra[i].comm);
  for (int i = 0; i < kInter; ++i) MPI_Comm_free(&inter[i].comm);
}

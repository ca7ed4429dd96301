/* Conformance programs: a file per chapter of the MPI standard. Each chapter uses every function of its chapter that
 * takes a communicator, on the world and on communicators made from it, and prints the results: values, comparisons,
 * names, error classes, received data; no addresses, no times, no result that depends on timing. Run natively,
 * virtualised and observed the text must be the same, byte by byte. The Fortran twins are *.F90 beside. */
#pragma once
#include <mpi.h>
#include <stddef.h>

extern int world_rank, world_size; /* of MPI_COMM_WORLD; at most 4 processes */
extern const char* folder;         /* for the files of this run */

/* A line of this process, kept until the chapter ends; format as in printf. */
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* Ends a chapter: rank 0 prints the lines of all processes in the order of ranks. Collective over MPI_COMM_WORLD. */
void print_lines(const char* chapter);

/* The communicators that the chapters use. */
typedef struct {
  const char* name;
  MPI_Comm comm;
} Named;
enum { kIntra = 7, kInter = 3 };
extern Named intra[kIntra]; /* world, a duplicate, reversed, halves, node, created, self */
extern Named inter[kInter]; /* even and odd ranks with the world as peer, the same with a duplicate; a duplicate of it */
void make_communicators(void);
void free_communicators(void);

/* A name of a file of this run. The text is overwritten by the next. */
const char* path_of(const char* what);

void point_to_point(void);
void datatypes(void);
void collectives(void);
void communicators(void);
void attributes(void);
void topologies(void);
void environment(void);
void info(void);
void one_sided(void);
void external_interfaces(void);
void io(void);
void tools(void);
void deprecated(void);

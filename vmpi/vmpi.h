/* vmpi.h: virtual worlds, partitions, maps and streams for MPI programs launched together (MPMD).
 *
 * A program that runs with libvmpi (linked or preloaded) sees the processes of its own partition as MPI_COMM_WORLD;
 * MPI_COMM_UNIVERSE is the real one. Partitions find each other by name or id, are mapped onto each other, and talk
 * through streams: persistent, buffered, asynchronous channels that behave like UNIX pipes.
 *
 * All functions return VMPI_SUCCESS (0) or one of the negative codes below unless they say otherwise, and are to be
 * called between MPI_Init and MPI_Finalize, except VMPI_Set_partition_name, which comes before MPI_Init.
 * Thread safety: a stream belongs to one thread at a time, except VMPI_Stream_release (any thread, no MPI inside).
 */
#ifndef VMPI_H
#define VMPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VMPI_API __attribute__((visibility("default")))

enum {
  VMPI_SUCCESS = 0,
  VMPI_EAGAIN = -1,       /* nothing there now; only with VMPI_STREAM_NONBLOCK */
  VMPI_ERR_ARG = -2,      /* an argument is out of its range */
  VMPI_ERR_STATE = -3,    /* called at the wrong time: before MPI_Init, on a closed stream ... */
  VMPI_ERR_NO_MEMORY = -4,
  VMPI_ERR_MPI = -5,      /* an MPI call failed */
  VMPI_ERR_PROTOCOL = -6, /* the two ends disagree: block size, direction */
  VMPI_ERR_MAP = -7,      /* a user-defined map gave a rank out of range or left a process unmapped */
  VMPI_ERR_PEER = -8      /* a peer went away without closing */
};
VMPI_API const char* VMPI_Error_string(int code);

/* ---- partitions ---- */
#define VMPI_MAX_NAME 128
typedef struct VMPI_Partition_desc {
  int id;                   /* 0 ... count-1, in the order of universe ranks */
  char name[VMPI_MAX_NAME]; /* of the program, or explicit; unique ("solver", "solver#2" ...) */
  const char* command;      /* command line of its root, arguments separated by blanks */
  int size;                 /* processes */
  int root;                 /* universe rank of its first process */
} VMPI_Partition_desc;

VMPI_API MPI_Comm VMPI_Comm_universe(void);
#define MPI_COMM_UNIVERSE VMPI_Comm_universe()
VMPI_API MPI_Comm VMPI_Comm_partition(void); /* the communicator that MPI_COMM_WORLD stands for */

VMPI_API int VMPI_Set_partition_name(const char* name); /* also: environment variable VMPI_PARTITION_NAME */
VMPI_API int VMPI_Get_partition_count(void);
VMPI_API int VMPI_Get_partition_id(void);
VMPI_API const VMPI_Partition_desc* VMPI_Get_desc_by_name(const char* name); /* NULL: no such partition */
VMPI_API const VMPI_Partition_desc* VMPI_Get_desc_by_id(int id);
VMPI_API int VMPI_Get_universe_rank(int partition, int rank); /* negative: error code */

/* ---- maps ---- */
typedef enum { VMPI_MAP_ROUND_ROBIN = 0, VMPI_MAP_RANDOM = 1, VMPI_MAP_FIXED = 2, VMPI_MAP_USER = 3 } VMPI_Map_policy;
typedef struct VMPI_Map {
  int count;        /* mapped processes */
  int* ranks;       /* their universe ranks, in the order of mapping; owned by the map */
  int capacity;
} VMPI_Map;
/* slave: rank in the slave (larger) partition; returns a rank of the master partition. */
typedef int (*VMPI_Map_function)(int slave, int slave_size, int master_size, void* context);
VMPI_API int VMPI_Map_clear(VMPI_Map* map); /* also initialises */
VMPI_API int VMPI_Map_free(VMPI_Map* map);
VMPI_API int VMPI_Map_partitions(int partition, VMPI_Map_policy policy, VMPI_Map* map); /* additive */
VMPI_API int VMPI_Map_partitions_user(int partition, VMPI_Map_function function, void* context, VMPI_Map* map);

/* ---- streams ---- */
typedef enum {
  VMPI_STREAM_BALANCE_NONE = 0,
  VMPI_STREAM_BALANCE_RANDOM = 1,
  VMPI_STREAM_BALANCE_ROUND_ROBIN = 2
} VMPI_Stream_balance;
enum { VMPI_STREAM_NONBLOCK = 1 };
typedef struct VMPI_Stream {
  struct VMPI_Stream_state* state;
} VMPI_Stream;

VMPI_API int VMPI_Stream_init(VMPI_Stream* stream, size_t block_bytes, VMPI_Stream_balance balance);
/* Before opening: asynchronous buffers of a writer (default 3); upper limit of a reader's memory, default 64 blocks. */
VMPI_API int VMPI_Stream_set_buffers(VMPI_Stream* stream, int writer_buffers, size_t reader_limit_bytes);
/* mode "r", "w" or "rw"; collective over the mapped processes. */
VMPI_API int VMPI_Stream_open_map(VMPI_Stream* stream, const VMPI_Map* map, const char* mode);
VMPI_API int VMPI_Stream_open_rank(VMPI_Stream* stream, int universe_rank, const char* mode);
/* Copies `blocks` blocks of block_bytes out of buffer; blocks only when all buffers are in flight. Returns blocks written. */
VMPI_API int VMPI_Stream_write(VMPI_Stream* stream, const void* buffer, int blocks);
/* Copies up to `blocks` blocks. Returns blocks read (> 0), 0 when every writer has closed, or a negative code. */
VMPI_API int VMPI_Stream_read(VMPI_Stream* stream, void* buffer, int blocks, int flags);
VMPI_API int VMPI_Stream_close(VMPI_Stream* stream); /* writes what is in flight, then says the end */

/* Without copies. Writer: lend memory of one's own (1 ... block_bytes), get it back when the send completed. */
VMPI_API int VMPI_Stream_lend(VMPI_Stream* stream, void* block, size_t bytes);
VMPI_API int VMPI_Stream_reclaim(VMPI_Stream* stream, void** block, int flags); /* 1: *block is free again; 0: none lent */
/* Reader: take a block, give it back from any thread when its last user is done. */
VMPI_API int VMPI_Stream_take(VMPI_Stream* stream, void** block, size_t* bytes, int* universe_rank, int flags);
                                                       /* 1: taken; 0: every writer has closed; negative code */
VMPI_API int VMPI_Stream_release(VMPI_Stream* stream, void* block);

#ifdef __cplusplus
}
#endif
#endif

/* vmpi.h: virtual worlds, partitions, maps and streams for MPI programs launched together (MPMD).
 *
 * A program that runs with libvmpi (linked or preloaded) sees the processes of its own partition as MPI_COMM_WORLD;
 * MPI_COMM_UNIVERSE is the real one. Partitions find each other by name or id, are mapped onto each other, and talk
 * through streams: persistent, buffered, asynchronous channels that behave like UNIX pipes.
 *
 * All functions return VMPI_SUCCESS (0) or one of the negative codes below unless they say otherwise, and may be called
 * between MPI_Init and MPI_Finalize (VMPI_ERR_STATE otherwise), except VMPI_Set_partition_name, which comes before
 * MPI_Init. Outputs are set on success only. Nothing here aborts the program or throws.
 * Thread safety: one thread at a time uses a stream, and it must be allowed to call MPI at the program's thread level;
 * only VMPI_Stream_release may be called by any thread at any time: it calls no MPI function.
 * docs/internals/streams.md explains the ideas and the protocol.
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
  VMPI_EAGAIN = -1,       /* nothing available now; only with VMPI_STREAM_NONBLOCK */
  VMPI_ERR_ARG = -2,      /* an argument is out of its range */
  VMPI_ERR_STATE = -3,    /* called at the wrong time: before MPI_Init, on a closed stream ... */
  VMPI_ERR_NO_MEMORY = -4,
  VMPI_ERR_MPI = -5,      /* an MPI call failed */
  VMPI_ERR_PROTOCOL = -6, /* the two ends disagree: block size, direction */
  VMPI_ERR_MAP = -7,      /* a user-defined map gave a rank out of range or left a process unmapped */
  VMPI_ERR_PEER = -8,     /* a peer died, or ended MPI, without opening or closing its end */
  VMPI_ERR_TIMEOUT = -9   /* a peer did not open its end in time: it maps with another policy, or opens in another order */
};
/** The meaning of a code, as the end of a sentence; a static string, never NULL. Callable at any time. */
VMPI_API const char* VMPI_Error_string(int code);

/* ---- partitions ---- */
#define VMPI_MAX_NAME 128
/** Describes one partition; the same in every process. Lives until MPI_Finalize. */
typedef struct VMPI_Partition_desc {
  int id;                   /* 0 ... count-1, in the order of the first universe rank */
  char name[VMPI_MAX_NAME]; /* the program's, or an explicit one; unique ("solver", "solver#2" ...) */
  const char* command;      /* command line of its root, arguments separated by blanks, at most 16 KiB */
  int size;                 /* processes */
  int root;                 /* universe rank of its first process */
} VMPI_Partition_desc;

/** The processes of one application context in a partition: one program with one command line. A partition has one, or
 * several that share its MPI_COMM_WORLD when contexts were joined. */
typedef struct VMPI_Program_desc {
  int partition;
  int first_rank;           /* rank in the partition of its first process; ranks are consecutive */
  int size;                 /* processes */
  char name[VMPI_MAX_NAME]; /* unique ("ocean", "ocean#2"); the partition's name if that has one program */
  const char* command;      /* as in VMPI_Partition_desc */
} VMPI_Program_desc;

/** The real world: all processes of the launch. MPI_COMM_NULL outside of MPI_Init ... MPI_Finalize. */
VMPI_API MPI_Comm VMPI_Comm_universe(void);
#define MPI_COMM_UNIVERSE VMPI_Comm_universe()
/** The communicator that MPI_COMM_WORLD stands for. MPI_COMM_NULL outside of MPI_Init ... MPI_Finalize. */
VMPI_API MPI_Comm VMPI_Comm_partition(void);

/** Names the partition of this process: all processes of the launch with this name form one partition, whatever their
 * application context. Overrides the environment variable VMPI_PARTITION_NAME, which does the same.
 * @return VMPI_ERR_STATE after MPI_Init; VMPI_ERR_ARG for a name that is empty, longer than 127 bytes or contains
 *         control characters; the program's own name is then used, and the partition's root says so on standard error. */
VMPI_API int VMPI_Set_partition_name(const char* name);
/** Number of partitions, or VMPI_ERR_STATE. */
VMPI_API int VMPI_Get_partition_count(void);
/** The id of the caller's partition, or VMPI_ERR_STATE. */
VMPI_API int VMPI_Get_partition_id(void);
/** NULL: no such partition. */
VMPI_API const VMPI_Partition_desc* VMPI_Get_desc_by_name(const char* name);
/** NULL: no such partition. */
VMPI_API const VMPI_Partition_desc* VMPI_Get_desc_by_id(int id);
/** Number of programs of all partitions, or VMPI_ERR_STATE. Programs of a partition are consecutive, in rank order. */
VMPI_API int VMPI_Get_program_count(void);
/** Program 0 ... count-1; NULL: no such program. */
VMPI_API const VMPI_Program_desc* VMPI_Get_program_by_id(int id);
/** Universe rank of a partition's process; VMPI_ERR_ARG: no such partition or process. */
VMPI_API int VMPI_Get_universe_rank(int partition, int rank);

/* ---- maps ---- */
/** The larger of two partitions is the slave, the smaller (or, if equal, the one with the lower id) the master. Each
 * slave gets one master, each master at least one slave. ROUND_ROBIN: slave modulo number of masters. FIXED: runs of
 * consecutive slaves. RANDOM: evenly scattered, the same in every launch of the same partitions. USER: see
 * VMPI_Map_partitions_user. */
typedef enum { VMPI_MAP_ROUND_ROBIN = 0, VMPI_MAP_RANDOM = 1, VMPI_MAP_FIXED = 2, VMPI_MAP_USER = 3 } VMPI_Map_policy;
typedef struct VMPI_Map {
  int count;    /* mapped processes */
  int* ranks;   /* their universe ranks, in the order of mapping; owned by the map */
  int capacity;
} VMPI_Map;
/** slave: rank in the slave (larger) partition; returns a rank of the master partition. */
typedef int (*VMPI_Map_function)(int slave, int slave_size, int master_size, void* context);
/** Initialises a map as empty, whatever the variable contains; frees nothing. */
VMPI_API int VMPI_Map_clear(VMPI_Map* map);
/** Frees the memory of a map and leaves it empty. */
VMPI_API int VMPI_Map_free(VMPI_Map* map);
/** Appends the caller's counterparts in another partition to a map; ranks already in the map stay where they are.
 * Computed locally without messages; the other partition calls it with the same policy.
 * @return VMPI_ERR_ARG: no such partition, the caller's own partition, or VMPI_MAP_USER. */
VMPI_API int VMPI_Map_partitions(int partition, VMPI_Map_policy policy, VMPI_Map* map);
/** The same with a user-defined function, collective over both partitions. Only the pivot, the first process of the
 * master partition, calls its function, once for each slave in ascending order; others may pass NULL.
 * @return VMPI_ERR_MAP in every process of both partitions when the function gave a rank out of range, left a master
 *         without slaves, or is NULL in the pivot; nothing is appended then. */
VMPI_API int VMPI_Map_partitions_user(int partition, VMPI_Map_function function, void* context, VMPI_Map* map);

/* ---- streams ---- */
/** Selects an endpoint among several. Writer: NONE the first open one, RANDOM any, ROUND_ROBIN each in turn; RANDOM and
 * ROUND_ROBIN prefer endpoints that hold no more than their share of the writer's buffers. Reader: the order in which
 * it serves blocks that have arrived, when its memory is short: NONE in order of arrival, RANDOM from any writer,
 * ROUND_ROBIN from each in turn. The two ends may differ. Blocks of one writer to one reader stay in order. */
typedef enum {
  VMPI_STREAM_BALANCE_NONE = 0,
  VMPI_STREAM_BALANCE_RANDOM = 1,
  VMPI_STREAM_BALANCE_ROUND_ROBIN = 2
} VMPI_Stream_balance;
enum { VMPI_STREAM_NONBLOCK = 1 };
typedef struct VMPI_Stream {
  struct VMPI_Stream_state* state;
} VMPI_Stream;

/** @param block_bytes size of a block, 1 ... INT_MAX, equal at both ends. VMPI_Stream_close frees the stream. */
VMPI_API int VMPI_Stream_init(VMPI_Stream* stream, size_t block_bytes, VMPI_Stream_balance balance);
/** Sets buffer sizes, before opening.
 * @param writer_buffers     asynchronous buffers of VMPI_Stream_write, at least 1, default 3; allocated when needed.
 * @param reader_limit_bytes upper limit of a reader's memory for blocks, for any number of writers; 0: 64 blocks.
 * @return VMPI_ERR_ARG: no buffer, or a limit below one block. */
VMPI_API int VMPI_Stream_set_buffers(VMPI_Stream* stream, int writer_buffers, size_t reader_limit_bytes);
/** Connects to all processes of a map. They call it as well, with the same map policy; several streams between the same
 * processes are opened in the same order at both ends. Waits without spinning.
 * @param mode "r", "w" or "rw"; the peers' must be "w", "r" or "rw" in turn. An empty map gives a stream that has ended.
 * @return VMPI_ERR_PROTOCOL at both ends when block sizes or modes don't fit, and at every process that is mapped to one
 *         of them. VMPI_ERR_PEER: a peer died (noticed on the same machine), or is in MPI_Finalize and will never open.
 *         VMPI_ERR_TIMEOUT: a peer has not opened its end within 600 seconds, or VMPI_OPEN_TIMEOUT seconds (environment
 *         variable; 0: no limit); a peer that opens it later gets this code, too. One sentence on standard error names
 *         the peer. The stream can be closed or opened again in all these cases. VMPI_ERR_ARG: unknown mode or rank. */
VMPI_API int VMPI_Stream_open_map(VMPI_Stream* stream, const VMPI_Map* map, const char* mode);
/** The same between two processes. */
VMPI_API int VMPI_Stream_open_rank(VMPI_Stream* stream, int universe_rank, const char* mode);
/** Copies `blocks` blocks of block_bytes out of buffer; blocks only when all buffers are in flight.
 * @return blocks written; fewer than asked for or a negative code on errors. VMPI_ERR_PEER: no reader is left. */
VMPI_API int VMPI_Stream_write(VMPI_Stream* stream, const void* buffer, int blocks);
/** Reads up to `blocks` blocks: waits for the first one unless flags contains VMPI_STREAM_NONBLOCK, and adds others that
 * are available. A block that was lent with fewer bytes is padded with zeros.
 * @return blocks read, 0 when every writer has closed, VMPI_EAGAIN when non-blocking and none is available, VMPI_ERR_PEER
 *         once for each writer that died (reading may go on with the others), or another negative code. */
VMPI_API int VMPI_Stream_read(VMPI_Stream* stream, void* buffer, int blocks, int flags);
/** Waits until blocks in flight were received, and ends the stream. MPI_Finalize does the same for streams that are still
 * open and says so on standard error; their peers get VMPI_ERR_PEER after the last block. A reader that closes before
 * its writers discards later blocks and returns when the writers have closed or noticed. All blocks taken must have
 * been released (otherwise VMPI_ERR_STATE, and the stream stays open); lent memory belongs to the caller again.
 * @return VMPI_ERR_PEER when a peer's death was not reported before; the stream is closed except for VMPI_ERR_STATE. */
VMPI_API int VMPI_Stream_close(VMPI_Stream* stream);

/* Streams without copies */
/** Sends `bytes` (1 ... block_bytes) of the caller's own memory as a block. Never blocks. The memory must stay unchanged
 * until VMPI_Stream_reclaim returns it.
 * @return VMPI_ERR_PEER: no reader is left, as far as VMPI_Stream_reclaim has noticed; the memory stays the caller's. */
VMPI_API int VMPI_Stream_lend(VMPI_Stream* stream, void* block, size_t bytes);
/** Returns lent memory whose block was received, in the order of completion. With VMPI_STREAM_NONBLOCK it makes few MPI
 * calls, and checks once a second for readers that closed or died.
 * @return 1: *block is free again; 0: no memory is lent; VMPI_EAGAIN: non-blocking and none is free yet. */
VMPI_API int VMPI_Stream_reclaim(VMPI_Stream* stream, void** block, int flags);
/** Takes the next block, which VMPI_Stream_release returns. Taken blocks count against the reader's limit: a thread that
 * holds all of them blocks for ever unless another thread releases one.
 * @param universe_rank of the writer; may be NULL. With VMPI_ERR_PEER: of the writer that died.
 * @return 1: taken; 0: every writer has closed; otherwise as VMPI_Stream_read. */
VMPI_API int VMPI_Stream_take(VMPI_Stream* stream, void** block, size_t* bytes, int* universe_rank, int flags);
/** Releases a taken block. Any thread, lock-free, no MPI call. @return VMPI_ERR_ARG: not a taken block of this stream. */
VMPI_API int VMPI_Stream_release(VMPI_Stream* stream, void* block);

#ifdef __cplusplus
}
#endif
#endif

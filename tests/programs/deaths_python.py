# As deaths.c, in Python.
import ctypes
import mmap
import os
import signal
import struct
import sys

from mpi4py import MPI

RANKS = 8
EXCHANGES, REDUCTIONS, WRITES, HOW, AT = (RANKS * 8 * i for i in range(5))
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
with open(sys.argv[1], "r+b") as file:
    page = mmap.mmap(file.fileno(), 5 * RANKS * 8)
sink = os.open("/dev/null", os.O_WRONLY)


def get(field):
    return struct.unpack_from("q", page, field + 8 * rank)[0]


def count(field):
    struct.pack_into("q", page, field + 8 * rank, get(field) + 1)


def die():
    how = get(HOW)
    if how == 1:
        ctypes.string_at(8)
    elif how == 2:
        os.abort()
    elif how == 3:
        os.kill(os.getpid(), signal.SIGFPE)
    elif how == 4:
        os._exit(4)
    elif how == 5:
        ctypes.CDLL(None).exit(3)
    elif how == 6:
        comm.Abort(42)
    elif how == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == 8:
        os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()


out, into, total = (bytearray(4) for _ in range(3))
step = 0
while True:
    comm.Sendrecv([out, 1, MPI.INT], (rank + 1) % size, 7, [into, 1, MPI.INT], (rank - 1) % size, 7)
    count(EXCHANGES)
    os.write(sink, b"a line\n")
    count(WRITES)
    if get(HOW) != 0 and get(AT) == step:
        die()
    comm.Allreduce([into, 1, MPI.INT], [total, 1, MPI.INT], MPI.SUM)
    count(REDUCTIONS)
    step += 1

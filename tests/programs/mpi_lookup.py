"""MPI by ctypes, without any binding. Argument: the MPI library. Prints what rank 0 sees."""
import ctypes
import sys

mpi = ctypes.CDLL(sys.argv[1])
is_open_mpi = hasattr(mpi, "ompi_mpi_comm_world")


def handle(symbol, number):
    return ctypes.byref(ctypes.c_char.in_dll(mpi, symbol)) if is_open_mpi else ctypes.c_int(number)


world = handle("ompi_mpi_comm_world", 0x44000000)
integer = handle("ompi_mpi_int", 0x4C000405)
add = handle("ompi_mpi_op_sum", 0x58000003)
rank, size, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, integer, add, world)
if rank.value == 0:
    print(f"world of {size.value}, sum {total.value}", flush=True)
mpi.MPI_Finalize()

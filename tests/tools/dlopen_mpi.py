"""A program that opens libmpi itself and looks its functions up by name, as ctypes, Julia and Rust packages do. Its
arguments: the library, then "global" or "local". Prints what rank 0 sees of its world."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL if sys.argv[2] == "global" else ctypes.RTLD_LOCAL)
library.MPI_Init(None, None)
world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world")))
integer = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, "ompi_mpi_int")))
total = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, "ompi_mpi_op_sum")))
rank, size, result = ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_int(-1)
library.MPI_Comm_rank(world, ctypes.byref(rank))
library.MPI_Comm_size(world, ctypes.byref(size))
library.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(result), 1, integer, total, world)
if rank.value == 0:
    print(f"python world of {size.value}, sum {result.value}")
library.MPI_Finalize()

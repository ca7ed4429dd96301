"""A ring, a reduction and buffers with numpy through mpi4py; prints the same lines under every profiler."""
import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
for step in range(200):
    received = world.sendrecv({"rank": rank, "step": step}, dest=(rank + 1) % size, source=(rank - 1) % size)
    assert received == {"rank": (rank - 1) % size, "step": step}
values = numpy.arange(1000, dtype="d") * (rank + 1)
total = numpy.empty_like(values)
world.Allreduce(values, total, op=MPI.SUM)
halves = world.Split(rank % 2, rank)
assert halves.Get_size() == len(range(rank % 2, size, 2))
window = MPI.Win.Allocate(8, comm=world)
window.Fence()
window.Fence()
window.Free()
lines = world.gather(f"rank {rank} of {size}: {total.sum():.17g} tag {world.Get_attr(MPI.TAG_UB)}", root=0)
if rank == 0:
    print("\n".join(lines))
sys.stdout.flush()

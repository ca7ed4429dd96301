# The last rank has more work before each sum: the function that it alone calls is the cause of the others' waiting.
from mpi4py import MPI


def relax(steps):
    total = 0.0
    for i in range(steps):
        total += i * 0.5
    return total


def boundary(steps):
    total = 0.0
    for i in range(steps):
        total += i * 0.25
    return total


world = MPI.COMM_WORLD
for step in range(60):
    relax(40000)
    if world.rank == world.size - 1:
        boundary(160000)
    world.Barrier()

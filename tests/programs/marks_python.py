# As mpi_marks.c, in Python: 20 steps with a phase, a value and a snapshot, MPI_Pcontrol before the loop.
import os
import sys

from mpi4py import MPI

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../instrument/api"))
import ardoise

world = MPI.COMM_WORLD
MPI.Pcontrol(2)
for step in range(1, 21):
    with ardoise.phase("solve"):
        world.allreduce(world.rank)
    ardoise.value("residual", 1.0 / step)
    ardoise.snapshot("step", step)
if world.rank == 0:
    print("done")

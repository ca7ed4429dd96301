"""Functions whose shares and calls are known: `once` and `twice` compute in proportion 1:2, `reduce` is called by two.

Work is a fixed number of loops. The lines that tests name end with a mark.
"""
import concurrent.futures
import sys

from mpi4py import MPI

import asyncio, email.message, plistlib, unittest.mock, xml.dom.minidom  # many modules, beneath MPI_Init

comm = MPI.COMM_WORLD


def burn(count):
    x = 0.0
    for i in range(count):
        x = x * 0.5 + i  # MARK burn
    return x


def once():
    return burn(100000)


def twice():
    return burn(200000)


class Sums:
    def reduce(self, value):
        return comm.allreduce(value)  # MARK reduce

    def numbers(self, count):
        for i in range(count):
            yield i * 2  # MARK numbers


def first(sums):
    sums.reduce(once())


def second(sums):
    sums.reduce(twice())


def deep(level):
    return once() if level == 0 else deep(level - 1)


def fail(level):
    if level == 0:
        raise ValueError("on purpose")
    fail(level - 1)


def main():
    sums = Sums()
    for step in range(40):
        first(sums)
        second(sums)
    sum(sums.numbers(1000000))
    deep(60)
    for _ in range(2000):
        try:
            fail(20)
        except ValueError:
            pass
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(burn, [300000, 300000]))
    with open(sys.argv[1] + "/out.%d" % comm.rank, "w") as file:
        for i in range(50):
            file.write("%d\n" % i)
            file.flush()  # MARK flush
    exec(compile("comm.Barrier()", "<made>", "exec"), {"comm": comm})
    print("rank %d of %d ends" % (comm.rank, comm.size))


main()

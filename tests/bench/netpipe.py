#!/usr/bin/python3
"""NetPIPE (Debian: netpipe-openmpi) between two ranks: native, virtualised only (libvmpi preloaded), observed (ardoise).

    netpipe.py BUILD_FOLDER [--rounds N]

Each round runs all three one after the other, in an order that turns, and figures are medians over the rounds of what one
round compares, so that a machine that gets slower in between does no harm. Each rank is pinned to a core of its own where
there are two; the analyzer, which sleeps between packs, goes where there is room. Two ranks that do nothing but exchange 8
bytes make hundreds of megabytes of events a second, so where the analyzer has no core of its own it takes theirs: trials are
short, and NetPIPE counts the best of them. The last line is for tools/bench.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

MODES = ("native", "virtual", "observed")


class Bench:
    def __init__(self, build, folder):
        self.build = build
        self.folder = folder
        self.cores = sorted(os.sched_getaffinity(0))
        self.environment = dict(os.environ)
        if os.geteuid() == 0:
            self.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def launch(self, mode, program, pinned=True):
        """Output of two ranks of the program."""
        environment = dict(self.environment)
        if pinned:
            # With more processes than slots Open MPI yields the core in every wait; all three must do the same.
            environment["OMPI_MCA_mpi_yield_when_idle"] = "0"
        line = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2"]
        if mode == "virtual":
            line += ["-x", f"LD_PRELOAD={self.build}/lib/libvmpi.so"]
        if pinned and len(self.cores) > 1:
            pin = f'case $OMPI_COMM_WORLD_RANK in 0) c={self.cores[0]};; *) c={self.cores[1]};; esac; exec taskset -c $c "$0" "$@"'
            line += ["sh", "-c", pin]
        line += program
        if mode == "observed":
            report = self.folder / "report"
            line = [f"{self.build}/bin/ardoise", "--quiet", "--no-report", "--output", str(report)] + line
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=600)
        shutil.rmtree(self.folder / "report", ignore_errors=True)
        if done.returncode != 0:
            sys.exit(f"netpipe.py: {' '.join(line)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def half_round_trip(self, mode, size, repeats):
        """Seconds for one message of `size` bytes in one direction, NetPIPE's best of its trials."""
        table = self.folder / "np.out"
        table.unlink(missing_ok=True)
        self.launch(mode, ["NPopenmpi", "-l", str(size), "-u", str(size), "-p", "0", "-n", str(repeats), "-o", str(table)])
        _, megabits, _ = table.read_text().split()[-3:]
        # NetPIPE rounds the time to 10 ns and prints megabits (of 2^20) with more digits.
        return size * 8 / 2**20 / float(megabits)

    def init_and_finalize(self, mode):
        # As a user launches it: the analyzer can be one process more than there are cores.
        output = self.launch(mode, [f"{self.build}/bin/init_finalize_bench"], pinned=False)
        return float(output.split("init_finalize")[-1].split()[0])


def rounds(count, measure):
    """For each round {mode: figure}; one more round comes first and is not counted."""
    all_rounds = []
    for i in range(count + 1):
        order = MODES[i % 3:] + MODES[:i % 3]
        one = {mode: measure(mode) for mode in order}
        if i > 0:
            all_rounds.append(one)
    return all_rounds


def median(values):
    return statistics.median(list(values))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--repeats", type=int, default=5000, help="8-byte messages of a trial")
    options = parser.parse_args()
    if shutil.which("NPopenmpi") is None:
        sys.exit("netpipe.py: there is no NPopenmpi; install it (Debian: netpipe-openmpi)")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.build.resolve(), pathlib.Path(folder))
        print(f"2 ranks on cores {bench.cores[:2]} of {len(bench.cores)}, pinned; the analyzer of the observed runs sleeps "
              f"between packs and {'has cores left over' if len(bench.cores) > 2 else 'shares theirs'}; load "
              f"{os.getloadavg()[0]:.1f}; {options.rounds} rounds")
        small = rounds(options.rounds, lambda mode: bench.half_round_trip(mode, 8, options.repeats))
        large = rounds(options.rounds, lambda mode: bench.half_round_trip(mode, 1 << 20, 300))
        ends = rounds(options.rounds, bench.init_and_finalize)
    print(f"{'median of':<44}{'native':>12}{'virtual':>12}{'observed':>12}")
    for what, figures, scale in (("8 bytes, half a round trip, ns", small, 1e9), ("1 MB, one way, us", large, 1e6),
                                 ("MPI_Init and MPI_Finalize together, ms", ends, 1e3)):
        print(f"{what:<44}" + "".join(f"{median(r[mode] for r in figures) * scale:>12.1f}" for mode in MODES))
    print("bench:"
          f" netpipe_virtual_ratio={median(r['virtual'] / r['native'] for r in small):.3f}"
          f" netpipe_observed_extra_ns={median((r['observed'] - r['native']) * 1e9 for r in small):.1f}"
          f" netpipe_bandwidth_ratio={median(r['native'] / r['observed'] for r in large):.3f}"
          f" init_finalize_extra_ms={median((r['observed'] - r['native']) * 1e3 for r in ends):.1f}")


if __name__ == "__main__":
    main()

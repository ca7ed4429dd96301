#!/usr/bin/python3
"""A rank on every processor: the time of the loops of full_node_loop.c natively and under Ardoise, in turn.

    full_node.py BUILD_FOLDER [--ranks N] [--rounds N] [--seconds S] [--load]

For each loop and way to run it: the loop's time over the native one, the time of the whole launch, and the processor
time of the ranks in the loop and of everything else in the launch (analyzers, launcher, start and end of the ranks).
All are medians; the ratio is the median of the ratios of each round, whose runs follow each other. --load: a program
that computes on one processor runs beside all of them. The last line is for tools/bench.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

KINDS = ("work", "messages")
WAYS = {"native": None, "ardoise": [], "sums": ["--record", "sums"]}


def launch(options, folder, kind, rounds, way):
    """(seconds of the loop, of the launch, processor seconds of the ranks in the loop, of all else)."""
    line = ["mpirun", "-n", str(options.ranks), f"{options.build}/bin/full_node_loop", kind, str(rounds)]
    if WAYS[way] is not None:
        line = [f"{options.build}/bin/ardoise", "--quiet", "--no-report", "--output", f"{folder}/report", *WAYS[way], *line]
    # As a user has it: neither polling nor placement is set from outside.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_MCA_")}
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=900)
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"full_node.py: {' '.join(line)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    words = done.stdout.split()
    took, ranks = (float(words[words.index(name) + 1]) for name in ("took", "cpu"))
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, seconds, ranks, used - ranks


def measure(options, folder, kind, figures):
    took = launch(options, folder, kind, 1000, "native")[0]
    rounds = max(1000, int(1000 * options.seconds / took))
    runs = {way: [] for way in WAYS}
    for i in range(options.rounds):
        order = list(WAYS) if i % 2 == 0 else list(reversed(WAYS))
        for way in order:
            runs[way].append(launch(options, folder, kind, rounds, way))
    for way, each in runs.items():
        ratio = statistics.median(run[0] / native[0] for run, native in zip(each, runs["native"]))
        took, whole, ranks, others = (statistics.median(run[k] for run in each) for k in range(4))
        print(f"{kind:<10}{way:<9}{took:>9.3f} s{ratio:>8.2f}{whole:>10.2f} s{ranks:>10.2f} s{others:>10.2f} s", flush=True)
        figures[f"full_node_{kind}_{way}"] = ratio


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=os.cpu_count(), help="one for each processor")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of the native loop")
    parser.add_argument("--load", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    figures = {}
    print(f"{'loop':<10}{'way':<9}{'loop time':>11}{'ratio':>8}{'launch':>12}{'CPU ranks':>12}{'CPU others':>12}")
    load = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if options.load else None
    try:
        with tempfile.TemporaryDirectory() as folder:
            for kind in KINDS:
                measure(options, folder, kind, figures)
    finally:
        if load is not None:
            load.kill()
            load.wait()
    print("bench:", *(f"{name}={ratio:.2f}" for name, ratio in figures.items() if not name.endswith("native")))


if __name__ == "__main__":
    main()

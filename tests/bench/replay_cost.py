#!/usr/bin/python3
"""The extra cost of a replay per MPI call, beside the bare calls; and the run time of a master with workers while its races are
recorded, and while they are forced, beside that without.

    replay_cost.py BUILD_FOLDER [--rounds N] [--ranks N]

Runs take turns, and medians are given. A master with workers wants a processor for each rank. The last line is for tools/bench.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile


def run(line):
    environment = dict(os.environ)
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([str(word) for word in line], env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"replay_cost.py: {line} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def replay_cost(build, folder, rounds):
    """Nanoseconds per call: of the bare loop, and of the replay minus that."""
    loop = ["mpirun", "-n", "1", f"{build}/bin/replay_loop"]
    run([f"{build}/bin/ardoise", "--quiet", "--no-report", "--sample", "off", "--policy", "block", "--trace",
         "all,attributes=arguments", "--output", folder / "report"] + loop)
    bare, replayed = [], []
    for _ in range(rounds):
        calls, took = re.search(r"calls (\d+) took ([\d.]+)", run(loop)).groups()
        bare.append(float(took) / int(calls))
        text = run(["mpirun", "-n", "1", f"{build}/bin/ardoise-replay", folder / "report", "--pause", "none"])
        replayed.append(float(re.search(r"The run took ([\d.]+) s", text).group(1)) / int(calls))
    native = statistics.median(bare) * 1e9
    return native, statistics.median(replayed) * 1e9 - native


def farm_times(build, folder, rounds, ranks, way):
    """Seconds of the farm, measured by Ardoise all the time: free, recorded, forced."""
    farm = ["mpirun", "--oversubscribe", "-n", str(ranks), f"{build}/bin/mpi_farm", "400", "500", way]
    times = {"free": [], "recorded": [], "forced": []}
    for i in range(rounds):
        races = folder / f"races-{way}-{i}"
        options = {"free": [], "recorded": ["--record-races", races], "forced": ["--replay-races", races]}
        for kind, words in options.items():
            text = run([f"{build}/bin/ardoise", "--quiet", "--no-report", "--output", folder / "run"] + words + farm)
            times[kind].append(float(re.search(r"([\d.]+) s\n", text).group(1)))
            shutil.rmtree(folder / "run")
    return {kind: statistics.median(values) for kind, values in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=max(2, min(8, (os.cpu_count() or 2))))
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        native, own = replay_cost(build, folder, options.rounds)
        print(f"a call: {native:.1f} ns, and {own:.1f} ns more in a replay")
        ratios = []
        for way in ("wildcard", "waitany"):
            times = farm_times(build, folder, options.rounds, options.ranks, way)
            ratios.append((times["recorded"] / times["free"], times["forced"] / times["free"]))
            print(f"{way}, {options.ranks} ranks: {times['free']:.4f} s, recorded {ratios[-1][0]:.3f}, forced "
                  f"{ratios[-1][1]:.3f} of it")
    print(f"bench: replay_own_ns={own:.1f} races_recorded_ratio={max(each[0] for each in ratios):.3f} "
          f"races_forced_ratio={max(each[1] for each in ratios):.3f}")


if __name__ == "__main__":
    main()

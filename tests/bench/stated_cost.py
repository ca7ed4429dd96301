#!/usr/bin/python3
"""The tool's cost as stated in reports against its real cost: six programs on one rank, natively and observed in turn.

    stated_cost.py BUILD_FOLDER [--rounds N]

The cost that is measured is the median over the rounds of observed less native; its noise is the standard error of that
median, from the spread of the rounds. Stated and measured agree within 20 % or within twice the noise: the table says which
of the two. The last line is for tools/bench.
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

KINDS = ("messages", "requests", "sums", "queries", "writes", "computes")


def launch(build, folder, kind, observed):
    """Seconds that the program took, and those that the report states as the tool's."""
    line = ["mpirun", "--oversubscribe", "-n", "1", f"{build}/bin/stated_cost_loop", kind]
    report = folder / "report"
    if observed:
        line = [f"{build}/bin/ardoise", "--quiet", "--no-report", "--output", str(report)] + line
    environment = dict(os.environ)
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"stated_cost.py: {' '.join(line)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    took = float(done.stdout.split("took")[1].split()[0])
    if not observed:
        return took, 0
    run = json.loads((report / "profile.json").read_text())
    shutil.rmtree(report)
    return took, run["applications"][0]["quality"]["overhead_seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    build, agree = options.build.resolve(), 0
    print(f"{'program':<10}{'native':>10}{'measured':>12}{'noise':>10}{'stated':>10}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            native, extra, stated = [], [], []
            for i in range(options.rounds + 1):  # the first is not counted
                order = (False, True) if i % 2 == 0 else (True, False)
                took = {observed: launch(build, pathlib.Path(folder), kind, observed) for observed in order}
                if i == 0:
                    continue
                native.append(took[False][0])
                extra.append(took[True][0] - took[False][0])
                stated.append(took[True][1])
            measured, says = statistics.median(extra), statistics.median(stated)
            low, _, high = statistics.quantiles(extra, n=4)
            noise = 1.253 * (high - low) / 1.349 / math.sqrt(len(extra))  # of a normal distribution's median
            verdict = ("within 20 %" if abs(says - measured) <= 0.2 * abs(measured) else
                       "within the noise" if abs(says - measured) <= 2 * noise else "apart")
            agree += verdict != "apart"
            print(f"{kind:<10}{statistics.median(native):>8.3f} s{measured * 1e3:>9.1f} ms{noise * 1e3:>7.1f} ms"
                  f"{says * 1e3:>7.1f} ms{says / measured:>8.2f}  {verdict}")
    print(f"bench: stated_cost_agrees={agree}/{len(KINDS)}")


if __name__ == "__main__":
    main()

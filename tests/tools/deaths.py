#!/usr/bin/env python3
"""Kills programs that count their own calls, at random moments and in all ways, and compares them with the report.

  deaths.py [--build DIR] [--runs N] [--seed S] [--launcher WORDS] [--mpich] [--language c|fortran|python]...
            [--kind KIND]...

Each run must have a profile with the calls that the ranks counted themselves. For each rank it may have one more, which
had ended but was not counted yet. The exit status must be that of the launch without Ardoise (Open MPI), the cause of
the end must be named first, and no process and no file may be left. Exit status 1 if a run fails one of these checks.

If everything is killed at once (programs, survivors, analyzers, mpirun and ardoise), the last calls are missing: the
age of the oldest missing call is printed.
"""
import argparse
import json
import mmap
import os
import pathlib
import random
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

RANKS = 3
FIELD = 8 * 8
OWN = ["segv", "abort", "fpe", "immediate exit", "exit", "MPI_Abort", "kill itself", "term itself"]
OUTSIDE = ["kill a rank", "kill all ranks", "kill an analyzer", "kill mpirun", "kill ardoise", "kill everything"]
STATUS = {"segv": 139, "abort": 134, "fpe": 136, "immediate exit": 4, "exit": 3, "MPI_Abort": 42, "kill itself": 137,
          "term itself": 143, "kill a rank": 137, "kill all ranks": 137, "kill mpirun": 137, "kill ardoise": -9, "kill everything": -9}
CAUSE = {"segv": ("signal", "SIGSEGV"), "abort": ("signal", "SIGABRT"), "fpe": ("signal", "SIGFPE"),
         "immediate exit": ("immediate exit", ""), "exit": ("exit", ""), "MPI_Abort": ("abort", ""),
         "kill itself": ("killed", "SIGKILL"), "term itself": ("signal", "SIGTERM")}


class Page:
    def __init__(self, path):
        path.write_bytes(bytes(5 * FIELD))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 5 * FIELD)

    def counts(self):
        """Calls of each kind, over all ranks."""
        return [sum(struct.unpack_from(f"{RANKS}q", self.memory, field * FIELD)) for field in range(3)]

    def order(self, rank, how, step):
        struct.pack_into("q", self.memory, 4 * FIELD + 8 * rank, step)
        struct.pack_into("q", self.memory, 3 * FIELD + 8 * rank, how)


def processes(page):
    """(pid, name) of those whose command line has the page's path."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if str(page).encode() in (entry / "cmdline").read_bytes():
                found.append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            pass
    return found


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def of_kind(page, output, kind, lot):
    """The processes to kill."""
    named = processes(page)
    ranks = sorted(pid for pid, name in named if name.startswith(("deaths", "python3")))
    if kind == "kill a rank":
        return [lot.choice(ranks)] if ranks else []
    if kind == "kill all ranks":
        return ranks
    if kind == "kill an analyzer":
        analyzers = [pid for pid, _ in processes(output) if b"--status-file" in cmdline(pid) and is_analyzer(pid)]
        return [lot.choice(sorted(analyzers))] if analyzers else []
    if kind == "kill everything":
        return sorted(pid for pid, _ in processes(output.parent))
    wanted = ("ardoise",) if kind == "kill ardoise" else ("mpirun", "mpiexec", "orterun")
    return [pid for pid, name in named if name.startswith(wanted) and os.readlink(f"/proc/{pid}/exe").split("/")[-1]
            .startswith(wanted)][:1]


def watched_counts(page, seconds):
    """(time, sum of all calls), many times in so many seconds."""
    begin, seen = time.monotonic(), []
    while time.monotonic() - begin < seconds:
        seen.append((time.monotonic(), sum(page.counts())))
        time.sleep(0.002)
    return seen


def cmdline(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def is_analyzer(pid):
    return cmdline(pid).split(b"\0")[0].endswith(b"ardoise-analyzer")


def one(options, language, kind, seed, folder, lost):
    """Returns the faults. Adds to lost: seconds of missing calls."""
    lot = random.Random(seed)
    page_file, output = folder / "page", folder / "report"
    page = Page(page_file)
    rank = lot.randrange(RANKS)
    if kind in OWN:
        page.order(rank, OWN.index(kind) + 1, lot.randrange(5, options.steps))
    binary = options.build / "bin"
    program = {"c": [str(binary / "deaths")], "fortran": [str(binary / "deaths_fortran")],
               "python": ["/usr/bin/python3", str(pathlib.Path(__file__).parent.parent / "programs" / "deaths_python.py")]}[language]
    ardoise = [str(binary / "ardoise"), "--no-report", "--quiet", "--analyzers", str(lot.choice([1, 2])), "-o",
               str(output)]
    launch = ardoise + shlex.split(options.launcher) + ["-n", str(RANKS)] + program + [str(page_file)]
    with open(folder / "out", "wb") as out:
        run = subprocess.Popen(launch, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    if kind in OUTSIDE:
        begin = time.monotonic()
        while min(page.counts()) < RANKS and time.monotonic() - begin < 60:
            time.sleep(0.005)
        if kind == "kill everything":
            seen = watched_counts(page, lot.uniform(2, 4))
        else:
            time.sleep(lot.uniform(0.01, 1.2))
        victims = of_kind(page_file, output, kind, lot)
        if not victims:
            kill(pid for pid, _ in processes(page_file))
            return ["nobody to kill was found"]
        kill(victims)
    try:
        status = run.wait(timeout=120)
    except subprocess.TimeoutExpired:
        left = processes(page_file)
        kill([pid for pid, _ in left])
        return [f"it had not ended after 120 s: {left}"]
    faults = []
    expected = STATUS.get(kind)
    if expected is not None and not options.mpich and status != expected:
        faults.append(f"the exit status is {status}, not {expected}")
    begin = time.monotonic()
    while processes(folder) and time.monotonic() - begin < 15:
        time.sleep(0.02)
    if left := processes(folder):
        faults.append(f"left after 15 s: {left}")
        kill([pid for pid, _ in left])
    if kind in ("kill ardoise", "kill everything"):
        subprocess.run([str(binary / "ardoise"), "report", "--quiet", str(output)], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=dict(os.environ, PATH=""), check=False)
        shutil.rmtree(output / "latex", ignore_errors=True)
        (output / "report.pdf").unlink(missing_ok=True)
    files = sorted(each.name for each in output.iterdir()) if output.is_dir() else []
    if files != ["profile.json", "summary.txt"]:
        faults.append(f"the folder has {files}")
    if "profile.json" not in files:
        return faults
    profile = json.loads((output / "profile.json").read_text())
    application = profile["applications"][0]
    calls = {each["function"]: each["calls"] for each in application["mpi"] + application["posix"]}
    own = page.counts()
    told = [calls.get(name, 0) for name in ("MPI_Sendrecv", "MPI_Allreduce", "write")]
    if language == "fortran" and kind in OWN:  # its library writes when a signal arrives
        told[2] = min(told[2], own[2])
    if kind == "kill everything":
        lost.append(seen[-1][0] - max(at for at, calls in seen if calls <= sum(told)))
        if sum(told) > sum(own) + RANKS:
            faults.append(f"the calls are {own}, told are {told}")
    elif any(t < o for t, o in zip(told, own)) or sum(told) > sum(own) + RANKS:
        faults.append(f"the calls are {own}, told are {told}")
    ends = application["ending"]["ends"]
    if kind in OWN and not options.mpich:
        cause = (ends[0]["cause"], ends[0]["signal"]) if ends else None
        if cause != CAUSE[kind] or rank not in ends[0]["ranks"]:
            faults.append(f"named is {cause} of {ends[0]['ranks'] if ends else []}, it was rank {rank}")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--runs", type=int, default=28)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--launcher", default="mpirun --oversubscribe")
    parser.add_argument("--mpich", action="store_true", help="the launcher is Hydra: statuses and causes may be others'")
    parser.add_argument("--steps", type=int, default=4000, help="a program dies in one of so many")
    parser.add_argument("--language", action="append", choices=["c", "fortran", "python"])
    parser.add_argument("--kind", action="append", choices=OWN + OUTSIDE)
    options = parser.parse_args()
    options.build = options.build.absolute()
    languages, kinds = options.language or ["c"], options.kind or OWN + OUTSIDE
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_mpi_yield_when_idle"):
        os.environ[name] = "1"
    before = set(os.listdir("/dev/shm"))
    bad, done, lost = 0, {}, []
    for number in range(options.runs):
        kind = kinds[number % len(kinds)]
        language = languages[number // len(kinds) % len(languages)]
        seed = options.seed * 1_000_000 + number
        folder = pathlib.Path(tempfile.mkdtemp(prefix="deaths-"))
        faults = one(options, language, kind, seed, folder, lost)
        # Open MPI's own files remain if mpirun is killed, natively, too.
        ours = [name for name in set(os.listdir("/dev/shm")) - before
                if name.startswith("ardoise.") and not os.path.exists("/proc/" + name.split(".")[2])]
        if ours:
            faults.append(f"in /dev/shm is left {ours}")
        total = done.setdefault((language, kind), [0, 0])
        total[0] += 1
        if faults:
            bad += 1
            total[1] += 1
            print(f"run {number} ({language}, {kind}): {'; '.join(faults)}; its folder is {folder}", flush=True)
        else:
            shutil.rmtree(folder)
    for (language, kind), (runs, wrong) in sorted(done.items()):
        print(f"{language:8} {kind:20} {runs:4} runs, {wrong} wrong")
    if lost:
        print(f"everything killed: calls of the last {sorted(lost)[len(lost) // 2]:.2f} s are missing (median; at most "
              f"{max(lost):.2f} s)")
    print(f"{options.runs - bad} of {options.runs} as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

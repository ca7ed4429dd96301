#!/bin/sh
# wrappers_next_tool.sh <library> <tool> <program> [<Fortran program>]: a second preloaded tool sees the same as without
# Ardoise, the program's calls and its world, beside another program that is a world of its own; also with every symbol bound
# at start.
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 tool=$2 program=$3
other="$(dirname "$program")/mpi_end"

# compare PROGRAM LD_BIND_NOW
compare() {
  launch -n 2 env LD_BIND_NOW="$2" LD_PRELOAD="$library $tool" "$1" "$work/file" : \
    -n 1 env LD_PRELOAD="$library" sh -c 'exec "$0" ends' "$other" >"$work/output" 2>"$work/errors"
  diff "$work/native" "$work/output" || fail "output differs: $(cat "$work/errors")"
  grep '^next tool saw' "$work/errors" | sort >"$work/seen"
  diff "$work/native.seen" "$work/seen" || fail "the tool sees something else: $(cat "$work/errors")"
}

native() {
  launch -n 2 env LD_PRELOAD="$tool" "$1" "$work/file" >"$work/native" 2>"$work/errors" || fail "$1 fails natively"
  grep '^next tool saw' "$work/errors" | sort >"$work/native.seen"
  # If MPI's Fortran functions call those of C (MPICH), the tool prints for both.
  [ "$(wc -l <"$work/native.seen")" -ge 2 ] || fail "the tool said nothing natively: the comparison means nothing"
}

native "$program"
compare "$program" ""
compare "$program" 1
[ -z "${4:-}" ] && exit 0
native "$4"
compare "$4" ""

#!/bin/sh
# wrappers_counts.sh <counting library> <processes> <C program> <Fortran program ...>: an observer counts the same calls,
# bytes, peers, tags and completions for the Fortran programs as for their C twin, on every rank.
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 processes=$2
shift 2

number=0
for program in "$@"; do
  launch -n "$processes" env VMPI_COUNT_FILE="$work/count$number" LD_PRELOAD="$library" "$program" "$work/file" \
    >"$work/output$number" 2>&1 || fail "$program failed: $(cat "$work/output$number")"
  [ -s "$work/count$number.0" ] || fail "$program was not counted"
  rank=0
  while [ $rank -lt "$processes" ]; do
    diff "$work/count0.$rank" "$work/count$number.$rank" || fail "counts of $program differ from those in C on rank $rank"
    rank=$((rank + 1))
  done
  diff "$work/output0" "$work/output$number" || fail "output of $program differs from that in C"
  number=$((number + 1))
done

#!/bin/sh
# wrappers_failing_call.sh <library> <failing library> <program>: a call of MPI_Init's work on partitions that fails in
# one process alone ends a launch of two programs with one sentence, and leaves a single program in the world it has
# natively.
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 failing=$2 program=$3
launch -n 3 env LD_PRELOAD="$failing" "$program" "$work/file" >"$work/native" 2>"$work/errors" || fail "the program fails natively"
[ -s "$work/native" ] || fail "the program printed nothing: the comparison means nothing"
for call in MPI_Allgather MPI_Allgatherv MPI_Comm_split MPI_Comm_dup; do
  set -- env FAILING_CALL=$call FAILING_RANK=1 LD_PRELOAD="$failing $library" "$program"
  launch -n 2 "$@" "$work/file" : -n 1 "$@" "$work/other" >"$work/several" 2>&1
  status=$?
  [ $status -ne 0 ] || fail "$call: the launch went on with programs in different worlds"
  [ $status -ne 124 ] || fail "$call: a hang: $(cat "$work/several")"
  [ "$(grep -c "process 1 of the launch could not make the partitions because $call failed" "$work/several")" -eq 1 ] ||
    fail "$call: not one sentence: $(cat "$work/several")"
  launch -n 3 "$@" "$work/file" >"$work/alone" 2>"$work/errors" || fail "$call: a single program fails"
  diff "$work/native" "$work/alone" || fail "$call: the output of a single program differs"
  [ "$(grep -c "could not make the partitions" "$work/errors")" -eq 1 ] || fail "$call: $(cat "$work/errors")"
done

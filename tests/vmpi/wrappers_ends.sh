#!/bin/sh
# wrappers_ends.sh <library> <mpi_end>: a program's exit status is the same under the library, however it ends.
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 program=$2
for how in exit abort leave; do
  launch -n 2 "$program" $how >"$work/native" 2>&1
  native=$?
  launch -n 2 env LD_PRELOAD="$library" "$program" $how >"$work/virtual" 2>&1
  status=$?
  [ $status -eq $native ] || fail "$how: exit status $status under the library, $native without"
  [ $native -ne 0 ] || fail "$how: the program should have failed: the comparison means nothing"
done

# A program continues after another one of the launch has ended: the same results and nothing on standard error.
launch -n 2 "$program" last "$work/file" 2>&1 | sort >"$work/native"
launch -n 1 env LD_PRELOAD="$library" "$program" first : -n 2 env LD_PRELOAD="$library" "$program" last "$work/file" 2>&1 |
  sort >"$work/virtual"
[ -s "$work/native" ] || fail "last: no output: the comparison means nothing"
diff "$work/native" "$work/virtual" >&2 || fail "last: the output differs (< without the library, > with it)"

#!/bin/sh
# wrappers_compare.sh <library> <processes> <program>: the program prints the same and exits the same natively, alone
# with the library preloaded, and beside a second program that is a world of its own.
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 processes=$2 program=$3

launch -n "$processes" "$program" "$work/file" >"$work/native" 2>&1
native=$?
launch -n "$processes" env LD_PRELOAD="$library" "$program" "$work/file" >"$work/virtual" 2>&1
status=$?
[ $status -eq $native ] || fail "exit status $status under the library, $native without"
diff "$work/native" "$work/virtual" || fail "output differs under the library"

launch -n 2 env LD_PRELOAD="$library" sh -c "exec $program $work/other >$work/other.out 2>&1" : \
  -n "$processes" env LD_PRELOAD="$library" "$program" "$work/file" >"$work/beside" 2>&1
status=$?
[ $status -eq $native ] || fail "exit status $status beside another program, $native without"
diff "$work/native" "$work/beside" || fail "output differs beside another program"
[ -s "$work/native" ] || fail "the program printed nothing: the comparison means nothing"

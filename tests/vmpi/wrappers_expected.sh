#!/bin/sh
# wrappers_expected.sh <counting library> <processes> <program> <expected line> ...: rank 0's counts have these lines,
# given by their beginning ("MPI_Send calls=3 sent=40 ").
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 processes=$2 program=$3
shift 3

launch -n "$processes" env VMPI_COUNT_FILE="$work/count" LD_PRELOAD="$library" "$program" "$work/file" \
  >"$work/output" 2>&1 || fail "$program failed: $(cat "$work/output")"
for line in "$@"; do
  grep -q "^$line" "$work/count.0" || fail "no line \"$line\" in: $(cat "$work/count.0")"
done
grep -q "^calls without return address: 0$" "$work/count.0" || fail "a call came without its return address"

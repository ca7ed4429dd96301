#!/bin/sh
# wrappers_next_tool.sh <library> <tool> <program>: a second preloaded tool sees the program's calls,
# and the world stays virtual; also with every symbol bound at start.
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 tool=$2 program=$3
launch -n 2 "$program" "$work/file" >"$work/native" 2>/dev/null || fail "the program fails natively"
for now in "" 1; do
  launch -n 2 env LD_BIND_NOW=$now LD_PRELOAD="$library $tool" "$program" "$work/file" : \
    -n 1 env LD_PRELOAD="$library" sh -c 'exec "$0" exit' "$(dirname "$program")/mpi_end" \
    >"$work/output" 2>"$work/errors"
  diff "$work/native" "$work/output" || fail "output differs: $(cat "$work/errors")"
  [ "$(grep -c '^next tool saw 5 sends$' "$work/errors")" -ge 1 ] || fail "the tool did not see the sends: $(cat "$work/errors")"
done

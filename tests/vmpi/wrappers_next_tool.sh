#!/bin/sh
# wrappers_next_tool.sh <library> <tool> <program>: a second preloaded tool sees what it sees without us, the program's
# calls and its world, beside another program that is a world of its own; also with every symbol bound at start.
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 tool=$2 program=$3
launch -n 2 env LD_PRELOAD="$tool" "$program" "$work/file" >"$work/native" 2>"$work/native.errors" || fail "the program fails natively"
grep '^next tool saw' "$work/native.errors" | sort >"$work/native.seen"
[ "$(wc -l <"$work/native.seen")" -eq 2 ] || fail "the tool said nothing natively: the comparison means nothing"
for now in "" 1; do
  launch -n 2 env LD_BIND_NOW=$now LD_PRELOAD="$library $tool" "$program" "$work/file" : \
    -n 1 env LD_PRELOAD="$library" sh -c 'exec "$0" exit' "$(dirname "$program")/mpi_end" \
    >"$work/output" 2>"$work/errors"
  diff "$work/native" "$work/output" || fail "output differs: $(cat "$work/errors")"
  grep '^next tool saw' "$work/errors" | sort >"$work/seen"
  diff "$work/native.seen" "$work/seen" || fail "the tool sees something else: $(cat "$work/errors")"
done

#!/bin/sh
# conformance_compare.sh <library> <ardoise> <program> <program>: two conformance programs print the same natively (each
# alone), virtualised (beside each other, each a world of its own), and observed (beside each other and an analyzer).
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 ardoise=$2 first=$3 second=$4

# Each run finds an empty folder of its own, always under the same names.
folders() {
  rm -rf "$work/files.1" "$work/files.2"
  mkdir "$work/files.1" "$work/files.2"
}
same() { # same <how> <number>
  diff "$work/native.$2" "$work/$1.$2" >"$work/difference" ||
    fail "$1: what program $2 says differs (<: native): $(head -n 40 "$work/difference") $(cat "$work/$1.errors" "$work/$1.$2.errors")"
}

folders
launch -n 4 "$first" "$work/files.1" >"$work/native.1" 2>"$work/errors" || fail "$first fails natively: $(cat "$work/errors")"
launch -n 4 "$second" "$work/files.2" >"$work/native.2" 2>"$work/errors" || fail "$second fails natively: $(cat "$work/errors")"
for number in 1 2; do
  grep -q "^finalised: 1" "$work/native.$number" || fail "program $number did not come to its end natively"
done

folders
launch -n 4 env LD_PRELOAD="$library" sh -c "exec '$first' $work/files.1 >$work/virtual.1 2>$work/virtual.1.errors" : \
  -n 4 env LD_PRELOAD="$library" sh -c "exec '$second' $work/files.2 >$work/virtual.2 2>$work/virtual.2.errors" \
  >"$work/virtual.errors" 2>&1 || fail "virtualised: $(cat "$work/virtual.errors" "$work/virtual.1.errors" "$work/virtual.2.errors")"
same virtual 1
same virtual 2

folders
timeout 100 "$ardoise" --separate --no-report --output "$work/report" $launcher \
  -n 4 sh -c "exec '$first' $work/files.1 >$work/observed.1 2>$work/observed.1.errors" : \
  -n 4 sh -c "exec '$second' $work/files.2 >$work/observed.2 2>$work/observed.2.errors" \
  >"$work/observed.errors" 2>&1 </dev/null || fail "observed: $(cat "$work/observed.errors" "$work/observed.1.errors" "$work/observed.2.errors")"
same observed 1
same observed 2
[ -s "$work/report/profile.json" ] || fail "observed: there is no profile"

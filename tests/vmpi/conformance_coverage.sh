#!/bin/sh
# conformance_coverage.sh <counting library> <program> <language> <table> <exempt>: the program calls every function of
# the table that this MPI and the language (c, mpif, mpi, f08) have, but for those in the exempt list.
set -u
. "$(dirname "$0")/wrappers_launch.sh"
library=$1 program=$2 language=$3 table=$4 exempt=$5

mkdir "$work/files"
launch -n 4 env VMPI_COUNT_FILE="$work/count" LD_PRELOAD="$library" "$program" "$work/files" >"$work/output" 2>&1 ||
  fail "$program failed: $(tail -n 20 "$work/output")"
cat "$work"/count.? | sed -n 's/^\(MPIX\{0,1\}_[A-Za-z_0-9]*\) calls=.*/\1/p' | sort -u >"$work/called"

case $language in
  c) unwanted="" ;;
  f08) unwanted="!c-only|!no-f08|^MPIX_" ;;
  *) unwanted="!c-only|^MPIX_" ;;
esac
# Up to the list of functions without wrappers; those that this MPI lacks have no wrapper in the library.
sed '/^\[skip\]/,$d' "$table" | grep '^MPI' | grep -Ev "${unwanted:-^$}" | awk '{print $1}' | sort >"$work/table"
nm -D --defined-only "$library" | awk '$2 == "T" {print $3}' | sort >"$work/there"
sed 's/#.*//' "$exempt" | awk -v language="$language" 'NF && ($2 == "all" || $2 == language || ($2 == "fortran" && language != "c")) {print $1}' |
  sort >"$work/exempt"
comm -12 "$work/table" "$work/there" >"$work/wanted"
missing=$(comm -23 "$work/wanted" "$work/called" | comm -23 - "$work/exempt")
[ -z "$missing" ] || fail "$program never calls: $missing"
needless=$(comm -12 "$work/called" "$work/exempt")
[ -z "$needless" ] || fail "in the exempt list, but called by $program: $needless"

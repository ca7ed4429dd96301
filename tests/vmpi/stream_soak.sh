#!/usr/bin/env bash
# Streams over MPI in random variants for a given time: stream_soak.sh STREAM_PROGRAM SECONDS [SEED]. Stops at the first
# launch that fails and prints its line.
set -euo pipefail
program=$1 seconds=$2 seed=${3:-$RANDOM}
export OMPI_MCA_mpi_yield_when_idle=1
if ((EUID == 0)); then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
echo "stream_soak.sh: seed $seed"
RANDOM=$seed
pick() { echo $(($1 + RANDOM % ($2 - $1 + 1))); }
one_of() { local words=("$@"); echo "${words[RANDOM % ${#words[@]}]}"; }

end=$((SECONDS + seconds))
runs=0
while ((SECONDS < end)); do
  writers=$(one_of 1 1 2 3 5 8) readers=$(one_of 1 1 2 3)
  both="--blocks $(pick 1 400) --block-bytes $(one_of 64 1000 4096 60000 300000) --map $(pick 0 2) --seed $(pick 1 9999)"
  both+=" --buffers $(pick 1 5) --limit $(pick 1 9)"
  if ((RANDOM % 4 == 0)); then readers=$writers both+=" --two-way"; fi
  if ((RANDOM % 3 == 0)) && [[ $both != *two-way* ]]; then both+=" --copies"; fi
  pause() { one_of "" "" "--pause 300" "--pause 5000" "--pause 30000"; }
  write="--balance $(pick 0 2) $(pause)" read="--balance $(pick 0 2) $(pause)"
  [[ $both != *two-way* ]] && write+=" --late $(one_of 0 0 100)"
  [[ $both != *two-way* ]] && read+=" $(one_of "" "" --nonblocking)"
  [[ $both != *copies* && $both != *two-way* ]] && read+=" $(one_of "" --threads)"
  # shellcheck disable=SC2206
  line=(mpirun --oversubscribe --bind-to none -n "$writers" "$program" write $both $write : -n "$readers" "$program" read $both $read)
  if ! timeout 300 "${line[@]}" >/dev/null; then
    echo "stream_soak.sh: failed: ${line[*]}"
    exit 1
  fi
  runs=$((runs + 1))
done
echo "stream_soak.sh: $runs launches"

# Sourced by the tests that launch MPI programs: launch <program of mpirun's arguments ...>, with the options that the MPI
# needs to run more processes than cores, also as root ($TEST_MPIEXEC, made by CMake). Standard input is closed; a hang
# ends after a minute. LAUNCH_ATTEMPTS: the number of attempts of a launch that hangs, for launches that sometimes hang natively.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
launcher=${TEST_MPIEXEC:-mpirun --oversubscribe --bind-to none}
launch() {
  attempt=1
  while [ $attempt -lt "${LAUNCH_ATTEMPTS:-1}" ]; do
    timeout 60 $launcher "$@" </dev/null >"$work/attempt.out" 2>"$work/attempt.err"
    status_of_launch=$?
    if [ $status_of_launch -ne 124 ]; then
      cat "$work/attempt.out"
      cat "$work/attempt.err" >&2
      return $status_of_launch
    fi
    attempt=$((attempt + 1))
  done
  timeout 60 $launcher "$@" </dev/null
}
fail() {
  echo "$*" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

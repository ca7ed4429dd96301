# The stages of tools/check. Each builds in a separate folder, adds to the counts, and goes on after a failure, so that
# one run finds all failures.

passed=0
failed=0
failures=()
# Tests under mpirun count as two processes each; they wait more than they compute.
waiting_jobs=$((2 * $(nproc)))

note_failure() {
  failed=$((failed + 1))
  failures+=("$1")
  echo "   FAILED: $1"
}

# configure_and_build NAME "TARGET..." CMAKE_ARGUMENT...: quiet unless it fails.
configure_and_build() {
  local name=$1
  local -a targets
  read -ra targets <<<"$2"
  shift 2
  mkdir -p "build-$name"
  if cmake "$@" -B "build-$name" >"build-$name/configure.log" 2>&1 &&
    cmake --build "build-$name" --parallel --target "${targets[@]}" >"build-$name/build.log" 2>&1; then
    return 0
  fi
  tail -n 15 "build-$name/configure.log"
  grep -E -A4 'error|FAILED' "build-$name/build.log" 2>/dev/null | head -n 60
  note_failure "$name: build"
  return 1
}

# The assertions that failed, for the end of the output: a reader may have no more of it.
assertions_of() {
  grep -A8 'Failure$' "$1" | head -n 60
}

# run_tests NAME JOBS CTEST_ARGUMENT...: runs ctest, prints the failures, adds to the counts.
run_tests() {
  local name=$1 jobs=$2
  shift 2
  local log=build-$name/test.log
  ctest --test-dir "build-$name" --output-on-failure --no-tests=error -j "$jobs" "$@" >"$log" 2>&1
  local total failing
  read -r failing total < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)/\1 \2/p' "$log")
  if [[ -z ${total:-} ]]; then
    tail -n 20 "$log"
    note_failure "$name: ctest ran no test"
    return
  fi
  passed=$((passed + total - failing))
  failed=$((failed + failing))
  if ((failing > 0)); then
    grep -vE '^ *([0-9]+/[0-9]+ Test .* Passed |Start +[0-9]+: )' "$log" | tail -n 200
    failures+=("$name: $failing of $total tests"$'\n'"$(assertions_of "$log")")
  fi
  step "$name: $((total - failing)) of $total tests passed"
}

stage_layers() {
  step "layers: who includes whom"
  if tools/check_layers; then passed=$((passed + 1)); else note_failure layers; fi
  step "words: files that comments and docs name"
  if tools/check_words; then passed=$((passed + 1)); else note_failure words; fi
}

product="blackboard/all vmpi/all instrument/all reports/all knowledge_sources/all analyzer/all tools/all"

# Tests of one process run in stage asan under the sanitizers, and are not built here.
stage_dev() {
  step "dev: building with g++, warnings are errors"
  configure_and_build dev "$product native_tests" --preset dev || return
  step "dev: tests under mpirun, and what the sanitizers would disturb"
  run_tests dev "$waiting_jobs" -L '^(mpi|install|native)$'
}

# Optimised, with ten times as many random cases as under the sanitizers.
stage_unit() {
  step "unit: building the tests of one process with g++"
  configure_and_build dev unit_tests --preset dev || return
  run_tests dev "$(nproc)" -L '^unit$'
}

# Code without MPI is the same as in dev, so its tests are not run again.
stage_mpich() {
  if ! command -v mpicc.mpich >/dev/null || ! command -v mpirun.mpich >/dev/null; then
    step "mpich: not installed (Debian: mpich libmpich-dev), left out"
    return
  fi
  step "mpich: building what is compiled against MPI"
  configure_and_build mpich mpi_tests --preset dev -DMPI_C_COMPILER=mpicc.mpich -DMPI_CXX_COMPILER=mpicxx.mpich \
    -DMPI_Fortran_COMPILER=mpifort.mpich || return
  step "mpich: tests with MPI"
  # tests/CMakeLists.txt leaves out test programs that do not depend on the MPI. The conformance programs are written
  # for Open MPI: they test natively the behaviour that differs in MPICH 4.0, or do not test it.
  run_tests mpich "$waiting_jobs" -L '^(unit|mpi)$' -E '^vmpi_conformance'
}

# Clang builds the product, the unit tests and the fuzz targets once, with sanitizers; the code that fuzz targets feed
# is built with coverage for libFuzzer. This build gives clang's warnings, the unit tests and the fuzz targets, which
# run for some seconds each as a smoke test. To run longer: build-asan/bin/fuzz_pack -max_total_time=600 CORPUS.
stage_asan() {
  step "asan: building the product and unit tests with clang and the address and undefined-behaviour sanitizers, warnings are errors"
  configure_and_build asan "unit_tests fuzz_targets ardoise ardoise-analyzer ardoise_preload" --preset asan || return
  passed=$((passed + 1))
  # A test requests more memory than the machine has; the sanitizer must return null, as malloc does.
  ASAN_OPTIONS=allocator_may_return_null=1 run_tests asan "$(nproc)" -L '^unit$'
  mkdir -p build-asan/seeds/{eh_frame,keyed,left,pack,partial,races,snapshots,trace} build-asan/corpus/{eh_frame,keyed,left,pack,partial,profile_json,races,snapshots,texts,trace}
  build-asan/bin/fuzz_eh_frame_seeds build-asan/seeds/eh_frame || note_failure "fuzz: seeds of call frame information"
  build-asan/bin/fuzz_keyed_seeds build-asan/seeds/keyed || note_failure "fuzz: seeds of keyed records"
  build-asan/bin/fuzz_left_seeds build-asan/seeds/left || note_failure "fuzz: seeds of files of a launch"
  build-asan/bin/fuzz_pack_seeds build-asan/seeds/pack || note_failure "fuzz: seeds of packs"
  build-asan/bin/fuzz_races_seeds build-asan/seeds/races || note_failure "fuzz: seeds of records of races"
  build-asan/bin/fuzz_snapshots_seeds build-asan/seeds/snapshots || note_failure "fuzz: seeds of files of snapshots"
  build-asan/bin/fuzz_trace_seeds build-asan/seeds/trace || note_failure "fuzz: seeds of traces"
  rm -rf build-asan/seeds/{profile_json,texts}
  cp -r tests/fuzz/profile_json_seeds build-asan/seeds/profile_json
  build-asan/bin/fuzz_profile_json_seeds build-asan/seeds/profile_json || note_failure "fuzz: seeds of profiles"
  cp -r tests/fuzz/texts_seeds build-asan/seeds/texts
  local target longest
  local -A fuzzers=()
  for target in eh_frame keyed left pack partial profile_json races snapshots texts trace; do
    longest=8192
    if [ "$target" = profile_json ]; then longest=200000; fi  # its seeds are larger
    "build-asan/bin/fuzz_$target" -max_len=$longest -max_total_time=10 "build-asan/corpus/$target" "build-asan/seeds/$target" \
      >"build-asan/$target.log" 2>&1 &
    fuzzers[$target]=$!
  done
  for target in "${!fuzzers[@]}"; do
    if wait "${fuzzers[$target]}"; then
      passed=$((passed + 1))
    else
      tail -n 20 "build-asan/$target.log"
      note_failure "fuzz: $target"
    fi
  done
  step "asan: ten fuzz targets ran for ten seconds each"
}

stage_tsan() {
  step "tsan: building the unit tests in which threads meet with the thread sanitizer"
  configure_and_build tsan threaded_unit_tests --preset tsan || return
  run_tests tsan "$(nproc)" -L '^unit$'
}

# The presets compile files in batches (CMAKE_UNITY_BUILD), in which a file may depend on another file's includes.
stage_alone() {
  step "alone: compiling every file by itself"
  configure_and_build alone all --preset dev -DCMAKE_UNITY_BUILD=OFF "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g0" || return
  passed=$((passed + 1))
}

finish_stages() {
  step "done"
  local failure
  for failure in "${failures[@]}"; do
    echo "failed: $failure"
  done
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

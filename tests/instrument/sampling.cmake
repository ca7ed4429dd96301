# Sampling: unwinder, contexts and sampler in one process; the truth and torture programs under mpirun.

# Functions with known shares of the time, for the unit test and for the program. Their code must be equal: optimised
# for every build type, no function merged with or inlined into another.
add_library(truth_functions OBJECT programs/truth_functions.c)
target_compile_options(truth_functions PRIVATE -O2 -g)
include(CheckLanguage)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  add_library(truth_fortran OBJECT programs/truth_fortran.f90 programs/truth_opaque.c)
else()
  add_library(truth_fortran OBJECT programs/truth_no_fortran.c)
endif()
target_compile_options(truth_fortran PRIVATE -O2 -g)
add_library(truth_late SHARED programs/truth_late.c)
target_compile_options(truth_late PRIVATE -O2 -g)
add_library(torture_plugin SHARED programs/torture_plugin.c)
set_target_properties(truth_late torture_plugin PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/programs)

add_executable(unwinder_test calling_contexts_test.cpp unwinder_test.cpp)
target_link_libraries(unwinder_test PRIVATE ardoise_recorder GTest::gtest_main)
# Under the sanitizers without comparisons with backtrace(): the sanitizers replace it, with additional frames, and do
# not unwind signal frames.
set(compares_with_backtrace Unwinder.FindsTheFrames*:Unwinder.AgreesWith*)
gtest_discover_tests(unwinder_test DISCOVERY_TIMEOUT 60 TEST_FILTER -${compares_with_backtrace} PROPERTIES LABELS unit TIMEOUT 120)
if(NOT ARDOISE_SANITIZE)
  gtest_discover_tests(unwinder_test DISCOVERY_TIMEOUT 60 TEST_FILTER ${compares_with_backtrace} TEST_LIST unwinder_native_TESTS
    PROPERTIES LABELS native TIMEOUT 120)
  add_dependencies(native_tests unwinder_test)
endif()
add_dependencies(unit_tests unwinder_test)
add_dependencies(threaded_unit_tests unwinder_test)

add_executable(sampler_test sampler_test.cpp)
target_link_libraries(sampler_test PRIVATE ardoise_test_capture truth_functions truth_fortran GTest::gtest_main ${CMAKE_DL_LIBS})
target_compile_definitions(sampler_test PRIVATE TRUTH_LATE_LIBRARY="$<TARGET_FILE:truth_late>")
add_dependencies(sampler_test truth_late)
# Not under the sanitizers: they hold signals back until the next call that they intercept, where the thread sanitizer
# then calls the handler. These tests compare the interrupted place and time.
if(NOT ARDOISE_SANITIZE)
  gtest_discover_tests(sampler_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS native RUN_SERIAL ON TIMEOUT 120)
  add_dependencies(native_tests sampler_test)
endif()

add_executable(instrument_sampled_truth programs/sampled_truth.c)
target_link_libraries(instrument_sampled_truth PRIVATE truth_functions truth_fortran MPI::MPI_C ${CMAKE_DL_LIBS})
add_executable(instrument_kernel_truth programs/kernel_truth.c)
target_compile_options(instrument_kernel_truth PRIVATE -O2)
target_link_libraries(instrument_kernel_truth PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})
add_executable(instrument_sampled_torture programs/sampled_torture.cpp)
target_link_libraries(instrument_sampled_torture PRIVATE MPI::MPI_C Threads::Threads ${CMAKE_DL_LIBS})
foreach(program kernel_truth sampled_truth sampled_torture)
  target_compile_options(instrument_${program} PRIVATE -Wall -Wextra)
  set_target_properties(instrument_${program} PROPERTIES
    OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/programs)
endforeach()
add_executable(sampling_preload_test kernel_time_test.cpp sampling_preload_test.cpp)
target_link_libraries(sampling_preload_test PRIVATE ardoise_test_capture GTest::gtest_main)
target_compile_definitions(sampling_preload_test PRIVATE
  ARDOISE_PRELOAD_LIBRARY="$<TARGET_FILE:ardoise_preload>"
  PROGRAM_DIRECTORY="${CMAKE_CURRENT_BINARY_DIR}/programs"
  MPIEXEC="${mpiexec}")
add_dependencies(sampling_preload_test ardoise_preload instrument_counted_calls instrument_counted_io instrument_kernel_truth
  instrument_sampled_truth instrument_sampled_torture truth_late torture_plugin)
if(NOT ARDOISE_SANITIZE)
  gtest_discover_tests(sampling_preload_test DISCOVERY_TIMEOUT 60 TEST_FILTER "-*DISABLED*"
    PROPERTIES LABELS mpi RUN_SERIAL ON TIMEOUT 120)
  # An hour: `ctest -L torture`, with TORTURE_SECONDS set for less. Not part of tools/check.
  add_test(NAME torture COMMAND sampling_preload_test --gtest_also_run_disabled_tests
    --gtest_filter=*DISABLED_TortureForAnHour)
  set_tests_properties(torture PROPERTIES LABELS torture TIMEOUT 4000)
endif()

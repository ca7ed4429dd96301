# Compiles the headers of other projects that most files include once for all libraries and once for all test programs.
# With clang this saves a quarter of the time of a test program's batch of files. The preset dev does not use it: its
# build shares the compiler cache with MPICH's build, and the cache takes compiled headers of two folders for different
# ones. Each file still includes all headers that it uses: tools/check alone.
set(precompiled <algorithm> <atomic> <functional> <map> <memory> <mutex> <optional> <ranges> <span> <string>
  <thread> <unordered_map> <variant> <vector>)

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers/library.cpp CONTENT "")
add_library(ardoise_library_headers OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/headers/library.cpp)
target_link_libraries(ardoise_library_headers PRIVATE ardoise_options Threads::Threads)
target_precompile_headers(ardoise_library_headers PRIVATE ${precompiled})
if(ARDOISE_TESTS)
  # A separate program, since code of programs and of libraries differs in a flag.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers/test.cpp CONTENT "int main() {}\n")
  add_executable(ardoise_test_headers EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/headers/test.cpp)
  target_compile_definitions(ardoise_test_headers PRIVATE GTEST_HAS_PTHREAD=1)  # as GTest::gmock has it
  target_link_libraries(ardoise_test_headers PRIVATE ardoise_options Threads::Threads)
  target_precompile_headers(ardoise_test_headers PRIVATE ${precompiled} <gmock/gmock.h>)
endif()

# Used by test programs, and by libraries that do not run in programs and are not fuzzed: the flags of those differ.
function(use_precompiled_headers folder)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    use_precompiled_headers(${below})
  endforeach()
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(runs_in_programs ${target} RUNS_IN_PROGRAMS)
    get_target_property(linked ${target} LINK_LIBRARIES)
    if(type STREQUAL "EXECUTABLE" AND linked MATCHES "GTest::")
      target_precompile_headers(${target} REUSE_FROM ardoise_test_headers)
    elseif(type MATCHES "STATIC|MODULE" AND NOT runs_in_programs AND NOT ARDOISE_FUZZ AND NOT folder MATCHES "/tests/")
      target_precompile_headers(${target} REUSE_FROM ardoise_library_headers)
    endif()
  endforeach()
endfunction()
use_precompiled_headers(${PROJECT_SOURCE_DIR})

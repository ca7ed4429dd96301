# Files that processes and analyzers write into the folder of a launch.
# Run: build/bin/fuzz_left_seeds SEEDS; build/bin/fuzz_left -max_len=8192 CORPUS SEEDS
if(ARDOISE_FUZZ)
  add_executable(fuzz_left ${CMAKE_CURRENT_LIST_DIR}/left.cpp)
  target_compile_options(fuzz_left PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_left PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_left PRIVATE ardoise_analyzer_core)
  add_executable(fuzz_left_seeds ${CMAKE_CURRENT_LIST_DIR}/left_seeds.cpp)
  target_link_libraries(fuzz_left_seeds PRIVATE ardoise_analyzer_core ardoise_vmpi_logic ardoise_replay)
endif()

# Call frame information, which the sampler's signal handler reads from all objects of a program.
# Run: build/bin/fuzz_eh_frame -max_len=8192 CORPUS SEEDS; build/bin/fuzz_eh_frame_seeds SEEDS writes the seeds.
if(ARDOISE_FUZZ)
  add_executable(fuzz_eh_frame ${CMAKE_CURRENT_LIST_DIR}/eh_frame.cpp ${PROJECT_SOURCE_DIR}/instrument/unwind/eh_frame.cpp)
  target_compile_options(fuzz_eh_frame PRIVATE -fsanitize=fuzzer -fno-sanitize-recover=undefined)
  target_link_options(fuzz_eh_frame PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_eh_frame PRIVATE ardoise_options)
  add_executable(fuzz_eh_frame_seeds ${CMAKE_CURRENT_LIST_DIR}/eh_frame_seeds.cpp)
  target_link_libraries(fuzz_eh_frame_seeds PRIVATE ardoise_options fmt::fmt)
endif()

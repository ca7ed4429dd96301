# The readers of packs, definitions and pack files.
# Run: build/bin/fuzz_pack -max_len=8192 CORPUS SEEDS; build/bin/fuzz_pack_seeds SEEDS writes the seeds.
if(ARDOISE_FUZZ)
  add_executable(fuzz_pack ${CMAKE_CURRENT_LIST_DIR}/pack.cpp)
  target_compile_options(fuzz_pack PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_pack PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_pack PRIVATE ardoise_event_format)
  add_executable(fuzz_pack_seeds ${CMAKE_CURRENT_LIST_DIR}/pack_seeds.cpp)
  target_link_libraries(fuzz_pack_seeds PRIVATE ardoise_event_format fmt::fmt)
endif()

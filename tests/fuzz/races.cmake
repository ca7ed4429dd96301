# Records of races. Run: build/bin/fuzz_races_seeds SEEDS; build/bin/fuzz_races -max_len=8192 CORPUS SEEDS
if(ARDOISE_FUZZ)
  add_executable(fuzz_races ${CMAKE_CURRENT_LIST_DIR}/races.cpp)
  target_compile_options(fuzz_races PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_races PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_races PRIVATE ardoise_event_format)
  add_executable(fuzz_races_seeds ${CMAKE_CURRENT_LIST_DIR}/races_seeds.cpp)
  target_link_libraries(fuzz_races_seeds PRIVATE ardoise_event_format PkgConfig::ZSTD)
endif()

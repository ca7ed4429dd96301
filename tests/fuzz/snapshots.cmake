# Files of snapshots. Run: build/bin/fuzz_snapshots_seeds CORPUS; build/bin/fuzz_snapshots -max_len=8192 CORPUS
if(ARDOISE_FUZZ)
  add_executable(fuzz_snapshots ${CMAKE_CURRENT_LIST_DIR}/snapshots.cpp)
  target_compile_options(fuzz_snapshots PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_snapshots PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_snapshots PRIVATE ardoise_snapshot_file PkgConfig::ZSTD)
  add_executable(fuzz_snapshots_seeds ${CMAKE_CURRENT_LIST_DIR}/snapshots_seeds.cpp)
  target_link_libraries(fuzz_snapshots_seeds PRIVATE ardoise_snapshot_file PkgConfig::ZSTD)
endif()

# Partial results from another analyzer, of every analysis. Run: build/bin/fuzz_partial -max_len=4096 CORPUS
if(ARDOISE_FUZZ)
  add_executable(fuzz_partial ${CMAKE_CURRENT_LIST_DIR}/partial.cpp)
  target_compile_options(fuzz_partial PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_partial PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_partial PRIVATE ardoise_replay ardoise_reports)
  set_target_properties(fuzz_partial PROPERTIES ENABLE_EXPORTS ON)
endif()

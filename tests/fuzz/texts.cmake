# Rules, conditions, commands, settings, command lines. Run: build/bin/fuzz_texts CORPUS tests/fuzz/texts_seeds
if(ARDOISE_FUZZ)
  add_executable(fuzz_texts ${CMAKE_CURRENT_LIST_DIR}/texts.cpp)
  target_compile_options(fuzz_texts PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_texts PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_texts PRIVATE ardoise_analyzer_core)
endif()

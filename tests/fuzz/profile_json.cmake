# profile.json and all outputs made from it. Run: build/bin/fuzz_profile_json_seeds CORPUS
# build/bin/fuzz_profile_json -max_len=200000 CORPUS tests/fuzz/profile_json_seeds
if(ARDOISE_FUZZ)
  add_executable(fuzz_profile_json ${CMAKE_CURRENT_LIST_DIR}/profile_json.cpp)
  target_compile_options(fuzz_profile_json PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_profile_json PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_profile_json PRIVATE ardoise_launcher ardoise_reports)
  add_executable(fuzz_profile_json_seeds ${CMAKE_CURRENT_LIST_DIR}/profile_json_seeds.cpp)
  target_link_libraries(fuzz_profile_json_seeds PRIVATE reports_synthetic)
endif()

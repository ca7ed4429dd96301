# The hierarchical buffer: what storing a sample and dropping half of 100 MB cost, and the paper's figure 6.
pkg_check_modules(bench_cairo REQUIRED IMPORTED_TARGET cairo)
add_executable(sample_buffer_bench
  figure6.cpp
  sample_buffer_bench.cpp
  ${PROJECT_SOURCE_DIR}/tests/instrument/adaptive_model.cpp)
target_link_libraries(sample_buffer_bench PRIVATE ardoise_recorder fmt::fmt PkgConfig::bench_cairo)

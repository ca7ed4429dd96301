# The cost of one sample, beside the C library's backtrace().
foreach(kind fp no_fp)
  add_library(sample_cost_frames_${kind} OBJECT sample_cost_frames.cpp)
  target_compile_definitions(sample_cost_frames_${kind} PRIVATE FRAMES=frames_${kind})
endforeach()
target_compile_options(sample_cost_frames_fp PRIVATE -O2 -fno-omit-frame-pointer)
target_compile_options(sample_cost_frames_no_fp PRIVATE -O2 -fomit-frame-pointer)
add_executable(sample_cost_bench sample_cost_bench.cpp)
target_link_libraries(sample_cost_bench PRIVATE ardoise_recorder sample_cost_frames_fp sample_cost_frames_no_fp fmt::fmt)

# Events of OTF2 read a second, beside OTF2's reader alone.
add_executable(trace_read_bench trace_read_bench.cpp)
target_include_directories(trace_read_bench PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(trace_read_bench PRIVATE ardoise_trace_reader)

# Size and time of traces with none to eight attributes an event.
add_executable(trace_attributes_bench trace_attributes_bench.cpp)
target_include_directories(trace_attributes_bench PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(trace_attributes_bench PRIVATE ardoise_replay ardoise_traces ardoise_trace_reader)
set_target_properties(trace_attributes_bench PROPERTIES ENABLE_EXPORTS ON)

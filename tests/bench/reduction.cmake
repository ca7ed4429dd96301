# Events reduced per second by all knowledge sources, and the analyzer's memory by ranks.
add_executable(reduction_bench reduction_bench.cpp)
target_link_libraries(reduction_bench PRIVATE ardoise_replay)
set_target_properties(reduction_bench PROPERTIES ENABLE_EXPORTS ON)

# The pause of an analyzer when a snapshot of the measurement is requested.
add_executable(snapshot_bench snapshot_bench.cpp)
target_link_libraries(snapshot_bench PRIVATE ardoise_replay ardoise_analyzer_core)
set_target_properties(snapshot_bench PROPERTIES ENABLE_EXPORTS ON)

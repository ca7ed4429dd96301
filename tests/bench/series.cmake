# Snapshots of marks on the analyzer, and the cost of a mark in its program.
add_executable(series_bench series_bench.cpp)
target_link_libraries(series_bench PRIVATE ardoise_snapshot_file ardoise_snapshots ardoise_blackboard ardoise_recorder fmt::fmt)

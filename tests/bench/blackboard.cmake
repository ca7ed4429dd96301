# Empty jobs per second, beside a oneTBB flow graph of the same shape.
find_package(TBB REQUIRED)
add_executable(blackboard_bench blackboard_bench.cpp)
target_link_libraries(blackboard_bench PRIVATE ardoise_blackboard ardoise_options TBB::tbb fmt::fmt)

# The extra cost of a replay per call, and the cost of recording and forcing races; replay_cost.py runs it, tools/bench
# calls that.
find_package(MPI REQUIRED COMPONENTS C)
add_executable(replay_loop replay_loop.c)
target_link_libraries(replay_loop PRIVATE MPI::MPI_C)

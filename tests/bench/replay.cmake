# What a replay adds to a call, and what races cost to record and to force; replay_cost.py runs it, tools/bench calls that.
find_package(MPI REQUIRED COMPONENTS C)
add_executable(replay_loop replay_loop.c)
target_link_libraries(replay_loop PRIVATE MPI::MPI_C)

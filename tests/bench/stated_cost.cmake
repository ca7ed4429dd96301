# The tool's cost as stated in reports, beside the real cost; stated_cost.py runs it, tools/bench calls that.
find_package(MPI REQUIRED COMPONENTS C)
add_executable(stated_cost_loop stated_cost_loop.c)
target_link_libraries(stated_cost_loop PRIVATE MPI::MPI_C)

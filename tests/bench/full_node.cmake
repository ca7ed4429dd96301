# A rank on every processor: full_node.py runs it, tools/bench calls that.
find_package(MPI REQUIRED COMPONENTS C)
add_executable(full_node_loop full_node_loop.c)
target_link_libraries(full_node_loop PRIVATE MPI::MPI_C)
target_compile_options(full_node_loop PRIVATE -O2)

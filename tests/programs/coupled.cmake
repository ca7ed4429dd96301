# Several programs that expect one MPI_COMM_WORLD.
add_executable(coupled coupled.c)
target_link_libraries(coupled PRIVATE MPI::MPI_C)

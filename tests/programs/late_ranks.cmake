# Ranks that come late to collectives by a known time, for the tests of what is said of waiting.
add_executable(late_ranks late_ranks.c)
target_compile_options(late_ranks PRIVATE -g)
target_link_libraries(late_ranks PRIVATE MPI::MPI_C)

# Ranks that are late to collectives by a known time, for the tests of waiting times.
add_library(late_ranks_inside SHARED late_ranks_inside.c)
target_include_directories(late_ranks_inside PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(late_ranks_inside PRIVATE MPI::MPI_C)
add_executable(late_ranks late_ranks.c late_windows.c)
target_include_directories(late_ranks PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(late_ranks PRIVATE -g)
target_link_libraries(late_ranks PRIVATE late_ranks_inside MPI::MPI_C)

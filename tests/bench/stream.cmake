# Streams beside bare MPI at 1:1, 2:1 and 4:1: cmake --build build --target bench_stream
find_package(MPI REQUIRED COMPONENTS C)
add_executable(stream_bench stream_bench.cpp)
target_link_libraries(stream_bench PRIVATE vmpi fmt::fmt CLI11::CLI11)
set(stream_bench_runs)
foreach(writers 1 2 4)
  list(APPEND stream_bench_runs COMMAND ${ARDOISE_MPIEXEC} -n ${writers}
       $<TARGET_FILE:stream_bench> write
       : -n 1 $<TARGET_FILE:stream_bench> read)
endforeach()
add_custom_target(bench_stream ${stream_bench_runs} DEPENDS stream_bench VERBATIM USES_TERMINAL)

# The cost of maps at 4,096 and 65,536 processes; no MPI.
add_executable(stream_map_bench stream_map_bench.cpp)
target_link_libraries(stream_map_bench PRIVATE ardoise_vmpi_logic fmt::fmt)

# The cost of partitions, maps and streams for one process at 4,096 and 65,536 processes; a model replaces MPI.
add_executable(stream_scale_bench stream_scale_bench.cpp)
target_link_libraries(stream_scale_bench PRIVATE ardoise_vmpi_stream fmt::fmt)

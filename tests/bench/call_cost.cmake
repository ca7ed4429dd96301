# The extra cost of a call: cmake --build build --target call_cost_bench && build/bin/call_cost_bench
enable_language(Fortran)
find_package(MPI REQUIRED COMPONENTS C Fortran)
add_executable(call_cost_c call_cost_loop.c)
target_link_libraries(call_cost_c PRIVATE MPI::MPI_C)
target_compile_options(call_cost_c PRIVATE -O2)
add_executable(call_cost_fortran call_cost_loop.f90)
target_link_libraries(call_cost_fortran PRIVATE MPI::MPI_Fortran)
target_compile_options(call_cost_fortran PRIVATE -O2)
add_executable(call_cost_bench call_cost_bench.cpp)
target_link_libraries(call_cost_bench PRIVATE ardoise_recorder fmt::fmt)
target_compile_definitions(call_cost_bench PRIVATE
  ARDOISE_C_LOOP="$<TARGET_FILE:call_cost_c>"
  ARDOISE_FORTRAN_LOOP="$<TARGET_FILE:call_cost_fortran>"
  ARDOISE_PRELOAD_LIBRARY="$<TARGET_FILE:ardoise_preload>"
  ARDOISE_VMPI_LIBRARY="$<TARGET_FILE:vmpi>"
  MPIEXEC="${MPIEXEC_EXECUTABLE}")
add_dependencies(call_cost_bench call_cost_c call_cost_fortran ardoise_preload vmpi)

# The generator and its table, the wrappers, the virtual world.
add_executable(vmpi_wrappers_test
  wrappers_byte_rules_test.cpp
  wrappers_launch_environment_test.cpp
  wrappers_preload_environment_test.cpp
  wrappers_prototypes_test.cpp
  wrappers_small_array_test.cpp
  wrappers_table_test.cpp
  wrappers_window_folders_test.cpp)
target_compile_definitions(vmpi_wrappers_test PRIVATE MPI_TABLE="${PROJECT_SOURCE_DIR}/vmpi/wrappers/mpi_functions.table")
target_link_libraries(vmpi_wrappers_test PRIVATE
  ardoise_generator_objects ardoise_mpi_functions ardoise_vmpi_logic GTest::gtest_main)
gtest_discover_tests(vmpi_wrappers_test PROPERTIES LABELS unit DISCOVERY_TIMEOUT 60)
add_dependencies(unit_tests vmpi_wrappers_test)

# Counts calls; preloaded instead of libvmpi.
add_library(vmpi_counting SHARED counting_observer.cpp)
target_link_libraries(vmpi_counting PRIVATE ardoise_vmpi_objects)

list(JOIN ARDOISE_MPIEXEC " " test_mpiexec)
# mpirun tests. PROCESSORS keeps ctest from starting several on few cores; the timeout only guards against a hang.
function(add_wrappers_test name)
  add_test(NAME vmpi_wrappers.${name} COMMAND ${ARGN})
  set_tests_properties(vmpi_wrappers.${name} PROPERTIES LABELS mpi PROCESSORS 2 RESOURCE_LOCK mpirun TIMEOUT 120
    ENVIRONMENT "TEST_MPIEXEC=${test_mpiexec}")
endfunction()
set(here ${CMAKE_CURRENT_SOURCE_DIR})
set(dialects "")
set(fortran_traffic "")
foreach(dialect IN LISTS MPI_FORTRAN_PROGRAMS)
  list(APPEND dialects _${dialect})
  list(APPEND fortran_traffic $<TARGET_FILE:mpi_traffic_${dialect}>)
endforeach()
foreach(dialect "" ${dialects})
  foreach(program traffic world)
    add_wrappers_test(same_${program}${dialect} ${here}/wrappers_compare.sh $<TARGET_FILE:vmpi> 2
      $<TARGET_FILE:mpi_${program}${dialect}>)
  endforeach()
endforeach()
add_wrappers_test(same_pmpi ${here}/wrappers_compare.sh $<TARGET_FILE:vmpi> 2 $<TARGET_FILE:mpi_pmpi>)
add_wrappers_test(same_threads ${here}/wrappers_compare.sh $<TARGET_FILE:vmpi> 2 $<TARGET_FILE:mpi_threads>)
add_wrappers_test(same_world_observed ${here}/wrappers_compare.sh $<TARGET_FILE:vmpi_counting> 3 $<TARGET_FILE:mpi_world>)
if(fortran_traffic)
  add_wrappers_test(counts_of_dialects ${here}/wrappers_counts.sh $<TARGET_FILE:vmpi_counting> 3
    $<TARGET_FILE:mpi_traffic> ${fortran_traffic})
endif()
# By hand from the source of mpi_traffic.c, two processes, rank 0.
add_wrappers_test(counts_of_traffic ${here}/wrappers_expected.sh $<TARGET_FILE:vmpi_counting> 2 $<TARGET_FILE:mpi_traffic>
  "MPI_Send calls=5 sent=236 received=0"
  "MPI_Recv calls=1 sent=0 received=0"
  "MPI_Sendrecv calls=1 sent=80 received=80"
  "MPI_Isend calls=4 sent=292 "
  "MPI_Waitall calls=6 sent=0 received=0 requests=14 completed=14/500"
  "MPI_Request_free calls=2"
  "MPI_Mrecv calls=1 sent=0 received=36"
  "MPI_Allreduce calls=3 sent=52 received=52"
  "MPI_Bcast calls=3 sent=84 received=40"
  "MPI_Gather calls=2 sent=32 received=64"
  "MPI_Alltoallw calls=1 sent=16 received=16"
  "MPI_Reduce_scatter calls=1 sent=24 received=8"
  "MPI_Exscan calls=1 sent=24 received=0"
  "MPI_Compare_and_swap calls=1 sent=8 received=8"
  "MPI_File_write_at calls=1 sent=32"
  "MPI_Comm_rank calls=1")
add_wrappers_test(counts_of_threads ${here}/wrappers_expected.sh $<TARGET_FILE:vmpi_counting> 2 $<TARGET_FILE:mpi_threads>
  "MPI_Send calls=2000 sent=8000 "
  "MPI_Irecv calls=2000 "
  "MPI_Wait calls=2000 sent=0 received=0 requests=2000 completed=2000/8000"
  "MPI_Allreduce calls=40 ")

add_wrappers_test(programs_started_before_our_constructor env LD_PRELOAD=$<TARGET_FILE:vmpi> $<TARGET_FILE:exec_early>)
add_wrappers_test(same_ends ${here}/wrappers_ends.sh $<TARGET_FILE:vmpi> $<TARGET_FILE:mpi_end>)
add_library(vmpi_next_tool MODULE next_tool.c)
target_link_libraries(vmpi_next_tool PRIVATE MPI::MPI_C)
set_target_properties(vmpi_next_tool PROPERTIES C_VISIBILITY_PRESET default)
set(fortran_program "")
if(fortran_traffic)
  set(fortran_program $<TARGET_FILE:mpi_traffic_MPIF>)
endif()
add_wrappers_test(next_tool ${here}/wrappers_next_tool.sh $<TARGET_FILE:vmpi> $<TARGET_FILE:vmpi_next_tool>
  $<TARGET_FILE:mpi_traffic> ${fortran_program})
add_dependencies(vmpi_next_tool mpi_end)

add_library(vmpi_failing_call MODULE failing_call.c)
target_link_libraries(vmpi_failing_call PRIVATE MPI::MPI_C)
set_target_properties(vmpi_failing_call PROPERTIES C_VISIBILITY_PRESET default)
add_wrappers_test(partitions_fail_in_one_process ${here}/wrappers_failing_call.sh $<TARGET_FILE:vmpi>
  $<TARGET_FILE:vmpi_failing_call> $<TARGET_FILE:mpi_world>)

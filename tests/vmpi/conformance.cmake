# The conformance programs (tests/programs/conformance): native, virtualised, observed; and a check that they call all
# functions.
# Four chapters (datatypes, communicators, environment, info) provoke errors that are fatal in MPICH 4.0 itself.
if(NOT ARDOISE_MPI STREQUAL "Open MPI")
  return()
endif()

list(JOIN ARDOISE_MPIEXEC " " test_mpiexec)
function(add_conformance_test name)
  add_test(NAME vmpi_conformance.${name} COMMAND ${ARGN})
  set_tests_properties(vmpi_conformance.${name} PROPERTIES LABELS mpi PROCESSORS 2 RESOURCE_LOCK mpirun TIMEOUT 300
    ENVIRONMENT "TEST_MPIEXEC=${test_mpiexec}")
endfunction()

set(conformance_pairs "c,c")
if(MPI_FORTRAN_PROGRAMS)
  set(conformance_pairs "MPIF,MPI")
  if(F08 IN_LIST MPI_FORTRAN_PROGRAMS)
    list(APPEND conformance_pairs "c,F08")
  else()
    list(APPEND conformance_pairs "c,MPI")
  endif()
endif()
if(TARGET conformance_cxx)
  list(APPEND conformance_pairs "cxx,cxx")
endif()
foreach(pair IN LISTS conformance_pairs)
  string(REPLACE "," ";" pair ${pair})
  list(GET pair 0 first)
  list(GET pair 1 second)
  add_conformance_test(${first}_and_${second} ${CMAKE_CURRENT_SOURCE_DIR}/conformance_compare.sh $<TARGET_FILE:vmpi>
    $<TARGET_FILE:ardoise> $<TARGET_FILE:conformance_${first}> $<TARGET_FILE:conformance_${second}>)
endforeach()

foreach(language c ${MPI_FORTRAN_PROGRAMS})
  string(TOLOWER ${language} name)
  add_conformance_test(calls_everything_${name} ${CMAKE_CURRENT_SOURCE_DIR}/conformance_coverage.sh
    $<TARGET_FILE:vmpi_counting> $<TARGET_FILE:conformance_${language}> ${name}
    ${PROJECT_SOURCE_DIR}/vmpi/wrappers/mpi_functions.table ${CMAKE_CURRENT_SOURCE_DIR}/conformance_exempt.txt)
endforeach()

# Programs that spawn, connect and join; two processes, alone and beside another program that does the same.
set(process_programs c)
if(MPI_FORTRAN_PROGRAMS)
  list(GET MPI_FORTRAN_PROGRAMS -1 dialect)
  list(APPEND process_programs ${dialect})
endif()
foreach(language IN LISTS process_programs)
  string(TOLOWER ${language} name)
  add_conformance_test(processes_${name} ${CMAKE_CURRENT_SOURCE_DIR}/wrappers_compare.sh $<TARGET_FILE:vmpi> 2
    $<TARGET_FILE:conformance_processes_${language}>)
  # MPI_Comm_spawn of Open MPI 4.1 waits for ever now and then on a busy machine, in programs that run alone, too.
  set_property(TEST vmpi_conformance.processes_${name} APPEND PROPERTY ENVIRONMENT LAUNCH_ATTEMPTS=3)
endforeach()

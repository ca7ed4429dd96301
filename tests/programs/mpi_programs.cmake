# Programs that use many MPI functions and print what they saw, in C and in each dialect of Fortran (where a Fortran
# compiler and the MPI's Fortran libraries are there). tests/vmpi runs them natively, virtualised and observed.
foreach(program counted end endings hangs iterations launch levels marks pmpi queries sessions short_threads signals steered traffic threads ways world)
  add_executable(mpi_${program} mpi_${program}.c)
  target_link_libraries(mpi_${program} PRIVATE MPI::MPI_C Threads::Threads)
endforeach()

# With the interface for programs, which needs the loader's library where the C library is older than 2.34.
target_include_directories(mpi_marks PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(mpi_marks PRIVATE ${CMAKE_DL_LIBS})

# Without MPI: a program that starts others before the libraries in it are ready.
add_executable(exec_early exec_early.c)

# The same program with its own symbols bound to itself, and a preloaded library that notes who calls MPI.
add_executable(mpi_ways_symbolic mpi_ways.c)
target_link_libraries(mpi_ways_symbolic PRIVATE MPI::MPI_C)
target_link_options(mpi_ways_symbolic PRIVATE -Wl,-Bsymbolic -rdynamic)
add_library(mpi_callers MODULE mpi_callers.c)
target_link_libraries(mpi_callers PRIVATE MPI::MPI_C)

# The same with a sanitizer inside, which looks functions up before anything else in the process works.
include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -fsanitize=address -static-libasan)
check_c_source_compiles("int main(void) { return 0; }" ARDOISE_HAS_STATIC_ASAN)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(ARDOISE_HAS_STATIC_ASAN)
  add_executable(mpi_ways_sanitized mpi_ways.c)
  target_link_libraries(mpi_ways_sanitized PRIVATE MPI::MPI_C)
  target_compile_options(mpi_ways_sanitized PRIVATE -fsanitize=address)
  target_link_options(mpi_ways_sanitized PRIVATE -fsanitize=address -static-libasan)
  # With the sanitizer as a library, which wants to be the first of all.
  add_executable(mpi_ways_sanitizer_library mpi_ways.c)
  target_link_libraries(mpi_ways_sanitizer_library PRIVATE MPI::MPI_C)
  target_compile_options(mpi_ways_sanitizer_library PRIVATE -fsanitize=address)
  target_link_options(mpi_ways_sanitizer_library PRIVATE -fsanitize=address)
endif()

# Programs that look MPI up by themselves.
add_executable(mpi_lookup mpi_lookup.c)
target_include_directories(mpi_lookup PRIVATE ${MPI_C_INCLUDE_DIRS})
target_link_libraries(mpi_lookup PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
add_library(mpi_lookup_other MODULE mpi_lookup_other.c)
add_library(mpi_interposer_library SHARED mpi_interposer_library.c)
add_executable(mpi_interposer mpi_interposer.c)
target_link_libraries(mpi_interposer_library PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})
target_link_libraries(mpi_interposer PRIVATE mpi_interposer_library MPI::MPI_C ${CMAKE_DL_LIBS})

include(CheckLanguage)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  find_package(MPI COMPONENTS Fortran)
endif()
set(MPI_FORTRAN_PROGRAMS "" CACHE INTERNAL "Dialects of Fortran that the test programs are built in")
if(MPI_Fortran_FOUND)
  set(MPI_FORTRAN_PROGRAMS MPIF MPI)
  if(MPI_Fortran_HAVE_F08_MODULE)
    list(APPEND MPI_FORTRAN_PROGRAMS F08)
  endif()
  # mpif.h has no interfaces: gfortran must be told that buffers are of many types there, and is quiet about it.
  function(add_fortran_dialect target dialect)
    target_compile_definitions(${target} PRIVATE DIALECT_${dialect})
    target_compile_options(${target} PRIVATE
      $<$<Fortran_COMPILER_ID:GNU>:-ffree-line-length-none;-fallow-argument-mismatch;-w>)
    set_target_properties(${target} PROPERTIES Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target}.modules)
    target_link_libraries(${target} PRIVATE MPI::MPI_Fortran)
  endfunction()
  foreach(dialect IN LISTS MPI_FORTRAN_PROGRAMS)
    foreach(program traffic world)
      add_executable(mpi_${program}_${dialect} mpi_${program}.F90)
      add_fortran_dialect(mpi_${program}_${dialect} ${dialect})
    endforeach()
  endforeach()
  set(MPI_FORTRAN_PROGRAMS ${MPI_FORTRAN_PROGRAMS} CACHE INTERNAL "")
  add_executable(marks_fortran marks_fortran.F90 ${PROJECT_SOURCE_DIR}/instrument/api/ardoise.F90)
  add_fortran_dialect(marks_fortran MPI)
  target_link_libraries(marks_fortran PRIVATE ${CMAKE_DL_LIBS})
  add_executable(late_work late_work.F90)
  add_fortran_dialect(late_work MPI)
  target_compile_options(late_work PRIVATE -g -O1 -fno-inline)
  add_executable(deaths_fortran deaths_fortran.F90)
  add_fortran_dialect(deaths_fortran MPI)
  target_link_libraries(deaths_fortran PRIVATE deaths_page)
else()
  message(STATUS "No Fortran compiler with MPI: the Fortran tests are left out")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/conformance/programs.cmake)

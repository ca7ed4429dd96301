# The conformance programs: a file per chapter of the MPI standard, all chapters in one program for each language and
# dialect. mpi_programs.cmake, which has found Fortran, includes it.
set(conformance_chapters
  attributes collectives communicators conformance datatypes deprecated environment external_interfaces info io one_sided
  point_to_point shared tools topologies)
list(TRANSFORM conformance_chapters REPLACE "(.+)" "conformance/\\1.c")
add_executable(conformance_c ${conformance_chapters})
# Processes that make processes: a launch of their own.
add_executable(conformance_processes_c conformance/processes.c conformance/shared.c)
foreach(target conformance_c conformance_processes_c)
  target_link_libraries(${target} PRIVATE MPI::MPI_C Threads::Threads)
  # gcc takes MPI_UNWEIGHTED, an address that stands for something else, for an empty array.
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overread>)
endforeach()

# The C++ bindings of MPI-2, where the library still has them.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_CXX mpi_cxx)
check_cxx_source_compiles("#include <mpi.h>\nint main() { return MPI::COMM_WORLD.Get_rank(); }" ARDOISE_HAS_MPI_CXX_BINDINGS)
unset(CMAKE_REQUIRED_LIBRARIES)
if(ARDOISE_HAS_MPI_CXX_BINDINGS)
  add_executable(conformance_cxx conformance/cxx_bindings.cpp)
  target_link_libraries(conformance_cxx PRIVATE MPI::MPI_CXX mpi_cxx)
  # Their headers are not ours, and have been deprecated for long.
  target_compile_options(conformance_cxx PRIVATE -w -UOMPI_SKIP_MPICXX -UMPICH_SKIP_MPICXX)
endif()

set(conformance_chapters
  shared attributes collectives communicators conformance datatypes environment info_objects io one_sided point_to_point
  topologies)
list(TRANSFORM conformance_chapters REPLACE "(.+)" "conformance/fortran/\\1.F90")
foreach(dialect IN LISTS MPI_FORTRAN_PROGRAMS)
  set(target conformance_${dialect})
  add_executable(${target} ${conformance_chapters})
  add_fortran_dialect(${target} ${dialect})
  add_executable(conformance_processes_${dialect} conformance/fortran/processes.F90 conformance/fortran/shared.F90)
  add_fortran_dialect(conformance_processes_${dialect} ${dialect})
endforeach()

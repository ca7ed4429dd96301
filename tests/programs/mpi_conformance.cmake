# The conformance programs: a file per chapter of the MPI standard, all chapters in one program for each language and
# dialect. mpi_programs.cmake has found Fortran.
set(conformance_chapters
  attributes collectives communicators conformance datatypes deprecated environment external_interfaces info io one_sided
  point_to_point tools topologies)
list(TRANSFORM conformance_chapters REPLACE "(.+)" "conformance/\\1.c")
add_executable(conformance_c ${conformance_chapters})
target_link_libraries(conformance_c PRIVATE MPI::MPI_C Threads::Threads)
# gcc takes MPI_UNWEIGHTED, an address that stands for something else, for an empty array.
target_compile_options(conformance_c PRIVATE -Wall -Wextra $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overread>)

set(conformance_chapters
  shared attributes collectives communicators conformance datatypes environment info_objects io one_sided point_to_point
  topologies)
list(TRANSFORM conformance_chapters REPLACE "(.+)" "conformance/fortran/\\1.F90")
foreach(dialect IN LISTS MPI_FORTRAN_PROGRAMS)
  set(target conformance_${dialect})
  add_executable(${target} ${conformance_chapters})
  add_fortran_dialect(${target} ${dialect})
endforeach()

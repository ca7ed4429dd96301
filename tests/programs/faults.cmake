# One fault at a time, for the tests of findings; with line numbers in all presets.
find_package(OpenMP COMPONENTS C)
if(TARGET OpenMP::OpenMP_C)
  set_property(TARGET OpenMP::OpenMP_C PROPERTY IMPORTED_GLOBAL TRUE)  # tests/tools asks
endif()
add_executable(faults faults.c)
target_compile_options(faults PRIVATE -g -O1 -fno-omit-frame-pointer)
target_link_libraries(faults PRIVATE MPI::MPI_C $<$<TARGET_EXISTS:OpenMP::OpenMP_C>:OpenMP::OpenMP_C>)

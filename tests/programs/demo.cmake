# The two programs of tools/demo, also used by the end-to-end tests.
foreach(program heat particles)
  add_executable(demo_${program} demo_${program}.cpp)
  target_link_libraries(demo_${program} PRIVATE MPI::MPI_CXX)
endforeach()

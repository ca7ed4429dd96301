# The coupled programs of the paper's figures 11 and 12, in C against libvmpi.
foreach(program vmpi_writer vmpi_analyzer)
  add_executable(${program} ${program}.c)
  target_link_libraries(${program} PRIVATE vmpi)
endforeach()

# Installs this build, builds the template plug-in against it in a folder of its own, and runs its test with that one.
# Needs the whole build. cmake -D SOURCE= -D BUILD= -D WORK= -D TEST= -D COMPILER= -P out_of_tree.cmake
file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/ DESTINATION ${WORK}/source)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix COMMAND_ERROR_IS_FATAL ANY
  OUTPUT_QUIET)
# Users get no debug information, and do get the pages that help texts name.
find_program(READELF NAMES readelf llvm-readelf-14 REQUIRED)
file(GLOB_RECURSE libraries ${WORK}/prefix/*/libardoise.so)
foreach(file ${WORK}/prefix/bin/ardoise ${WORK}/prefix/bin/ardoise-analyzer ${libraries})
  execute_process(COMMAND ${READELF} -S -W ${file} OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
  if(NOT sections MATCHES "\\.text" OR sections MATCHES "\\.debug_info")
    message(FATAL_ERROR "${file} has debug information")
  endif()
endforeach()
file(GLOB pages ${WORK}/prefix/share/doc/ardoise/docs/guide/marks.md)
if(NOT libraries OR NOT pages)
  message(FATAL_ERROR "libardoise.so or docs/guide/marks.md was not installed")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
  -DCMAKE_CXX_COMPILER=${COMPILER} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env ARDOISE_TEMPLATE_PLUGIN=${WORK}/build/tag_usage.so ${TEST}
  COMMAND_ERROR_IS_FATAL ANY)

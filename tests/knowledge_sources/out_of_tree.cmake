# Installs this build, builds the template plug-in against it in a folder of its own, and runs its test with that one.
# Needs the whole build. cmake -D SOURCE= -D BUILD= -D WORK= -D TESTS= -D COMPILER= -P out_of_tree.cmake
file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/ DESTINATION ${WORK}/source)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix COMMAND_ERROR_IS_FATAL ANY
  OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/source -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
  -DCMAKE_CXX_COMPILER=${COMPILER} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env ARDOISE_TEMPLATE_PLUGIN=${WORK}/build/tag_usage.so ${TESTS}
  --gtest_filter=Template.* COMMAND_ERROR_IS_FATAL ANY)

# Events reduced per second by all knowledge sources, and the analyzer's memory by ranks.
add_executable(reduction_bench reduction_bench.cpp)
target_link_libraries(reduction_bench PRIVATE ardoise_sources ardoise_replay)
target_compile_definitions(reduction_bench PRIVATE ARDOISE_PLUGIN_DIR="${CMAKE_BINARY_DIR}/lib/ardoise")
set_target_properties(reduction_bench PROPERTIES ENABLE_EXPORTS ON)
get_property(plugins GLOBAL PROPERTY ARDOISE_PLUGINS)
add_dependencies(reduction_bench ${plugins})

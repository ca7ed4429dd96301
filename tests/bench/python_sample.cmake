# The cost of Python's frames in a sample: a library that a script of the benchmark loads.
add_library(python_sample_bench MODULE python_sample_bench.cpp)
target_link_libraries(python_sample_bench PRIVATE ardoise_options ardoise_recorder)
set_target_properties(python_sample_bench PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

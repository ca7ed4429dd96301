# Programs for the end-to-end tests of launcher and analyzer.
add_executable(ring_program ring_program.cpp)
target_compile_definitions(ring_program PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_link_libraries(ring_program PRIVATE ardoise_options MPI::MPI_C)

# A knowledge source that fails at every pack.
add_library(failing_source MODULE failing_source.cpp)
target_link_libraries(failing_source PRIVATE ardoise_analysis)
set_target_properties(failing_source PROPERTIES PREFIX "" OUTPUT_NAME failing LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})

# A slow one: the streams fill, and the programs have to adapt.
add_library(slow_source MODULE slow_source.cpp)
target_link_libraries(slow_source PRIVATE ardoise_analysis)
set_target_properties(slow_source PROPERTIES PREFIX "" OUTPUT_NAME slow LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})

# One that sends more to the other analyzers than they take.
add_library(flooding_source MODULE flooding_source.cpp)
target_link_libraries(flooding_source PRIVATE ardoise_analysis)
set_target_properties(flooding_source PROPERTIES PREFIX "" OUTPUT_NAME flooding LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})

# Runs a command with very few rights.
add_executable(confined confined.c)

# Programs that count their own calls and die: tests/tools/deaths.py kills them.
add_library(deaths_page STATIC deaths_page.c)
target_link_libraries(deaths_page PUBLIC MPI::MPI_C)
add_executable(deaths deaths.c)
target_link_libraries(deaths PRIVATE deaths_page)

# NetPIPE native, virtualised and observed; netpipe.py runs it, tools/bench calls that.
find_package(MPI REQUIRED COMPONENTS C)
add_executable(init_finalize_bench init_finalize.c)
target_link_libraries(init_finalize_bench PRIVATE MPI::MPI_C)
# All targets that a measured launch needs.
get_property(netpipe_plugins GLOBAL PROPERTY ARDOISE_PLUGINS)
add_custom_target(netpipe_bench DEPENDS vmpi ardoise ardoise-analyzer ardoise_preload init_finalize_bench ${netpipe_plugins})

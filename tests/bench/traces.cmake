# Events of OTF2 written a second from packs, beside OTF2's writer alone, and their bytes.
add_executable(traces_bench traces_bench.cpp)
target_link_libraries(traces_bench PRIVATE ardoise_replay ardoise_traces)
set_target_properties(traces_bench PROPERTIES ENABLE_EXPORTS ON)

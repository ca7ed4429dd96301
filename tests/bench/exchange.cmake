# Waits over several analyzers: cost of a message, bytes between analyzers.
add_executable(exchange_bench exchange_bench.cpp)
target_link_libraries(exchange_bench PRIVATE ardoise_replay)
set_target_properties(exchange_bench PROPERTIES ENABLE_EXPORTS ON)

# Partitions, maps and streams. The unit tests call no MPI function; stream_test runs streams over a model of MPI.
find_package(MPI REQUIRED COMPONENTS C CXX)

add_executable(vmpi_unit_test
  balance_test.cpp
  block_pool_test.cpp
  map_policy_test.cpp
  partition_name_test.cpp
  partition_table_test.cpp
  stream_test.cpp)
target_link_libraries(vmpi_unit_test PRIVATE ardoise_vmpi_stream GTest::gtest_main Threads::Threads)
gtest_discover_tests(vmpi_unit_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)

# Partitions, maps and streams. The unit tests call no MPI function; stream_test runs streams over a model of MPI.
find_package(MPI REQUIRED COMPONENTS C CXX)

add_executable(vmpi_unit_test
  balance_test.cpp
  block_pool_test.cpp
  map_policy_test.cpp
  handshake_test.cpp
  partition_name_test.cpp
  partition_table_test.cpp
  process_identity_test.cpp
  stream_pace_test.cpp
  stream_test.cpp)
target_link_libraries(vmpi_unit_test PRIVATE ardoise_vmpi_stream GTest::gtest_main Threads::Threads)
gtest_discover_tests(vmpi_unit_test DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
add_dependencies(unit_tests vmpi_unit_test)
add_dependencies(threaded_unit_tests vmpi_unit_test)

# The same at random pace for minutes, over the model and over MPI: ctest -L soak.
add_executable(stream_soak stream_soak.cpp)
target_link_libraries(stream_soak PRIVATE ardoise_vmpi_stream fmt::fmt CLI11::CLI11)
add_test(NAME StreamSoak.Model COMMAND stream_soak --seconds 180)
add_test(NAME StreamSoak.Mpi COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/stream_soak.sh $<TARGET_FILE:stream_program> 180)
set_tests_properties(StreamSoak.Model StreamSoak.Mpi PROPERTIES LABELS soak TIMEOUT 900)

# Programs that need a launch, one for each end.
foreach(program stream_program map_program bad_peer_program)
  add_executable(${program} ${program}.cpp)
  target_link_libraries(${program} PRIVATE vmpi fmt::fmt CLI11::CLI11)
endforeach()

# add_launch_test(name EXPECT text PROGRAMS "-n 2 program ..." "-n 1 program ...")
function(add_launch_test name)
  cmake_parse_arguments(PARSE_ARGV 1 launch "" "EXPECT" "PROGRAMS")
  set(line ${ARDOISE_MPIEXEC})
  foreach(program IN LISTS launch_PROGRAMS)
    separate_arguments(arguments UNIX_COMMAND "${program}")
    list(APPEND line ${arguments} ":")
  endforeach()
  list(POP_BACK line)
  add_test(NAME ${name} COMMAND ${line})
  set_tests_properties(${name} PROPERTIES LABELS mpi PROCESSORS 2 TIMEOUT 120 ENVIRONMENT
    "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_mpi_yield_when_idle=1")
  if(launch_EXPECT)
    # A launch that fails has no such text at its end; PASS_REGULAR_EXPRESSION replaces the exit status.
    set_tests_properties(${name} PROPERTIES PASS_REGULAR_EXPRESSION "${launch_EXPECT}")
  endif()
endfunction()

set(writer $<TARGET_FILE:vmpi_writer>)
add_launch_test(PaperPrograms.AnalyzerReadsWhatTwoProgramsWrite EXPECT "Analyzer: 500 blocks" PROGRAMS
  "-n 3 ${writer} 100" "-n 2 ${writer} 100" "-n 2 $<TARGET_FILE:vmpi_analyzer>")
add_launch_test(PaperPrograms.WriterWithoutAnalyzerSaysSo EXPECT "Could not locate analyzer partition" PROGRAMS "-n 2 ${writer} 1")

set(map_program $<TARGET_FILE:map_program>)
add_launch_test(Maps.LargerToSmaller PROGRAMS "-n 5 ${map_program} left" "-n 2 ${map_program} right")
add_launch_test(Maps.SmallerToLarger PROGRAMS "-n 1 ${map_program} left" "-n 6 ${map_program} right")
add_launch_test(Maps.EqualAndThree PROGRAMS
  "-n 3 ${map_program} left" "-n 3 ${map_program} right" "-n 2 ${map_program} middle")
add_launch_test(Maps.NamesJoinContexts PROGRAMS
  "-n 2 ${map_program} left" "-n 3 ${map_program} right" "-n 2 ${map_program} left")

# add_stream_test(name writers readers "options of both" "options of writers" "options of readers")
set(stream_program $<TARGET_FILE:stream_program>)
function(add_stream_test name writers readers both write read)
  add_launch_test(Streams.${name} PROGRAMS
    "-n ${writers} ${stream_program} write ${both} ${write}" "-n ${readers} ${stream_program} read ${both} ${read}")
endfunction()
foreach(write_balance 0 1 2)
  foreach(read_balance 0 1 2)
    add_stream_test(Balance${write_balance}To${read_balance} 2 3 "--blocks 100" "--balance ${write_balance}"
      "--balance ${read_balance} --pause 100")
  endforeach()
endforeach()
add_stream_test(ManyWriters 12 2 "--blocks 60 --block-bytes 300000" "" "--limit 4")
add_stream_test(SlowReader 3 1 "--blocks 100" "" "--pause 5000")
add_stream_test(SlowWriters 3 2 "--blocks 60" "--pause 5000" "")
add_stream_test(SmallBlocks 3 2 "--block-bytes 200 --blocks 3000" "" "")
add_stream_test(HugeBlocks 2 1 "--block-bytes 20000000 --blocks 5" "" "--limit 1")
add_stream_test(CopiesAndNonBlocking 3 2 "--copies" "" "--nonblocking")
add_stream_test(ReleaseFromOtherThreads 3 1 "" "" "--threads --limit 64")
add_stream_test(WritersCloseAtDifferentTimes 5 2 "--blocks 5" "--late 200" "")
add_stream_test(NothingWritten 3 2 "--blocks 0" "" "")
add_stream_test(TwoWay 3 3 "--two-way --blocks 300 --buffers 2" "" "--pause 300")
# The launcher lets the others live. The program's output counts, not the launcher's exit status. Not for MPICH: even
# natively, Hydra 4.0 ends before the survivors, in spite of -disable-auto-cleanup, and UCX ends a process that was
# receiving from a dead one.
if(NOT ARDOISE_MPI STREQUAL "MPICH")
  add_launch_test(Streams.ReaderHearsOfAWritersDeath EXPECT "heard of 1 death" PROGRAMS
    "--enable-recovery -n 3 ${stream_program} write --dies" "-n 1 ${stream_program} read --dies")
endif()
add_stream_test(RandomMap 7 3 "--map 1 --seed 3 --blocks 60" "" "")

# Faulty ends: the other one gets a code and a sentence.
set(bad_peer_program $<TARGET_FILE:bad_peer_program>)
function(add_bad_peer_test name case sentence)
  cmake_parse_arguments(PARSE_ARGV 3 bad "" "OPTIONS;UNDER" "")
  add_launch_test(BadPeer.${name} EXPECT "${sentence}.*all is said|all is said.*${sentence}" PROGRAMS
    "${bad_OPTIONS} -n 2 ${bad_UNDER} ${bad_peer_program} ${case} left" "-n 4 ${bad_peer_program} ${case} right")
endfunction()
set(short_time "env VMPI_OPEN_TIMEOUT=3")  # of left, which goes to MPI_Finalize then
add_bad_peer_test(MapPoliciesDiffer policies_differ "did not open it within 3 seconds" UNDER ${short_time})
add_bad_peer_test(OrdersOfOpeningDiffer orders_differ "did not open it within 3 seconds" UNDER ${short_time})
add_bad_peer_test(EndsMpiBeforeWeAsk ends_before_the_hello "ended MPI without opening it")
add_bad_peer_test(EndsMpiWhileWeWait ends_behind_the_hello "ended MPI without opening it")
if(NOT ARDOISE_MPI STREQUAL "MPICH")  # the same
  add_bad_peer_test(DiesBeforeOpening dies_before_opening "died without opening it" OPTIONS --enable-recovery)
endif()
add_bad_peer_test(WriterDoesNotClose writer_does_not_close "called MPI_Finalize with 1 open stream;")
add_bad_peer_test(ReaderDoesNotClose reader_does_not_close "called MPI_Finalize with 1 open stream;")
add_bad_peer_test(NobodyCloses nobody_closes "called MPI_Finalize with 1 open stream;")

# As many processes as one machine takes, far more than it has cores; each prints its cost: ctest -L scale -V.
function(add_scale_test name writers readers options)
  add_launch_test(StreamScale.${name} PROGRAMS "-n ${writers} ${stream_program} write --costs ${options}"
    "-n ${readers} ${stream_program} read --costs ${options}")
  set_tests_properties(StreamScale.${name} PROPERTIES LABELS scale TIMEOUT 1200)
endfunction()
add_scale_test(Writers248Readers8 248 8 "--blocks 10 --block-bytes 65536")
add_scale_test(Writers255Reader1 255 1 "--blocks 10 --block-bytes 65536 --limit 16")
add_scale_test(TwoWay128To128 128 128 "--two-way --blocks 10 --block-bytes 65536")

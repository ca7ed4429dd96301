// What the analyzer reads from outside about the processes of its launch.
#include "analyzer/job_watch.hpp"

#include <gtest/gtest.h>

namespace ardoise::analyzer {
namespace {

TEST(JobWatch, FindsThePortOfTheServer) {
  EXPECT_EQ(port_of("1932001280.0;tcp4://127.0.0.1:35309"), 35309);
  EXPECT_EQ(port_of("1932001280.0;tcp6://[::1]:7"), 7);
  EXPECT_EQ(port_of("pmix-server;usock:/tmp/x:12"), 0);
  EXPECT_EQ(port_of("1.0;tcp4://127.0.0.1:99999"), 0);
  EXPECT_EQ(port_of(""), 0);
}

constexpr const char* kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   1: 0100007F:E357 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 23296 1\n"
    "   3: 0100007F:E986 0100007F:E357 01 00000000:00000000 03:0000175B 00000000     0        0 0 3\n";

TEST(JobWatch, SeesAClientOfTheServer) { EXPECT_TRUE(has_connection_to(kTable, 0xE357)); }

TEST(JobWatch, AConnectionOfAnEarlierLaunchIsNone) {
  EXPECT_FALSE(has_connection_to("heading\n 3: 0100007F:E986 0100007F:E357 06 00000000:00000000\n", 0xE357));
}

TEST(JobWatch, TheServerItselfIsNoClient) {
  EXPECT_FALSE(has_connection_to(kTable, 0xE986));
  EXPECT_FALSE(has_connection_to("  sl  local_address\n", 0xE357));
  EXPECT_FALSE(has_connection_to("heading\ngarbage\n1: x y\n", 0xE357));
}

TEST(JobWatch, TellsMpiWithoutOurLibraries) {
  EXPECT_TRUE(has_bare_mpi("7f-80 r-xp 0 08:01 1 /usr/lib/libmpi.so.40.30.4\n"));
  EXPECT_FALSE(
      has_bare_mpi("7f-80 r-xp 0 08:01 1 /usr/lib/libmpi.so.40.30.4\n8f-90 r-xp 0 08:01 2 /opt/libardoise.so\n"));
  EXPECT_FALSE(has_bare_mpi("7f-80 r-xp 0 08:01 1 /usr/lib/libmpi.so.40\n8f-90 r-xp 0 08:01 2 /opt/libvmpi.so.0\n"));
  EXPECT_FALSE(has_bare_mpi("7f-80 r-xp 0 08:01 1 /usr/bin/dash\n"));
}

}  // namespace
}  // namespace ardoise::analyzer

// The place in which a thread sleeps, from the kernel's registers and its stack.
#include "instrument/sampling/sleep_places.hpp"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <thread>

#include "instrument/machine/thread_tasks.hpp"

namespace ardoise::instrument {
namespace {

TEST(SleepPlaces, RegistersAreTheLastNumbersOfTheText) {
  EXPECT_EQ(sleep_registers("230 0x0 0x0 0x7ffd518a4570 0x0 0x0 0x0 0x7ffd518a4540 0x7fdfb265a2ad\n"),
            (SleepRegisters{0x7ffd518a4540, 0x7fdfb265a2ad}));
  EXPECT_EQ(sleep_registers("-1 0x7ffd518a4540 0x7fdfb265a2ad\n"), (SleepRegisters{0x7ffd518a4540, 0x7fdfb265a2ad}));
  for (const char* text : {"", "running\n", "0x1", "12 34"}) EXPECT_EQ(sleep_registers(text), SleepRegisters{}) << text;
}

TEST(SleepPlaces, TheSystemsFramesAreNotThePlace) {
  SleepPlaces places(own_tid());
  EXPECT_FALSE(places.most());
  const auto in_system = reinterpret_cast<std::uint64_t>(&::gnu_get_libc_version);
  const auto a = reinterpret_cast<std::uint64_t>(&sleep_registers), b = a + 16;
  const std::array<std::uint64_t, 3> first{in_system, a, b}, second{in_system, b, a};
  for (int i = 0; i < 3; ++i) places.note(first);
  for (int i = 0; i < 5; ++i) places.note(second);
  ASSERT_TRUE(places.most());
  EXPECT_EQ(places.most()->callers, (std::array<std::uint64_t, 4>{b, a, 0, 0}));
  EXPECT_EQ(places.most()->looks, 5u);
  const std::array<std::uint64_t, 1> alone{in_system};
  for (int i = 0; i < 9; ++i) places.note(alone);
  EXPECT_EQ(places.most()->looks, 5u) << "no frame of the program";
  places.note(std::array<std::uint64_t, 2>{1, a});
  EXPECT_EQ(places.most()->looks, 5u);
  for (int i = 0; i < 3; ++i) places.note(std::array<std::uint64_t, 2>{1, a});
  EXPECT_EQ(places.most()->callers[0], a) << "code that no loaded object has, as that of a just-in-time compiler";
  EXPECT_EQ(places.most()->looks, 7u);
  // More stacks than there is room for.
  for (std::uint64_t i = 0; i < 100; ++i) places.note(std::array<std::uint64_t, 2>{i, in_system});
  EXPECT_EQ(places.most()->looks, 7u);
}

[[gnu::noinline]] void await(sem_t& semaphore) {
  while (::sem_wait(&semaphore) != 0) continue;
  asm volatile("");  // no tail call
}

TEST(SleepPlaces, AStackIsReadWhileItsThreadSleeps) {
  std::ifstream restriction("/proc/sys/kernel/yama/ptrace_scope");
  if (int scope = 0; restriction >> scope && scope != 0) GTEST_SKIP() << "not allowed on this machine";
  sem_t semaphore;
  ASSERT_EQ(::sem_init(&semaphore, 0, 0), 0);
  std::atomic<std::uint32_t> tid = 0;
  std::jthread sleeper([&] {
    tid.store(own_tid());
    tid.notify_one();
    await(semaphore);
  });
  tid.wait(0);
  SleepPlaces places(tid.load());
  for (int i = 0; i < 200; ++i) {
    ::usleep(1000);
    places.look();
  }
  ::sem_post(&semaphore);
  const auto begin = reinterpret_cast<std::uint64_t>(&await);
  const auto place = places.most();
  ASSERT_TRUE(place);
  EXPECT_GE(place->looks, 100u);
  // A sanitizer's own functions may be in between.
  EXPECT_TRUE(std::ranges::any_of(place->callers, [&](std::uint64_t each) { return each - begin < 256; }));
}

}  // namespace
}  // namespace ardoise::instrument

// Tests with two users: the actions of another user, or of a user who is not root. Only root can run them; others skip
// (SKIP_UNLESS_ROOT).
#pragma once

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>

namespace ardoise {

inline constexpr uid_t kVictim = 61'001, kAttacker = 61'002;

// Runs `work`, which returns a bool, in a process of this user. Returns the exit status: 0: true; -1: it did not exit
// by itself.
int as_user(uid_t user, auto&& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool is_good = ::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0;
    try {
      is_good = is_good && work();
    } catch (const std::exception&) {
      is_good = false;
    }
    ::_exit(is_good ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace ardoise

#define SKIP_UNLESS_ROOT() \
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be two users"

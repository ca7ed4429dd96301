// Hooks of calls by which a program gives up rights: another user, fewer capabilities, a sandbox. The survivor has the
// program's memory and would keep the rights, so an attacker of the program could use them: it ends first.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>

#include "instrument/hooks/real_function.hpp"
#include "instrument/process/ending/survivor.hpp"

namespace ardoise::instrument {
namespace {

// A process without special rights changes nothing by such a call.
void before_other_user() noexcept {
  uid_t real = 0, effective = 0, saved = 0;
  if (::getresuid(&real, &effective, &saved) == 0 && real != 0 && real == effective && real == saved) return;
  end_survivor();
}

bool gives_up_rights(int option) noexcept {
  switch (option) {
    case PR_SET_NO_NEW_PRIVS:
    case PR_SET_SECCOMP:
    case PR_SET_SECUREBITS:
    case PR_CAPBSET_DROP:
    case PR_CAP_AMBIENT:
      return true;
    default:
      return false;
  }
}

}  // namespace

ARDOISE_HOOK(int, setuid, uid_t user) {
  before_other_user();
  return real_setuid(user);
}
ARDOISE_HOOK(int, seteuid, uid_t user) {
  before_other_user();
  return real_seteuid(user);
}
ARDOISE_HOOK(int, setreuid, uid_t real, uid_t effective) {
  before_other_user();
  return real_setreuid(real, effective);
}
ARDOISE_HOOK(int, setresuid, uid_t real, uid_t effective, uid_t saved) {
  before_other_user();
  return real_setresuid(real, effective, saved);
}
ARDOISE_HOOK(int, setfsuid, uid_t user) {
  before_other_user();
  return real_setfsuid(user);
}
ARDOISE_HOOK(int, setgid, gid_t group) {
  before_other_user();
  return real_setgid(group);
}
ARDOISE_HOOK(int, setegid, gid_t group) {
  before_other_user();
  return real_setegid(group);
}
ARDOISE_HOOK(int, setregid, gid_t real, gid_t effective) {
  before_other_user();
  return real_setregid(real, effective);
}
ARDOISE_HOOK(int, setresgid, gid_t real, gid_t effective, gid_t saved) {
  before_other_user();
  return real_setresgid(real, effective, saved);
}
ARDOISE_HOOK(int, setfsgid, gid_t group) {
  before_other_user();
  return real_setfsgid(group);
}
ARDOISE_HOOK(int, setgroups, std::size_t count, const gid_t* groups) {
  before_other_user();
  return real_setgroups(count, groups);
}
ARDOISE_HOOK(int, initgroups, const char* user, gid_t group) {
  before_other_user();
  return real_initgroups(user, group);
}
ARDOISE_HOOK_UNLESS_OWN(int, capset, cap_user_header_t header, const cap_user_data_t data) {
  end_survivor();
  return real_capset(header, data);
}
ARDOISE_HOOK_UNLESS_OWN(int, unshare, int flags) {
  end_survivor();
  return real_unshare(flags);
}
ARDOISE_HOOK_UNLESS_OWN(int, setns, int descriptor, int kind) {
  end_survivor();
  return real_setns(descriptor, kind);
}
ARDOISE_HOOK(int, chroot, const char* path) {
  end_survivor();
  return real_chroot(path);
}
// Variable arguments; the kernel takes four.
ARDOISE_HOOK(int, prctl, int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  if (gives_up_rights(option)) end_survivor();
  return real_prctl(option, a, b, c, d);
}

}  // namespace ardoise::instrument

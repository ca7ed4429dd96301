// Hooks of the system calls on descriptors: open to close, read and write in all forms, mmap. Their 64-bit and
// fortified spellings, which depend on how a program was compiled, are recorded under the plain name.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>

#include "instrument/hooks/posix_monitor.hpp"
#include "instrument/hooks/real_function.hpp"

namespace ardoise::instrument {
namespace {

#define ARDOISE_CALLER __builtin_return_address(0)

bool takes_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

template <class Open>
int record_open(const void* caller, const char* path, Open&& open) {
  PosixCall call(PosixFunction::kOpen, caller);
  const int descriptor = open();
  call.opened_descriptor(descriptor, path);
  return call.end(descriptor);
}

template <class Move>
auto record_transfer(PosixFunction function, const void* caller, int descriptor, Move&& move) {
  PosixCall call(function, caller);
  call.on_descriptor(descriptor);
  return call.end_with_bytes(move());
}

template <class Move>
auto record_transfer_at(PosixFunction function, const void* caller, int descriptor, off_t offset, Move&& move) {
  PosixCall call(function, caller);
  call.on_descriptor(descriptor);
  call.at(offset);
  return call.end_with_bytes(move());
}

// The written end is a separate call without time.
template <class Move>
[[gnu::always_inline]] inline ssize_t record_copy(PosixFunction reads, PosixFunction writes, const void* caller,
                                                  int from, int to, Move&& move) {
  const ssize_t moved = record_transfer(reads, caller, from, move);
  if (moved > 0) (void)record_transfer(writes, caller, to, [=] { return moved; });
  return moved;
}

template <class Act>
auto record_other(PosixFunction function, const void* caller, int descriptor, Act&& act) {
  PosixCall call(function, caller);
  call.on_descriptor(descriptor);
  return call.end(act());
}

}  // namespace

// ---- open and close

#define ARDOISE_OPEN_HOOK(name)                                                                     \
  ARDOISE_HOOK(int, name, const char* path, int flags, ...) {                                       \
    mode_t mode = 0;                                                                                \
    if (takes_mode(flags)) {                                                                        \
      va_list rest;                                                                                 \
      va_start(rest, flags);                                                                        \
      mode = va_arg(rest, mode_t);                                                                  \
      va_end(rest);                                                                                 \
    }                                                                                               \
    return record_open(ARDOISE_CALLER, path, [=] { return real_##name.get()(path, flags, mode); }); \
  }
ARDOISE_OPEN_HOOK(open)
ARDOISE_OPEN_HOOK(open64)

#define ARDOISE_OPENAT_HOOK(name)                                                                              \
  ARDOISE_HOOK(int, name, int directory, const char* path, int flags, ...) {                                   \
    mode_t mode = 0;                                                                                           \
    if (takes_mode(flags)) {                                                                                   \
      va_list rest;                                                                                            \
      va_start(rest, flags);                                                                                   \
      mode = va_arg(rest, mode_t);                                                                             \
      va_end(rest);                                                                                            \
    }                                                                                                          \
    return record_open(ARDOISE_CALLER, path, [=] { return real_##name.get()(directory, path, flags, mode); }); \
  }
ARDOISE_OPENAT_HOOK(openat)
ARDOISE_OPENAT_HOOK(openat64)

ARDOISE_HOOK(int, __open_2, const char* path, int flags) {
  return record_open(ARDOISE_CALLER, path, [=] { return real___open_2(path, flags); });
}
ARDOISE_HOOK(int, __open64_2, const char* path, int flags) {
  return record_open(ARDOISE_CALLER, path, [=] { return real___open64_2(path, flags); });
}
ARDOISE_HOOK(int, __openat_2, int directory, const char* path, int flags) {
  return record_open(ARDOISE_CALLER, path, [=] { return real___openat_2(directory, path, flags); });
}
ARDOISE_HOOK(int, __openat64_2, int directory, const char* path, int flags) {
  return record_open(ARDOISE_CALLER, path, [=] { return real___openat64_2(directory, path, flags); });
}
ARDOISE_HOOK_UNLESS_OWN(int, creat, const char* path, mode_t mode) {
  return record_open(ARDOISE_CALLER, path, [=] { return real_creat(path, mode); });
}
ARDOISE_HOOK(int, creat64, const char* path, mode_t mode) {
  return record_open(ARDOISE_CALLER, path, [=] { return real_creat64(path, mode); });
}
ARDOISE_HOOK(int, close, int descriptor) {
  PosixCall call(PosixFunction::kClose, ARDOISE_CALLER);
  call.on_descriptor(descriptor);
  const int result = real_close(descriptor);
  forget_descriptor(descriptor);
  return call.end(result);
}

// Not recorded: they only change the file of a descriptor.
ARDOISE_HOOK(int, dup2, int from, int to) {
  const int result = real_dup2(from, to);
  if (from != to) forget_descriptor(result);
  return result;
}
ARDOISE_HOOK(int, dup3, int from, int to, int flags) {
  const int result = real_dup3(from, to, flags);
  forget_descriptor(result);
  return result;
}
ARDOISE_HOOK_UNLESS_OWN(int, dup, int from) {
  const int result = real_dup(from);
  forget_descriptor(result);
  return result;
}

// ---- reading and writing

ARDOISE_HOOK(ssize_t, read, int descriptor, void* buffer, size_t bytes) {
  return record_transfer(PosixFunction::kRead, ARDOISE_CALLER, descriptor,
                         [=] { return real_read(descriptor, buffer, bytes); });
}
ARDOISE_HOOK(ssize_t, __read_chk, int descriptor, void* buffer, size_t bytes, size_t room) {
  return record_transfer(PosixFunction::kRead, ARDOISE_CALLER, descriptor,
                         [=] { return real___read_chk(descriptor, buffer, bytes, room); });
}
ARDOISE_HOOK(ssize_t, write, int descriptor, const void* buffer, size_t bytes) {
  return record_transfer(PosixFunction::kWrite, ARDOISE_CALLER, descriptor,
                         [=] { return real_write(descriptor, buffer, bytes); });
}

#define ARDOISE_PREAD_HOOK(name)                                                               \
  ARDOISE_HOOK(ssize_t, name, int descriptor, void* buffer, size_t bytes, off_t offset) {      \
    return record_transfer_at(PosixFunction::kPread, ARDOISE_CALLER, descriptor, offset,       \
                              [=] { return real_##name(descriptor, buffer, bytes, offset); }); \
  }
#define ARDOISE_PREAD_CHK_HOOK(name)                                                                   \
  ARDOISE_HOOK(ssize_t, name, int descriptor, void* buffer, size_t bytes, off_t offset, size_t room) { \
    return record_transfer_at(PosixFunction::kPread, ARDOISE_CALLER, descriptor, offset,               \
                              [=] { return real_##name(descriptor, buffer, bytes, offset, room); });   \
  }
#define ARDOISE_PWRITE_HOOK(name)                                                               \
  ARDOISE_HOOK(ssize_t, name, int descriptor, const void* buffer, size_t bytes, off_t offset) { \
    return record_transfer_at(PosixFunction::kPwrite, ARDOISE_CALLER, descriptor, offset,       \
                              [=] { return real_##name(descriptor, buffer, bytes, offset); });  \
  }
#define ARDOISE_VECTOR_HOOK(name, function)                                        \
  ARDOISE_HOOK(ssize_t, name, int descriptor, const iovec* parts, int count) {     \
    return record_transfer(PosixFunction::function, ARDOISE_CALLER, descriptor,    \
                           [=] { return real_##name(descriptor, parts, count); }); \
  }
#define ARDOISE_VECTOR_AT_HOOK(name, function)                                                \
  ARDOISE_HOOK(ssize_t, name, int descriptor, const iovec* parts, int count, off_t offset) {  \
    return record_transfer_at(PosixFunction::function, ARDOISE_CALLER, descriptor, offset,    \
                              [=] { return real_##name(descriptor, parts, count, offset); }); \
  }
ARDOISE_PREAD_HOOK(pread)
ARDOISE_PREAD_HOOK(pread64)
ARDOISE_PREAD_CHK_HOOK(__pread_chk)
ARDOISE_PREAD_CHK_HOOK(__pread64_chk)
ARDOISE_PWRITE_HOOK(pwrite)
ARDOISE_PWRITE_HOOK(pwrite64)
ARDOISE_VECTOR_HOOK(readv, kReadv)
ARDOISE_VECTOR_HOOK(writev, kWritev)
ARDOISE_VECTOR_AT_HOOK(preadv, kPreadv)
ARDOISE_VECTOR_AT_HOOK(preadv64, kPreadv)
ARDOISE_VECTOR_AT_HOOK(pwritev, kPwritev)
ARDOISE_VECTOR_AT_HOOK(pwritev64, kPwritev)

#define ARDOISE_SENDFILE_HOOK(name)                                                                    \
  ARDOISE_HOOK(ssize_t, name, int to, int from, off_t* offset, size_t bytes) {                         \
    return record_copy(PosixFunction::kSendfile, PosixFunction::kSendfileTo, ARDOISE_CALLER, from, to, \
                       [=] { return real_##name(to, from, offset, bytes); });                          \
  }
ARDOISE_SENDFILE_HOOK(sendfile)
ARDOISE_SENDFILE_HOOK(sendfile64)
ARDOISE_HOOK(ssize_t, copy_file_range, int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes,
             unsigned flags) {
  return record_copy(PosixFunction::kCopyFileRange, PosixFunction::kCopyFileRangeTo, ARDOISE_CALLER, from, to,
                     [=] { return real_copy_file_range(from, from_offset, to, to_offset, bytes, flags); });
}
// No hook of splice(): it would replace a function of this name in a library of the program.

// ---- positions, sizes, durability

#define ARDOISE_LSEEK_HOOK(name)                                        \
  ARDOISE_HOOK(off_t, name, int descriptor, off_t offset, int whence) { \
    PosixCall call(PosixFunction::kLseek, ARDOISE_CALLER);              \
    call.on_descriptor(descriptor);                                     \
    const off_t position = real_##name(descriptor, offset, whence);     \
    call.moved_to(position);                                            \
    return call.end(position);                                          \
  }
#define ARDOISE_TRUNCATE_HOOK(name)                                            \
  ARDOISE_HOOK(int, name, int descriptor, off_t length) {                      \
    return record_other(PosixFunction::kFtruncate, ARDOISE_CALLER, descriptor, \
                        [=] { return real_##name(descriptor, length); });      \
  }
ARDOISE_LSEEK_HOOK(lseek)
ARDOISE_LSEEK_HOOK(lseek64)
ARDOISE_TRUNCATE_HOOK(ftruncate)
ARDOISE_TRUNCATE_HOOK(ftruncate64)

ARDOISE_HOOK(int, fsync, int descriptor) {
  return record_other(PosixFunction::kFsync, ARDOISE_CALLER, descriptor, [=] { return real_fsync(descriptor); });
}
ARDOISE_HOOK(int, fdatasync, int descriptor) {
  return record_other(PosixFunction::kFdatasync, ARDOISE_CALLER, descriptor,
                      [=] { return real_fdatasync(descriptor); });
}

// ---- mapping of files; anonymous memory is not recorded

namespace {

// dlsym() may allocate, and an allocator that calls this hook of mmap() would recurse for ever.
template <class Real>
void* map(const Real& real, void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  static thread_local bool looking_up [[gnu::tls_model("initial-exec")]] = false;
  if (looking_up) {
    return reinterpret_cast<void*>(::syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset));
  }
  looking_up = true;
  const auto function = real.get();
  looking_up = false;
  return function(address, bytes, protection, flags, descriptor, offset);
}

template <class Real>
void* record_map(const Real& real, const void* caller, void* address, size_t bytes, int protection, int flags,
                 int descriptor, off_t offset) {
  if (descriptor < 0 || (flags & MAP_ANONYMOUS) != 0) {
    return map(real, address, bytes, protection, flags, descriptor, offset);
  }
  PosixCall call(PosixFunction::kMmap, caller);
  call.on_descriptor(descriptor);
  void* const mapped = map(real, address, bytes, protection, flags, descriptor, offset);
  call.record(mapped == MAP_FAILED ? 0 : bytes, mapped == MAP_FAILED);
  return mapped;
}

}  // namespace

ARDOISE_HOOK(void*, mmap, void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  return record_map(real_mmap, ARDOISE_CALLER, address, bytes, protection, flags, descriptor, offset);
}
ARDOISE_HOOK(void*, mmap64, void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  return record_map(real_mmap64, ARDOISE_CALLER, address, bytes, protection, flags, descriptor, offset);
}
ARDOISE_HOOK(int, msync, void* address, size_t bytes, int flags) {
  PosixCall call(PosixFunction::kMsync, ARDOISE_CALLER);
  return call.end(real_msync(address, bytes, flags));
}

}  // namespace ardoise::instrument

// Hooks of stdio. glibc's streams read and write inside libc, past the hooks of read() and write(), so bytes are
// counted at the calls of the program. Single characters (getc, putc, putchar, ungetc) and scanf are not hooked:
// docs/internals/instrument.md.
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "instrument/hooks/posix_monitor.hpp"
#include "instrument/hooks/real_function.hpp"

namespace ardoise::instrument {
namespace {

#define ARDOISE_CALLER __builtin_return_address(0)

template <class Open>
std::FILE* record_open(PosixFunction function, const void* caller, const char* path, Open&& open) {
  PosixCall call(function, caller);
  std::FILE* const stream = open();
  call.opened_stream(stream, path);
  call.record(0, stream == nullptr);
  return stream;
}

// move() returns items of `size` bytes.
template <class Move>
size_t record_items(PosixFunction function, const void* caller, std::FILE* stream, size_t size, size_t wanted,
                    Move&& move) {
  PosixCall call(function, caller);
  call.on_stream(stream);
  const size_t items = move();
  call.record(std::uint64_t{size} * items, items < wanted && std::ferror(stream) != 0);
  return items;
}

// act() returns a negative value on failure.
template <class Act>
auto record_other(PosixFunction function, const void* caller, std::FILE* stream, Act&& act) {
  PosixCall call(function, caller);
  call.on_stream(stream);
  return call.end(act());
}

template <class Seek>
int record_seek(const void* caller, std::FILE* stream, Seek&& seek) {
  PosixCall call(PosixFunction::kFseek, caller);
  call.on_stream(stream);
  const int result = seek();
  if (result == 0) call.moved_to(::ftello(stream));
  return call.end(result);
}

template <class Act>
auto record_transfer(PosixFunction function, const void* caller, std::FILE* stream, Act&& act) {
  PosixCall call(function, caller);
  call.on_stream(stream);
  return call.end_with_bytes(act());
}

template <class Get>
char* record_gets(const void* caller, std::FILE* stream, Get&& get) {
  PosixCall call(PosixFunction::kFgets, caller);
  call.on_stream(stream);
  char* const line = get();
  call.record(line == nullptr ? 0 : std::strlen(line), line == nullptr && std::ferror(stream) != 0);
  return line;
}

template <class Put>
int record_puts(const void* caller, std::FILE* stream, size_t bytes, Put&& put) {
  PosixCall call(PosixFunction::kFputs, caller);
  call.on_stream(stream);
  const int result = put();
  call.record(result < 0 ? 0 : bytes, result < 0);
  return result;
}

}  // namespace

// ---- open and close

ARDOISE_HOOK(std::FILE*, fopen, const char* path, const char* mode) {
  return record_open(PosixFunction::kFopen, ARDOISE_CALLER, path, [=] { return real_fopen(path, mode); });
}
ARDOISE_HOOK(std::FILE*, fopen64, const char* path, const char* mode) {
  return record_open(PosixFunction::kFopen, ARDOISE_CALLER, path, [=] { return real_fopen64(path, mode); });
}
ARDOISE_HOOK(std::FILE*, fdopen, int descriptor, const char* mode) {
  return record_open(PosixFunction::kFdopen, ARDOISE_CALLER, nullptr, [=] { return real_fdopen(descriptor, mode); });
}
ARDOISE_HOOK(std::FILE*, freopen, const char* path, const char* mode, std::FILE* stream) {
  const int before = descriptor_of(stream);
  std::FILE* const result =
      record_open(PosixFunction::kFreopen, ARDOISE_CALLER, path, [=] { return real_freopen(path, mode, stream); });
  if (result == nullptr || descriptor_of(result) != before) forget_descriptor(before);
  return result;
}
ARDOISE_HOOK(std::FILE*, freopen64, const char* path, const char* mode, std::FILE* stream) {
  const int before = descriptor_of(stream);
  std::FILE* const result =
      record_open(PosixFunction::kFreopen, ARDOISE_CALLER, path, [=] { return real_freopen64(path, mode, stream); });
  if (result == nullptr || descriptor_of(result) != before) forget_descriptor(before);
  return result;
}
ARDOISE_HOOK(int, fclose, std::FILE* stream) {
  PosixCall call(PosixFunction::kFclose, ARDOISE_CALLER);
  call.on_stream(stream);
  const int descriptor = descriptor_of(stream);
  const int result = real_fclose(stream);
  forget_descriptor(descriptor);
  return call.end(result);
}

// ---- blocks

#define ARDOISE_READ_HOOK(name)                                                            \
  ARDOISE_HOOK(size_t, name, void* buffer, size_t size, size_t items, std::FILE* stream) { \
    return record_items(PosixFunction::kFread, ARDOISE_CALLER, stream, size, items,        \
                        [=] { return real_##name(buffer, size, items, stream); });         \
  }
#define ARDOISE_READ_CHK_HOOK(name)                                                                     \
  ARDOISE_HOOK(size_t, name, void* buffer, size_t room, size_t size, size_t items, std::FILE* stream) { \
    return record_items(PosixFunction::kFread, ARDOISE_CALLER, stream, size, items,                     \
                        [=] { return real_##name(buffer, room, size, items, stream); });                \
  }
#define ARDOISE_WRITE_HOOK(name)                                                                 \
  ARDOISE_HOOK(size_t, name, const void* buffer, size_t size, size_t items, std::FILE* stream) { \
    return record_items(PosixFunction::kFwrite, ARDOISE_CALLER, stream, size, items,             \
                        [=] { return real_##name(buffer, size, items, stream); });               \
  }
ARDOISE_READ_HOOK(fread)
ARDOISE_READ_HOOK(fread_unlocked)
ARDOISE_READ_CHK_HOOK(__fread_chk)
ARDOISE_READ_CHK_HOOK(__fread_unlocked_chk)
ARDOISE_WRITE_HOOK(fwrite)
ARDOISE_WRITE_HOOK(fwrite_unlocked)

// ---- lines

ARDOISE_HOOK(char*, fgets, char* buffer, int room, std::FILE* stream) {
  return record_gets(ARDOISE_CALLER, stream, [=] { return real_fgets(buffer, room, stream); });
}
ARDOISE_HOOK(char*, fgets_unlocked, char* buffer, int room, std::FILE* stream) {
  return record_gets(ARDOISE_CALLER, stream, [=] { return real_fgets_unlocked(buffer, room, stream); });
}
ARDOISE_HOOK(char*, __fgets_chk, char* buffer, size_t size, int room, std::FILE* stream) {
  return record_gets(ARDOISE_CALLER, stream, [=] { return real___fgets_chk(buffer, size, room, stream); });
}
ARDOISE_HOOK(char*, __fgets_unlocked_chk, char* buffer, size_t size, int room, std::FILE* stream) {
  return record_gets(ARDOISE_CALLER, stream, [=] { return real___fgets_unlocked_chk(buffer, size, room, stream); });
}
ARDOISE_HOOK_UNLESS_OWN(ssize_t, getline, char** line, size_t* room, std::FILE* stream) {
  return record_transfer(PosixFunction::kGetline, ARDOISE_CALLER, stream,
                         [=] { return real_getline(line, room, stream); });
}
ARDOISE_HOOK_UNLESS_OWN(ssize_t, getdelim, char** line, size_t* room, int end, std::FILE* stream) {
  return record_transfer(PosixFunction::kGetline, ARDOISE_CALLER, stream,
                         [=] { return real_getdelim(line, room, end, stream); });
}
ARDOISE_HOOK(ssize_t, __getdelim, char** line, size_t* room, int end, std::FILE* stream) {
  return record_transfer(PosixFunction::kGetline, ARDOISE_CALLER, stream,
                         [=] { return real___getdelim(line, room, end, stream); });
}
ARDOISE_HOOK(int, fputs, const char* text, std::FILE* stream) {
  return record_puts(ARDOISE_CALLER, stream, std::strlen(text), [=] { return real_fputs(text, stream); });
}
ARDOISE_HOOK(int, fputs_unlocked, const char* text, std::FILE* stream) {
  return record_puts(ARDOISE_CALLER, stream, std::strlen(text), [=] { return real_fputs_unlocked(text, stream); });
}
ARDOISE_HOOK(int, puts, const char* text) {
  return record_puts(ARDOISE_CALLER, stdout, std::strlen(text) + 1, [=] { return real_puts(text); });
}

// ---- positions, flushing

ARDOISE_HOOK(int, fflush, std::FILE* stream) {
  return record_other(PosixFunction::kFflush, ARDOISE_CALLER, stream, [=] { return real_fflush(stream); });
}
ARDOISE_HOOK(int, fseek, std::FILE* stream, long offset, int whence) {
  return record_seek(ARDOISE_CALLER, stream, [=] { return real_fseek(stream, offset, whence); });
}
ARDOISE_HOOK(int, fseeko, std::FILE* stream, off_t offset, int whence) {
  return record_seek(ARDOISE_CALLER, stream, [=] { return real_fseeko(stream, offset, whence); });
}
ARDOISE_HOOK(int, fseeko64, std::FILE* stream, off_t offset, int whence) {
  return record_seek(ARDOISE_CALLER, stream, [=] { return real_fseeko64(stream, offset, whence); });
}

}  // namespace ardoise::instrument

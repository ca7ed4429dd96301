#include "tools/replay/scratch_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ardoise::replay {

ScratchFile::ScratchFile(const std::filesystem::path& folder) : folder_(folder) {
  std::string name = (folder / "ardoise-replay-XXXXXX").string();
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0)
    throw ReplayError(
        fmt::format("cannot create a file in '{}': {} (--scratch)", folder.string(), std::strerror(errno)));
  ::unlink(name.c_str());
  void* const base = ::mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (base == MAP_FAILED) {
    ::close(descriptor_);
    throw ReplayError(
        fmt::format("a file in '{}' cannot be used as memory: {}", folder.string(), std::strerror(errno)));
  }
  base_ = static_cast<std::byte*>(base);
}

ScratchFile::~ScratchFile() {
  ::munmap(base_, kMost);
  ::close(descriptor_);
}

void ScratchFile::grow(std::uint64_t bytes) {
  const std::uint64_t more = std::max((bytes + kStep - 1) / kStep * kStep, kStep);
  // Allocates the space, so that writing into memory cannot fail.
  const int error = room_ + more > kMost
                        ? EFBIG
                        : ::posix_fallocate(descriptor_, static_cast<off_t>(room_), static_cast<off_t>(more));
  if (error != 0)
    throw ReplayError(
        fmt::format("no space for prepared calls in '{}' ({} MiB so far): {}; choose another folder with --scratch",
                    folder_.string(), size_ >> 20, std::strerror(error)));
  room_ += more;
}

std::uint64_t ScratchFile::append(const void* data, std::size_t bytes) {
  const std::uint64_t place = size_;
  const std::uint64_t end = (place + bytes + 7) / 8 * 8;
  if (end > room_) grow(end - room_);
  std::memcpy(base_ + place, data, bytes);
  size_ = end;
  return place;
}

}  // namespace ardoise::replay

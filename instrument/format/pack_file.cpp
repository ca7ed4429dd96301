#include "instrument/format/pack_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ardoise::instrument {

PackFile read_pack_file(const std::filesystem::path& path) {
  // O_NONBLOCK: does not wait for a writer of a FIFO.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  return read_pack_file(path, descriptor < 0 ? -errno : descriptor);
}

PackFile read_pack_file(const std::filesystem::path& path, int descriptor) {
  PackFile file;
  const auto fail = [&](const char* what, const char* why) {
    file.storage.clear();
    file.size = 0;
    file.error = fmt::format("{} {}: {}.", what, path.string(), why);
    return file;
  };
  if (descriptor < 0) return fail("Cannot open the pack file", std::strerror(-descriptor));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return fail("Cannot read the pack file", "it is not a regular file");
  }
  file.size = static_cast<std::size_t>(status.st_size);
  file.storage.resize((file.size + 7) / 8);
  std::size_t done = 0;
  while (done < file.size) {
    const auto got = ::read(descriptor, reinterpret_cast<char*>(file.storage.data()) + done, file.size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const int code = got == 0 ? EIO : errno;
      ::close(descriptor);
      return fail("Cannot read the pack file", std::strerror(code));
    }
    done += static_cast<std::size_t>(got);
  }
  ::close(descriptor);
  return file;
}

namespace {

int make_new(const std::filesystem::path& path) {
  ::unlink(path.c_str());
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

}  // namespace

PackFileWriter::PackFileWriter(const std::filesystem::path& path) : descriptor_(make_new(path)) {}

PackFileWriter::~PackFileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool PackFileWriter::write(std::span<const std::byte> pack) {
  while (descriptor_ >= 0 && !pack.empty()) {
    const auto written = ::write(descriptor_, pack.data(), pack.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ::close(descriptor_);
      descriptor_ = -1;
      break;
    }
    pack = pack.subspan(static_cast<std::size_t>(written));
  }
  return descriptor_ >= 0;
}

std::optional<PackView> PackSequence::next() {
  if (rest_.empty() || !error_.empty()) return std::nullopt;
  PackCheck check = check_pack(rest_);
  if (!check) {
    error_ = std::move(check.error);
    return std::nullopt;
  }
  const std::size_t bytes = check.pack->bytes();
  if (bytes % 8 != 0) {
    error_ = fmt::format("A pack of {} bytes cannot be followed by another one.", bytes);
    return std::nullopt;
  }
  rest_ = rest_.subspan(bytes);
  return check.pack;
}

}  // namespace ardoise::instrument

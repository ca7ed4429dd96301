// See replay_files.hpp.
#include "tools/replay/replay_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ardoise::replay {

using vmpi::ArgumentKind;
using vmpi::FunctionId;

namespace {

constexpr std::int64_t kPiece = 1 << 20;

}  // namespace

ReplayFiles::~ReplayFiles() {
  for (const auto& [handle, file] : posix_) {
    if (file.descriptor >= 0) ::close(file.descriptor);
  }
}

void ReplayFiles::open(const CallShape& shape, const Lists&, ReplayComms& comms) {
  const MPI_Comm comm = comms.get(shape.comm);
  const std::string path = (scratch_ / fmt::format("ardoise-replay-file-{}", shape.object)).string();
  MPI_File file = MPI_FILE_NULL;
  const int error = MPI_File_open(comm, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                  MPI_INFO_NULL, &file);
  if (error != MPI_SUCCESS)
    throw ReplayError(fmt::format("'{}' cannot be opened: all hosts must share the folder of --scratch", path));
  const std::lock_guard guard(lock_);
  files_.insert_or_assign(shape.object, file);
}

void ReplayFiles::play(const CallShape& shape, const Lists& lists, const ReplayTypes& types, ReplayComms& comms,
                       void* buffer, MPI_Request* request) {
  const auto function = static_cast<FunctionId>(shape.function);
  if (function == FunctionId::kFile_open) return open(shape, lists, comms);
  MPI_File file = MPI_FILE_NULL;
  {
    const std::lock_guard guard(lock_);
    const auto found = files_.find(shape.object);
    if (found == files_.end()) return;
    file = found->second;
    if (function == FunctionId::kFile_close) files_.erase(found);
  }
  const auto offsets = lists.find(list_of(ArgumentKind::kOffset));
  const auto integers = lists.find(list_of(ArgumentKind::kInteger));
  const MPI_Offset offset = offsets.empty() ? 0 : static_cast<MPI_Offset>(offsets[0]);
  const auto count = static_cast<int>(shape.count);
  const MPI_Datatype type = types[shape.type].handle;
  MPI_Status status;
  switch (function) {
#define ARDOISE_FILE(name, ...)         \
  case FunctionId::kFile_##name:        \
    MPI_File_##name(file, __VA_ARGS__); \
    return;
    ARDOISE_FILE(read, buffer, count, type, &status)
    ARDOISE_FILE(read_all, buffer, count, type, &status)
    ARDOISE_FILE(read_at, offset, buffer, count, type, &status)
    ARDOISE_FILE(read_at_all, offset, buffer, count, type, &status)
    ARDOISE_FILE(read_shared, buffer, count, type, &status)
    ARDOISE_FILE(read_ordered, buffer, count, type, &status)
    ARDOISE_FILE(write, buffer, count, type, &status)
    ARDOISE_FILE(write_all, buffer, count, type, &status)
    ARDOISE_FILE(write_at, offset, buffer, count, type, &status)
    ARDOISE_FILE(write_at_all, offset, buffer, count, type, &status)
    ARDOISE_FILE(write_shared, buffer, count, type, &status)
    ARDOISE_FILE(write_ordered, buffer, count, type, &status)
    ARDOISE_FILE(iread, buffer, count, type, request)
    ARDOISE_FILE(iread_all, buffer, count, type, request)
    ARDOISE_FILE(iread_at, offset, buffer, count, type, request)
    ARDOISE_FILE(iread_at_all, offset, buffer, count, type, request)
    ARDOISE_FILE(iread_shared, buffer, count, type, request)
    ARDOISE_FILE(iwrite, buffer, count, type, request)
    ARDOISE_FILE(iwrite_all, buffer, count, type, request)
    ARDOISE_FILE(iwrite_at, offset, buffer, count, type, request)
    ARDOISE_FILE(iwrite_at_all, offset, buffer, count, type, request)
    ARDOISE_FILE(iwrite_shared, buffer, count, type, request)
    ARDOISE_FILE(read_all_begin, buffer, count, type)
    ARDOISE_FILE(read_all_end, buffer, &status)
    ARDOISE_FILE(read_at_all_begin, offset, buffer, count, type)
    ARDOISE_FILE(read_at_all_end, buffer, &status)
    ARDOISE_FILE(read_ordered_begin, buffer, count, type)
    ARDOISE_FILE(read_ordered_end, buffer, &status)
    ARDOISE_FILE(write_all_begin, buffer, count, type)
    ARDOISE_FILE(write_all_end, buffer, &status)
    ARDOISE_FILE(write_at_all_begin, offset, buffer, count, type)
    ARDOISE_FILE(write_at_all_end, buffer, &status)
    ARDOISE_FILE(write_ordered_begin, buffer, count, type)
    ARDOISE_FILE(write_ordered_end, buffer, &status)
    ARDOISE_FILE(preallocate, offset)
    ARDOISE_FILE(set_size, offset)
#undef ARDOISE_FILE
    case FunctionId::kFile_seek:
      MPI_File_seek(file, offset, integers.empty() ? MPI_SEEK_SET : static_cast<int>(integers[0]));
      return;
    case FunctionId::kFile_seek_shared:
      MPI_File_seek_shared(file, offset, integers.empty() ? MPI_SEEK_SET : static_cast<int>(integers[0]));
      return;
    case FunctionId::kFile_set_view:
      MPI_File_set_view(file, offset, types[shape.other_type].handle, types[shape.receive_type].handle, "native",
                        MPI_INFO_NULL);
      return;
    case FunctionId::kFile_set_atomicity:
      MPI_File_set_atomicity(file, integers.empty() ? 0 : static_cast<int>(integers[0]));
      return;
    case FunctionId::kFile_sync:
      MPI_File_sync(file);
      return;
    case FunctionId::kFile_close:
      MPI_File_close(&file);
      return;
    default:
      return;
  }
}

ReplayFiles::Posix& ReplayFiles::posix(std::uint32_t handle) {
  Posix& file = posix_[handle];
  if (file.descriptor >= 0) return file;
  const auto* const known = world_.definitions().handles.find(handle);
  const bool is_standard = known != nullptr && known->name.starts_with("(standard");
  if (is_standard) {
    file.descriptor = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  } else {
    std::string name = (scratch_ / "ardoise-replay-XXXXXX").string();
    file.descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (file.descriptor >= 0) ::unlink(name.c_str());
  }
  if (file.descriptor < 0)
    throw ReplayError(
        fmt::format("no file can be made in '{}': {} (--scratch)", scratch_.string(), std::strerror(errno)));
  return file;
}

void ReplayFiles::play_posix(const CallShape& shape) {
  const std::lock_guard guard(lock_);
  Posix& file = posix(shape.object);
  if (shape.function == kFileFlushCall) {
    (void)::fdatasync(file.descriptor);
    return;
  }
  buffer_.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(shape.count, 1, kPiece)));
  const bool reads = shape.function == kFileReadCall;
  if (reads && file.read_at + shape.count > file.size) {
    file.size = file.read_at + shape.count;
    if (::ftruncate(file.descriptor, file.size) != 0) errno = 0;  // of a device: it reads as nothing
  }
  for (std::int64_t left = shape.count; left > 0;) {
    const auto piece = static_cast<std::size_t>(std::min<std::int64_t>(left, kPiece));
    const ssize_t moved = reads ? ::pread(file.descriptor, buffer_.data(), piece, file.read_at)
                                : ::pwrite(file.descriptor, buffer_.data(), piece, file.size);
    if (moved <= 0 && !reads)
      throw ReplayError(
          fmt::format("writing in '{}': {} (--scratch names another folder)", scratch_.string(), std::strerror(errno)));
    if (moved <= 0) return;
    (reads ? file.read_at : file.size) += moved;
    left -= moved;
  }
}

}  // namespace ardoise::replay

#include "tools/replay/replay_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

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

std::string ReplayFiles::name_of(std::uint32_t object) const {
  return (shared_ / fmt::format("file-{}", object)).string();
}

void ReplayFiles::open(const CallShape& shape, ReplayComms& comms) {
  const MPI_Comm comm = comms.get(shape.comm);
  const std::string path = name_of(shape.object);
  Shared opened;
  const int error = MPI_File_open(comm, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &opened.file);
  if (error != MPI_SUCCESS)
    throw ReplayError(fmt::format("'{}' cannot be opened: all hosts must share the folder of --scratch", path));
  PMPI_Comm_size(comm, &opened.ranks);
  const std::lock_guard guard(lock_);
  files_.insert_or_assign(shape.object, opened);
}

void ReplayFiles::extend(const CallShape& shape, const Shared& file, MPI_Offset offset,
                         const ReplayTypes& types) const {
  const vmpi::FunctionTraits& traits = vmpi::kFunctionTraits[shape.function];
  const std::string_view name = traits.name;
  if (traits.role != vmpi::Role::kFileRead || name.ends_with("_end")) return;
  // The received size is unknown if the operation was not completed, or completed in another call.
  const bool is_known = shape.receive_count != 0 || !(name.starts_with("MPI_File_i") || name.ends_with("_begin"));
  const std::int64_t bytes = is_known ? shape.receive_count : shape.count * types[shape.type].size;
  if (bytes <= 0) return;
  MPI_Offset units = (bytes + file.etype_bytes - 1) / file.etype_bytes;
  if (name.find("_shared") != name.npos || name.find("_ordered") != name.npos) {
    PMPI_File_get_position_shared(file.file, &offset);
    units *= file.ranks;  // all may read before this one does
  } else if (name.find("_at") == name.npos) {
    PMPI_File_get_position(file.file, &offset);
  }
  MPI_Offset last = 0;  // etype, in bytes
  if (PMPI_File_get_byte_offset(file.file, offset + units - 1, &last) != MPI_SUCCESS) return;
  const MPI_Offset end = last + file.etype_bytes;
  // System calls are used because a tool that measures the replay does not count them for the program. A zero among
  // zeros is harmless to other writers.
  const long descriptor = ::syscall(SYS_openat, AT_FDCWD, name_of(shape.object).c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status {};
  const char zero = 0;
  if (::fstat(static_cast<int>(descriptor), &status) == 0 && status.st_size < end)
    (void)::syscall(SYS_pwrite64, descriptor, &zero, 1, end - 1);
  ::syscall(SYS_close, descriptor);
}

void ReplayFiles::play(const CallShape& shape, const Lists& lists, const ReplayTypes& types, ReplayComms& comms,
                       void* buffer, MPI_Request* request) {
  const auto function = static_cast<FunctionId>(shape.function);
  if (function == FunctionId::kFile_open) return open(shape, comms);
  Shared shared;
  {
    const std::lock_guard guard(lock_);
    const auto found = files_.find(shape.object);
    if (found == files_.end()) return;
    if (function == FunctionId::kFile_set_view)
      found->second.etype_bytes = std::max<std::int64_t>(types[shape.other_type].size, 1);
    shared = found->second;
    if (function == FunctionId::kFile_close) files_.erase(found);
  }
  MPI_File file = shared.file;
  const auto offsets = lists.find(list_of(ArgumentKind::kOffset));
  const auto integers = lists.find(list_of(ArgumentKind::kInteger));
  const MPI_Offset offset = offsets.empty() ? 0 : static_cast<MPI_Offset>(offsets[0]);
  const auto count = static_cast<int>(shape.count);
  const MPI_Datatype type = types[shape.type].handle;
  extend(shape, shared, offset, types);
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
        fmt::format("cannot create a file in '{}': {} (--scratch)", scratch_.string(), std::strerror(errno)));
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
      throw ReplayError(fmt::format("cannot write to '{}': {}; choose another folder with --scratch", scratch_.string(),
                                    std::strerror(errno)));
    if (moved <= 0) return;
    (reads ? file.read_at : file.size) += moved;
    left -= moved;
  }
}

}  // namespace ardoise::replay

#include "knowledge_sources/otf2/writer/otf2_archive.hpp"

#include <otf2/otf2.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "knowledge_sources/otf2/writer/trace_part.hpp"

struct OTF2_LockObject {
  std::mutex mutex;
};

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint64_t kDefinitionChunkBytes = std::uint64_t{256} << 10;

OTF2_FlushType before_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
// No post-flush function: it would add an event to the trace, as if the program had flushed.
constexpr OTF2_FlushCallbacks kFlush{before_flush, nullptr};

// One chunk for each location, written when full. By default OTF2 keeps up to 128 MiB of each.
struct Chunk {
  void* bytes = nullptr;
  bool is_used = false;
};
void* take_chunk(void*, OTF2_FileType, OTF2_LocationRef, void** of_buffer, std::uint64_t size) {
  auto* chunk = static_cast<Chunk*>(*of_buffer);
  if (chunk == nullptr) *of_buffer = chunk = new (std::nothrow) Chunk{std::malloc(size), false};
  if (chunk == nullptr || chunk->is_used) return nullptr;
  chunk->is_used = chunk->bytes != nullptr;
  return chunk->bytes;
}
void give_chunk(void*, OTF2_FileType, OTF2_LocationRef, void** of_buffer, bool is_last) {
  auto* const chunk = static_cast<Chunk*>(*of_buffer);
  if (chunk == nullptr) return;
  chunk->is_used = false;
  if (!is_last) return;
  std::free(chunk->bytes);
  delete chunk;
  *of_buffer = nullptr;
}
constexpr OTF2_MemoryCallbacks kMemory{take_chunk, give_chunk};

OTF2_CallbackCode create_lock(void*, OTF2_Lock* lock) {
  *lock = new OTF2_LockObject;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode destroy_lock(void*, OTF2_Lock lock) {
  delete lock;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode take_lock(void*, OTF2_Lock lock) {
  lock->mutex.lock();
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode give_lock(void*, OTF2_Lock lock) {
  lock->mutex.unlock();
  return OTF2_CALLBACK_SUCCESS;
}
constexpr OTF2_LockingCallbacks kLocks{nullptr, create_lock, destroy_lock, take_lock, give_lock};

std::string& error_of_thread() {
  static thread_local std::string error;
  return error;
}

OTF2_ErrorCode keep_error(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*,
                          std::va_list) {
  error_of_thread() = errno != 0 ? std::strerror(errno) : OTF2_Error_GetDescription(code);
  return code;
}

}  // namespace

OTF2_Archive* open_otf2_archive(const std::filesystem::path& folder) {
  OTF2_Error_RegisterCallback(keep_error, nullptr);
  OTF2_Archive* const archive = OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, TracePart::kChunkBytes,
                                                  kDefinitionChunkBytes, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive == nullptr) return nullptr;
  const bool is_good = OTF2_Archive_SetFlushCallbacks(archive, &kFlush, nullptr) == OTF2_SUCCESS &&
                       OTF2_Archive_SetMemoryCallbacks(archive, &kMemory, nullptr) == OTF2_SUCCESS &&
                       OTF2_Archive_SetLockingCallbacks(archive, &kLocks, nullptr) == OTF2_SUCCESS &&
                       OTF2_Archive_SetSerialCollectiveCallbacks(archive) == OTF2_SUCCESS &&
                       OTF2_Archive_OpenEvtFiles(archive) == OTF2_SUCCESS;
  if (is_good) return archive;
  OTF2_Archive_Close(archive);
  return nullptr;
}

void abandon_otf2_archive(OTF2_Archive* archive) {
  static std::mutex mutex;
  static auto& abandoned = *new std::vector<OTF2_Archive*>;  // visible to leak checkers
  const std::scoped_lock guard(mutex);
  abandoned.push_back(archive);
}

std::string fault_of_close(const std::function<OTF2_ErrorCode()>& close) {
  errno = 0;
  const OTF2_ErrorCode code = close();
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO) return std::strerror(errno);
  return code == OTF2_SUCCESS ? "" : OTF2_Error_GetDescription(code);
}

const std::string& last_otf2_error() { return error_of_thread(); }

}  // namespace ardoise::knowledge_sources

// Archives of other writers: by OTF2's own writer, piece by piece, with any faults.
#pragma once

#include <otf2/otf2.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace ardoise::replay {

class MadeArchive {
 public:
  explicit MadeArchive(const std::filesystem::path& folder) : folder_(folder) {
    std::filesystem::remove_all(folder);
    static const OTF2_FlushCallbacks kFlush{
        [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) -> OTF2_FlushType { return OTF2_FLUSH; }, nullptr};
    archive_ = OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                                 OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
    OTF2_Archive_SetCreator(archive_, "somebody else");
    OTF2_Archive_OpenEvtFiles(archive_);
  }
  ~MadeArchive() { (void)close(); }
  MadeArchive(const MadeArchive&) = delete;
  MadeArchive& operator=(const MadeArchive&) = delete;

  OTF2_EvtWriter* events(std::uint64_t location) { return OTF2_Archive_GetEvtWriter(archive_, location); }
  // Definitions of a location; after its events.
  void local(std::uint64_t location, const std::function<void(OTF2_DefWriter*)>& write = {}) {
    close_events();
    if (!has_def_files_) OTF2_Archive_OpenDefFiles(archive_);
    has_def_files_ = true;
    OTF2_DefWriter* const out = OTF2_Archive_GetDefWriter(archive_, location);
    if (write) write(out);
    OTF2_Archive_CloseDefWriter(archive_, out);
  }
  OTF2_GlobalDefWriter* global() {
    close_events();
    if (global_ == nullptr) {
      if (has_def_files_) OTF2_Archive_CloseDefFiles(archive_);
      global_ = OTF2_Archive_GetGlobalDefWriter(archive_);
    }
    return global_;
  }
  OTF2_StringRef string(const std::string& text) {
    const auto [found, is_new] = strings_.try_emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
    if (is_new) OTF2_GlobalDefWriter_WriteString(global(), found->second, text.c_str());
    return found->second;
  }
  void clock(std::uint64_t begin, std::uint64_t length) {
    OTF2_GlobalDefWriter_WriteClockProperties(global(), 1'000'000'000, begin, length, OTF2_UNDEFINED_TIMESTAMP);
  }
  // Ranks 0 … on one node, each with this many locations: rank · threads + thread. events: in each location.
  void processes(std::uint32_t ranks, std::uint64_t events, std::uint32_t threads = 1) {
    OTF2_GlobalDefWriter_WriteSystemTreeNode(global(), 0, string("host"), string("node"),
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    std::vector<std::uint64_t> members, indices;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      OTF2_GlobalDefWriter_WriteLocationGroup(global(), rank, string("MPI Rank " + std::to_string(rank)),
                                              OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
      for (std::uint32_t thread = 0; thread < threads; ++thread)
        OTF2_GlobalDefWriter_WriteLocation(
            global(), rank * threads + thread,
            string(thread == 0 ? "Master thread" : "OMP thread " + std::to_string(thread)),
            OTF2_LOCATION_TYPE_CPU_THREAD, events, rank);
      members.push_back(rank * threads);
      indices.push_back(rank);
    }
    OTF2_GlobalDefWriter_WriteGroup(global(), 0, string("MPI locations"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, ranks, members.data());
    OTF2_GlobalDefWriter_WriteGroup(global(), 1, string("world"), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, indices.data());
    OTF2_GlobalDefWriter_WriteComm(global(), 0, string("MPI_COMM_WORLD"), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  }
  void region(OTF2_RegionRef id, const std::string& name, OTF2_Paradigm paradigm = OTF2_PARADIGM_USER,
              OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION, const std::string& file = "", std::uint32_t line = 0) {
    OTF2_GlobalDefWriter_WriteRegion(global(), id, string(name), string(name), string(""), role, paradigm,
                                     OTF2_REGION_FLAG_NONE, file.empty() ? OTF2_UNDEFINED_STRING : string(file), line,
                                     line);
  }
  OTF2_Archive* archive() { return archive_; }
  // The folder, for readers.
  std::filesystem::path close() {
    if (archive_ == nullptr) return folder_;
    (void)global();
    OTF2_Archive_CloseGlobalDefWriter(archive_, global_);
    OTF2_Archive_Close(archive_);
    archive_ = nullptr;
    return folder_;
  }

 private:
  void close_events() {
    if (has_closed_events_) return;
    has_closed_events_ = true;
    OTF2_Archive_CloseEvtFiles(archive_);
  }

  std::filesystem::path folder_;
  OTF2_Archive* archive_ = nullptr;
  OTF2_GlobalDefWriter* global_ = nullptr;
  bool has_def_files_ = false, has_closed_events_ = false;
  std::map<std::string, OTF2_StringRef> strings_;
};

// A separate folder, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string unique = (std::filesystem::temp_directory_path() / "archive_XXXXXX").string();
    if (::mkdtemp(unique.data()) != nullptr) path_ = unique;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace ardoise::replay

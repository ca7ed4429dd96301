// Packs that a trace with last= or limit= may still contain: the packs of this analyzer as received, in files on disk,
// of which the oldest are removed. At the end the remaining packs become events (traces.cpp). Each file has at most an
// eighth of the limit, or a quarter of the time, so a little more is kept than requested.
//
//   packs ──▶ newest file … oldest file ──▶ removed, except for the times around a mark (keep=)
//
// Thread safe. A copy of the process (fork) must not use it, and leaves the files.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "instrument/format/pack_file.hpp"

namespace ardoise::knowledge_sources {

class PackRing {
 public:
  struct Limits {
    std::int64_t last_ns = 0;  // 0: all of the time
    std::uint64_t bytes = 0;   // 0: unlimited
  };
  // Records of a rank that were removed.
  struct Gone {
    std::uint64_t mpi = 0, posix = 0, samples = 0;                                  // by the ledger
    std::map<std::pair<std::uint32_t, instrument::PackClass>, std::uint64_t> next;  // orders, by thread and class
    void add(const Gone& other);
  };

  // folder: exists; complain: gets a sentence if a file cannot be read back; fail: called with the reason if one cannot
  // be written, and no packs are kept from then on.
  PackRing(std::filesystem::path folder, Limits limits, std::function<void(const std::string&)> complain,
           std::function<void(const std::string& reason)> fail);
  ~PackRing();  // removes the files
  PackRing(const PackRing&) = delete;
  PackRing& operator=(const PackRing&) = delete;

  // begin, end: its time, ns since MPI_Init.
  void add(const instrument::PackHeader& pack, std::int64_t begin, std::int64_t end);
  // Keeps packs around this time, as far as last= says in both directions.
  void keep_around(std::int64_t ns);

  // After the last add(). The completely kept times of each rank: begin and end.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> windows() const;
  // Records removed because of the limit.
  [[nodiscard]] std::uint64_t records_beyond_limit() const { return beyond_limit_; }
  // use(pack) for the remaining packs, in the order of arrival; skip(rank, gone) where packs of a rank were removed
  // between them.
  void for_each(const std::function<void(std::uint32_t rank, const Gone&)>& skip,
                const std::function<void(const instrument::PackView&)>& use) const;

 private:
  using GoneByRank = std::map<std::uint32_t, Gone>;
  struct File {
    std::filesystem::path path;
    std::unique_ptr<instrument::PackFileWriter> out;
    std::uint64_t bytes = 0;
    std::int64_t begin = INT64_MAX, end = INT64_MIN;
    GoneByRank packs, before;  // packs of the file, and packs removed between the previous file and it
    std::map<std::uint32_t, std::int64_t> begins;  // of its packs, by rank
  };
  void begin_file();
  void remove(std::deque<File>::iterator file, bool is_beyond_limit);
  void remove_old();
  [[nodiscard]] bool is_kept(const File& file) const;

  const std::filesystem::path folder_;
  const Limits limits_;
  const std::function<void(const std::string&)> complain_, fail_;
  const std::int64_t process_;
  std::mutex mutex_;
  bool is_good_ = true;
  std::deque<File> files_;  // the newest is being written
  std::uint64_t bytes_ = 0, begun_ = 0;
  std::int64_t newest_ = INT64_MIN;
  std::vector<std::int64_t> marks_;
  std::uint64_t beyond_limit_ = 0;
};

}  // namespace ardoise::knowledge_sources

// What a trace with last= or limit= may still have to show: the packs of this analyzer as they came, in files on disk,
// of which the oldest go. When all have ended, what is left becomes events (traces.cpp). Each file has at most an
// eighth of the limit, or a quarter of the time, so that a little more is kept than was asked for.
//
//   packs ──▶ newest file … oldest file ──▶ gone, but for the times around a mark (keep=)
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
    std::uint64_t bytes = 0;   // 0: any number
  };
  // What of a rank has gone.
  struct Gone {
    std::uint64_t mpi = 0, posix = 0, samples = 0;                                  // by the ledger
    std::map<std::pair<std::uint32_t, instrument::PackClass>, std::uint64_t> next;  // orders, by thread and class
    void add(const Gone& other);
  };

  // folder: there; complain: gets a sentence where a file cannot be read again; fail: is called with the reason where
  // one cannot be written, and nothing is kept from then on.
  PackRing(std::filesystem::path folder, Limits limits, std::function<void(const std::string&)> complain,
           std::function<void(const std::string& reason)> fail);
  ~PackRing();  // the files go
  PackRing(const PackRing&) = delete;
  PackRing& operator=(const PackRing&) = delete;

  // begin, end: its time, ns since MPI_Init.
  void add(const instrument::PackHeader& pack, std::int64_t begin, std::int64_t end);
  // What is around then stays, as long as last= says on both sides.
  void keep_around(std::int64_t ns);

  // Nothing is added any more. The times of which all is left, of each rank: first, and the one behind the last.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> windows() const;
  // Records that went for want of room.
  [[nodiscard]] std::uint64_t records_beyond_limit() const { return beyond_limit_; }
  // use(pack) for those that are left, as they came; skip(rank, gone) where some of a rank were between them.
  void for_each(const std::function<void(std::uint32_t rank, const Gone&)>& skip,
                const std::function<void(const instrument::PackView&)>& use) const;

 private:
  using GoneByRank = std::map<std::uint32_t, Gone>;
  struct File {
    std::filesystem::path path;
    std::unique_ptr<instrument::PackFileWriter> out;
    std::uint64_t bytes = 0;
    std::int64_t begin = INT64_MAX, end = INT64_MIN;
    GoneByRank packs, before;                      // that it has, and that were between the file before and it
    std::map<std::uint32_t, std::int64_t> begins;  // of what it has, by rank
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
  std::deque<File> files_;  // the newest is written
  std::uint64_t bytes_ = 0, begun_ = 0;
  std::int64_t newest_ = INT64_MIN;
  std::vector<std::int64_t> marks_;
  std::uint64_t beyond_limit_ = 0;
};

}  // namespace ardoise::knowledge_sources

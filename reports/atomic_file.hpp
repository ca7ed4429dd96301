// Writes a file so that readers see the old one or the whole new one, never a part: write beside, fsync, rename. A link
// at its place is replaced, not followed, and so is a FIFO or a device; the mode of a file that was there stays. Used
// for profile.json, summary.txt, report.tex and the figures' data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reports/result.hpp"

namespace ardoise::reports {

// How a link, a FIFO or a device at the path is treated.
enum class Special : std::uint8_t {
  kReplaced,
  // The user has named it (-o /dev/stdout): a link stays, and where it leads to is written; so are a FIFO and a device.
  // Not where another user has put it into a folder that others can write to: it is replaced all the same.
  kUsed,
};

// One writer, one thread. Append as often as needed, then commit(). Until then, and when anything failed, a regular
// file at `path` is untouched; the file beside it is removed. The first error is kept and comes out of commit().
class AtomicFile {
 public:
  explicit AtomicFile(std::string path, Special special = Special::kReplaced);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view bytes);
  [[nodiscard]] Outcome commit();
  [[nodiscard]] bool failed() const { return !error_.empty(); }

 private:
  [[nodiscard]] bool open_special();
  void fail(int error_number);
  void discard();

  std::string path_, beside_, error_;  // beside_ "": written to directly
  int fd_ = -1;
};

// Where this process writes the file that is renamed to `path` when it is whole; and whether a name is one of these: a
// process that is killed leaves it.
[[nodiscard]] std::string half_written(const std::string& path);
[[nodiscard]] bool is_half_written(std::string_view name);

[[nodiscard]] Outcome write_file(const std::string& path, std::string_view content,
                                 Special special = Special::kReplaced);

// Creates the folder and those above it; says in one sentence why not. Where the folder itself is new nobody else can
// look into it: profiles name paths, hosts and arguments.
[[nodiscard]] Outcome make_own_folder(const std::string& path);

}  // namespace ardoise::reports

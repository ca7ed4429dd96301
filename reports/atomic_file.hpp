// Writes a file so that readers see the old or the whole new content: writes a temporary file, fsync, rename. A link, a
// FIFO or a device at the path is replaced, not followed. The mode of an existing file stays. Used for profile.json,
// summary.txt, report.tex and the figures' data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reports/result.hpp"

namespace ardoise::reports {

// Treatment of a link, a FIFO or a device at the path.
enum class Special : std::uint8_t {
  kReplaced,
  // The user named it (-o /dev/stdout): writes to the link's target, the FIFO or the device. One that another user put
  // into a folder writable by others is replaced nevertheless.
  kUsed,
};

// One writer, one thread. Append as often as needed, then commit(), which returns the first error. Before commit(), and
// after an error, a regular file at `path` is unchanged; the temporary file is removed.
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

  std::string path_, beside_, error_;  // beside_: temporary file; "": writes to path_ directly
  int fd_ = -1;
};

// The temporary file that this process renames to `path`, and whether a name is such a file: a killed process leaves
// it.
[[nodiscard]] std::string half_written(const std::string& path);
[[nodiscard]] bool is_half_written(std::string_view name);

[[nodiscard]] Outcome write_file(const std::string& path, std::string_view content,
                                 Special special = Special::kReplaced);

// Creates the folder and its parents. A new folder is readable only by this user: profiles name paths, hosts and
// arguments.
[[nodiscard]] Outcome make_own_folder(const std::string& path);

}  // namespace ardoise::reports

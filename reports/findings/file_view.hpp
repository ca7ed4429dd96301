// Access to a file, in words.
#pragma once

#include <string>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// The row is a sum over several files.
[[nodiscard]] bool sums_several_files(const FileProfile& file);
// "1 file"; "more than 16,384 files" if some rows sum up several files.
[[nodiscard]] std::string number_of_files(const std::vector<FileProfile>& files);

// Shares of the accesses after each rank's first one. All 0: unknown.
struct AccessShares {
  double consecutive = 0, forward = 0, strided = 0, backward = 0;
  double accesses = 0;
  // Accesses that neither continue the previous one nor follow a constant stride.
  [[nodiscard]] double random() const { return forward + backward; }
};
[[nodiscard]] AccessShares access_shares(const FileProfile& file);

// "sequential", "strided", "random" if four fifths of the accesses are so, else "mixed". "": unknown, or several files.
[[nodiscard]] std::string access_order(const FileProfile& file);
// "10–100 KiB": the size class of most reads and writes. "": unknown.
[[nodiscard]] std::string usual_size(const FileProfile& file);

// A file of input that ranks open again and again, in most of all opens; nullptr: none.
[[nodiscard]] const FileProfile* read_again(const Application& application);

}  // namespace ardoise::reports

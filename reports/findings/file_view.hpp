// How a file is accessed, in words.
#pragma once

#include <string>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// A row is then the sum of many files: nothing can be said of "it".
[[nodiscard]] bool stands_for_many(const FileProfile& file);
// "1 file", "more than 16,384 files": where some were not told apart.
[[nodiscard]] std::string number_of_files(const std::vector<FileProfile>& files);

// Of accesses after the first of each rank; all 0: not known.
struct AccessShares {
  double consecutive = 0, forward = 0, strided = 0, backward = 0;
  double accesses = 0;
  // Neither behind the one before nor at a constant distance.
  [[nodiscard]] double random() const { return forward + backward; }
};
[[nodiscard]] AccessShares access_shares(const FileProfile& file);

// "in sequence", "strided", "random", "mixed": where four fifths of the accesses are so; "" not known,
// or of files that were not told apart.
[[nodiscard]] std::string access_order(const FileProfile& file);
// "10–100 KiB": the class of most reads and writes; "" not known.
[[nodiscard]] std::string usual_size(const FileProfile& file);

}  // namespace ardoise::reports

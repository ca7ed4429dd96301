// Where an export goes: a file that is whole or not there, or standard output.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "reports/atomic_file.hpp"

namespace ardoise::launcher {

// Not thread safe. Made by the process that waits for the one that reads (guarded_reading.hpp): what that one writes is
// in the file, and commit() of the one that waits makes it the result; otherwise nothing is left.
class ExportOutput {
 public:
  // path "-": standard output.
  explicit ExportOutput(const std::string& path);

  void append(std::string_view bytes) {
    kept_ += bytes;
    if (kept_.size() >= kPiece) flush();
  }
  void flush();
  // A sentence, or "".
  [[nodiscard]] std::string commit();
  [[nodiscard]] bool failed() const { return file_ == nullptr ? !error_.empty() : file_->failed(); }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;

  std::unique_ptr<reports::AtomicFile> file_;  // nullptr: standard output
  std::string kept_, error_;
};

}  // namespace ardoise::launcher

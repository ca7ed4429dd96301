// Output of an export: standard output, or a file that appears only when it is complete.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "reports/atomic_file.hpp"

namespace ardoise::launcher {

// Not thread safe. Made by the parent of a guarded reading (guarded_reading.hpp). The child writes into the file;
// commit() of the parent makes it the result. Without commit() no file is left.
class ExportOutput {
 public:
  // path "-": standard output.
  explicit ExportOutput(const std::string& path);

  void append(std::string_view bytes) {
    kept_ += bytes;
    if (kept_.size() >= kPiece) flush();
  }
  void flush();
  // Returns an error message, or "".
  [[nodiscard]] std::string commit();
  [[nodiscard]] bool failed() const { return file_ == nullptr ? !error_.empty() : file_->failed(); }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;

  std::unique_ptr<reports::AtomicFile> file_;  // nullptr: standard output
  std::string kept_, error_;
};

}  // namespace ardoise::launcher

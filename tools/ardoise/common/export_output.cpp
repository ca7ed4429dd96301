#include "tools/ardoise/common/export_output.hpp"

#include <cstdio>

namespace ardoise::launcher {

ExportOutput::ExportOutput(const std::string& path) {
  if (path != "-") file_ = std::make_unique<reports::AtomicFile>(path, reports::Special::kUsed);
}

void ExportOutput::flush() {
  if (file_ != nullptr) {
    file_->append(kept_);
  } else if (error_.empty() &&
             (std::fwrite(kept_.data(), 1, kept_.size(), stdout) != kept_.size() || std::fflush(stdout) != 0)) {
    error_ = "Cannot write to standard output; give a file with -o.";
  }
  kept_.clear();
}

std::string ExportOutput::commit() {
  flush();
  return file_ == nullptr ? error_ : file_->commit().error;
}

}  // namespace ardoise::launcher

#include "tools/ardoise/live/status.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/output_folder/safe_state_files.hpp"
#include "instrument/settings/option_table.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/installation.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/report/finish_report.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

bool is_running(const fs::path& folder) {
  return !analyzer::safe_state_files(folder, analyzer::kFirstStatePrefix).empty();
}

// The --output folder on a command line that contains ardoise-analyzer: of an analyzer, or of the mpirun that starts
// it. "": another command, or no folder.
std::string folder_on(const std::vector<std::string>& words) {
  const auto analyzer =
      std::ranges::find_if(words, [](const fs::path& word) { return word.filename() == "ardoise-analyzer"; });
  const auto option = std::find(analyzer, words.end(), "--output");
  return option == words.end() || option + 1 == words.end() ? "" : *(option + 1);
}

std::vector<std::string> words_of_process(const fs::path& process) {
  std::ifstream file(process / "cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

// Folders of this user's launches with a process on this host.
std::vector<fs::path> folders_of_processes() {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    struct stat info;
    if (name.find_first_not_of("0123456789") != std::string::npos || ::stat(entry.path().c_str(), &info) != 0 ||
        info.st_uid != ::geteuid())
      continue;
    const std::string folder = folder_on(words_of_process(entry.path()));
    if (folder.empty()) continue;
    std::error_code gone;
    const fs::path there = fs::read_symlink(entry.path() / "cwd", gone);
    if (!gone) folders.push_back(there / folder);
  }
  return folders;
}

std::vector<fs::path> usual_folders_here(std::string_view usual) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(".", error)) {
    if (entry.path().filename().string().starts_with(usual)) folders.push_back(entry.path());
  }
  return folders;
}

// The folder may be another user's: nullopt for a link, a FIFO, a device or a file that is too large for a summary.
std::optional<std::string> summary_in(const fs::path& folder) {
  constexpr off_t kLargest = off_t{16} << 20;
  const int file = ::open((folder / "summary.txt").c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::optional<std::string> text;
  struct stat found {};
  if (::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size <= kLargest) {
    text.emplace(static_cast<std::size_t>(found.st_size), '\0');
    text->resize(static_cast<std::size_t>(std::max<ssize_t>(::read(file, text->data(), text->size()), 0)));
  }
  ::close(file);
  return text;
}

}  // namespace

std::string find_running_folder() {
  const std::string_view usual = instrument::option("output")->initial;
  struct Launch {
    bool is_here;
    fs::file_time_type last_state;
    fs::path folder;
  };
  std::vector<Launch> found;
  std::vector<fs::path> folders = usual_folders_here(usual);
  for (fs::path& folder : folders_of_processes()) folders.push_back(std::move(folder));
  for (const fs::path& each : folders) {
    std::error_code error;
    const fs::path folder = fs::proximate(each, error);
    const bool is_here = !folder.is_absolute() && *folder.begin() != "..";
    const fs::path shown = is_here ? folder : fs::weakly_canonical(each, error);
    const auto states = analyzer::safe_state_files(shown, analyzer::kFirstStatePrefix);
    if (states.empty() || std::ranges::any_of(found, [&](const Launch& other) { return other.folder == shown; }))
      continue;
    found.push_back({is_here, fs::last_write_time(states.front(), error), shown});
  }
  if (found.empty()) {
    say("no launch of yours runs on this host, and none has its folder, {}…, here: name the folder.", usual);
    return "";
  }
  std::ranges::sort(found, std::greater<>(),
                    [](const Launch& launch) { return std::pair(launch.is_here, launch.last_state); });
  if (found.size() > 1) {
    std::string others;
    for (std::size_t i = 1; i < found.size(); ++i)
      others += fmt::format("{}'{}'", i == 1 ? "" : ", ", found[i].folder.string());
    say("this is '{}'; name the folder to see another launch that runs: {}.", found.front().folder.string(), others);
  }
  return found.front().folder.string();
}

int status(const CommandLine& line) {
  const std::string folder = line.words.empty() ? find_running_folder() : line.words.front();
  if (folder.empty()) return kFailedStatus;
  const std::string fault = analyzer::fault_of_folder(folder);
  if (is_running(folder)) {
    const std::string analyzer = find_installation().analyzer;
    ::execl(analyzer.c_str(), analyzer.c_str(), "--called-by", speaker().c_str(), "--snapshot", "--output",
            folder.c_str(), nullptr);
    say("'{}' cannot be started: {}.", analyzer, std::strerror(errno));
    return kFailedStatus;
  }
  const auto summary = summary_in(folder);
  if (!fault.empty()) {
    say("'{}' {}: only the user who started a launch can ask it{}.", folder, fault,
        summary ? "; this is the summary there" : "");
  } else if (summary) {
    say("the launch that wrote to '{}' has ended; this is its summary.", folder);
  } else {
    say("no launch writes to '{}' or has written to it.", folder);
  }
  if (!summary) return kFailedStatus;
  return print(*summary) ? 0 : kFailedStatus;
}

}  // namespace ardoise::launcher

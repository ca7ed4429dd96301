#include "reports/findings/file_view.hpp"

#include <algorithm>
#include <array>

#include "reports/text/units.hpp"

namespace ardoise::reports {

bool sums_several_files(const FileProfile& f) {
  return f.path == kFurtherFiles || f.path == kUnknownFile || f.path == kPythonModules;
}

std::string number_of_files(const std::vector<FileProfile>& files) {
  const auto sums = static_cast<std::size_t>(std::ranges::count_if(files, sums_several_files));
  return (sums != 0 ? "more than " : "") + counted(files.size() - sums, "file");
}

AccessShares access_shares(const FileProfile& f) {
  AccessShares shares;
  shares.accesses = static_cast<double>(f.consecutive + f.forward + f.strided + f.backward);
  if (shares.accesses <= 0) return shares;
  shares.consecutive = static_cast<double>(f.consecutive) / shares.accesses;
  shares.forward = static_cast<double>(f.forward) / shares.accesses;
  shares.strided = static_cast<double>(f.strided) / shares.accesses;
  shares.backward = static_cast<double>(f.backward) / shares.accesses;
  return shares;
}

std::string access_order(const FileProfile& f) {
  constexpr double kMost = 0.8;
  const AccessShares shares = access_shares(f);
  if (shares.accesses <= 0 || sums_several_files(f)) return "";
  return shares.consecutive >= kMost ? "sequential"
         : shares.strided >= kMost   ? "strided"
         : shares.random() >= kMost  ? "random"
                                     : "mixed";
}

std::string usual_size(const FileProfile& f) {
  static constexpr std::array kClasses{"≤ 100 B", "100 B–1 KiB", "1–10 KiB",   "10–100 KiB",    "100 KiB–1 MiB",
                                       "1–4 MiB", "4–10 MiB",    "10–100 MiB", "100 MiB–1 GiB", "> 1 GiB"};
  std::array<std::uint64_t, kClasses.size()> calls{};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i < f.read_sizes.size()) calls[i] += f.read_sizes[i];
    if (i < f.write_sizes.size()) calls[i] += f.write_sizes[i];
  }
  const auto most = std::max_element(calls.begin(), calls.end());
  return *most == 0 ? "" : kClasses[static_cast<std::size_t>(most - calls.begin())];
}

const FileProfile* read_again(const Application& a) {
  constexpr std::uint64_t kOften = 10;  // opens of a rank
  const FileProfile* most = nullptr;
  std::uint64_t opens = 0;
  for (const FileProfile& f : a.files) {
    opens += f.opens;
    const bool is_input = f.bytes_read > 9 * f.bytes_written && !sums_several_files(f) && !f.path.starts_with('(');
    if (is_input && f.opens > kOften * f.ranks && (most == nullptr || f.opens > most->opens)) most = &f;
  }
  return most != nullptr && 2 * most->opens > opens ? most : nullptr;
}

}  // namespace ardoise::reports

// File I/O: small requests, one rank does it all, shared input, scattered accesses, repeated opens.
#include <fmt/format.h>

#include <algorithm>

#include "reports/findings/file_view.hpp"
#include "reports/findings/findings.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr double kSmallRequest = 16 * 1024;  // bytes

std::string file_name(const FileProfile& file) { return in_sentence(base_name(file.path)); }

void one_rank(const Facts& facts, std::vector<Finding>& out) {
  const auto& io = facts.app.per_rank.io_seconds;
  if (io.size() < 2 || facts.io_seconds <= 0 || facts.app.wall_seconds <= 0) return;
  const auto top = std::max_element(io.begin(), io.end());
  const double of_io = *top / facts.io_seconds, of_run = std::min(1.0, *top / facts.app.wall_seconds);
  if (of_run < 0.05 || of_io < 0.8 || (io.size() == 2 && of_io < 0.95)) return;
  const std::uint32_t rank = facts.app.world_rank(static_cast<std::uint32_t>(top - io.begin()));
  out.push_back(
      {"one_rank_io",
       of_run > 0.2 ? Severity::medium : Severity::note,
       of_run,
       fmt::format("Rank {} does {} of the file I/O; it takes {} of that rank's time while the others may wait.", rank,
                   of_io > 0.995 ? "all" : human_share(of_io), human_share(of_run)),
       "MPI-IO, or a parallel library such as HDF5 or NetCDF, lets all ranks write.",
       {{"rank", rank}, {"io_seconds", *top}, {"share_of_io", of_io}}});
}

// ", most of them on result," or ", most of them on 4 files like result.0,": the busiest, with those about as busy.
std::string busiest_files_in_words(const std::vector<FileProfile>& files) {
  const auto calls = [](const FileProfile& f) { return f.reads + f.writes; };
  const auto busiest = std::ranges::max_element(files, {}, calls);
  if (busiest == files.end() || sums_several_files(*busiest)) return "";
  const auto alike =
      std::ranges::count_if(files, [&](const FileProfile& f) { return calls(f) >= calls(*busiest) / 2; });
  return alike == 1 ? fmt::format(", most of them on {},", file_name(*busiest))
                    : fmt::format(", most of them on {} files like {},", alike, file_name(*busiest));
}

void small_requests(const Facts& facts, std::vector<Finding>& out) {
  double calls = 0, bytes = 0, seconds = 0;
  const FunctionProfile* most = nullptr;
  for (const FunctionProfile& f : facts.app.posix) {
    if (f.bytes == 0) continue;
    if (most == nullptr || f.calls > most->calls) most = &f;
    calls += static_cast<double>(f.calls);
    bytes += static_cast<double>(f.bytes);
    seconds += f.seconds;
  }
  const double share = facts.share(seconds),
               longest = facts.app.wall_seconds > 0 ? seconds / facts.app.wall_seconds : 0;
  if (calls < 1000 || bytes / calls >= kSmallRequest || std::max(share, std::min(1.0, longest)) < 0.02) return;
  const std::string site = facts.main_call_site(most->function);
  out.push_back(
      {"small_io",
       share > 0.25  ? Severity::high
       : share > 0.1 ? Severity::medium
                     : Severity::note,
       share,
       fmt::format("{} read and write calls move {} each on average{} and take {} in total{}.", human_count(calls),
                   human_bytes(bytes / calls), busiest_files_in_words(facts.app.files), human_seconds(seconds),
                   site.empty() ? "" : fmt::format("; most are {} in {}", in_sentence(most->function), site)),
       "File systems are fast with requests of a megabyte or more: buffer, or write larger blocks.",
       {{"calls", calls}, {"mean_bytes", bytes / calls}, {"seconds", seconds}}});
}

// The amount that each rank reads is known, the part of the file is not.
void shared_input(const Facts& facts, std::vector<Finding>& out) {
  const Application& a = facts.app;
  const FileProfile* most = nullptr;
  for (const FileProfile& f : a.files) {
    if (sums_several_files(f)) continue;  // each rank may have read others
    const bool input = a.ranks > 1 && f.ranks == a.ranks && f.bytes_read > 9 * f.bytes_written;
    if (input && (most == nullptr || f.bytes_read > most->bytes_read)) most = &f;
  }
  if (most == nullptr) return;
  const double share = facts.share(most->seconds);
  if (share < 0.02) return;
  const FunctionProfile* reader = nullptr;
  for (const FunctionProfile& f : a.posix) {
    if (f.bytes_received != 0 && (reader == nullptr || f.bytes_received > reader->bytes_received)) reader = &f;
  }
  const std::string site = reader == nullptr ? "" : facts.main_call_site(reader->function);
  out.push_back({"shared_input",
                 share > 0.25  ? Severity::high
                 : share > 0.1 ? Severity::medium
                               : Severity::note,
                 share,
                 fmt::format("All {} ranks read {}, {} each{}; that takes {} of the time. The file system does the "
                             "same work for each of them.",
                             a.ranks, file_name(*most), human_bytes(static_cast<double>(most->bytes_read) / a.ranks),
                             site.empty() ? "" : fmt::format(" ({} in {})", in_sentence(reader->function), site),
                             human_share(share)),
                 "If all need the same data, let one rank read it and distribute it with MPI_Bcast. If each needs a "
                 "part, use MPI_File_read_at_all.",
                 {{"bytes", static_cast<double>(most->bytes_read)}, {"share", share}}});
}

void reopened(const Facts& facts, std::vector<Finding>& out) {
  const auto& files = facts.app.files;
  // In a row for several files, each may have been opened once.
  const auto opens = [](const FileProfile& f) { return sums_several_files(f) ? 0 : f.opens; };
  const auto most = std::ranges::max_element(files, {}, opens);
  if (most == files.end() || sums_several_files(*most) || most->opens < 1000 ||
      most->opens < 20ULL * std::max(1U, most->ranks))
    return;
  out.push_back({"reopened_file",
                 Severity::note,
                 0,
                 fmt::format("{} was opened {} times by {}.", file_name(*most),
                             human_count(static_cast<double>(most->opens)), counted(most->ranks, "rank")),
                 "Keep it open: opening costs the file system's metadata server more than reading does.",
                 {{"opens", static_cast<double>(most->opens)}}});
}

// Small accesses, random or with a constant stride; the file with most time among these.
void scattered(const Facts& facts, std::vector<Finding>& out) {
  const FileProfile* worst = nullptr;
  for (const FileProfile& f : facts.app.files) {
    const AccessShares shares = access_shares(f);
    const double mean = static_cast<double>(f.bytes_read + f.bytes_written) /
                        static_cast<double>(std::max<std::uint64_t>(1, f.reads + f.writes));
    if (sums_several_files(f) || shares.accesses < 1000 || mean > kSmallRequest ||
        shares.random() + shares.strided < 0.5)
      continue;
    if (worst == nullptr || f.seconds > worst->seconds) worst = &f;
  }
  if (worst == nullptr) return;
  const double share = facts.share(worst->seconds);
  if (share < 0.02) return;
  const AccessShares shares = access_shares(*worst);
  const bool strided = shares.strided > shares.random(), reads = worst->reads > worst->writes;
  // Reads and writes are judged together.
  const bool mixes = 20 * std::min(worst->reads, worst->writes) > worst->reads + worst->writes;
  const FunctionProfile* most = nullptr;
  for (const FunctionProfile& f : facts.app.posix) {
    const std::uint64_t moved = reads ? f.bytes_received : f.bytes_sent;
    if (moved != 0 && (most == nullptr || f.calls > most->calls)) most = &f;
  }
  const std::string site = most == nullptr ? "" : facts.main_call_site(most->function);
  out.push_back(
      {strided ? "strided_io" : "random_io",
       share > 0.25  ? Severity::high
       : share > 0.1 ? Severity::medium
                     : Severity::note,
       share + 1e-3,  // before small_io, which concerns the same calls
       fmt::format(
           "{} of the {} {} {}{}, {} each, {}; they take {} of the time{}.",
           human_share(strided ? shares.strided : shares.random()), human_count(shares.accesses),
           mixes   ? "reads and writes of"
           : reads ? "reads from"
                   : "writes to",
           file_name(*worst), worst->ranks > 1 ? fmt::format(" by {} ranks", worst->ranks) : "", usual_size(*worst),
           strided ? "have a constant stride" : "neither continue the previous access nor have a constant stride",
           human_share(share), site.empty() ? "" : fmt::format(" ({} in {})", in_sentence(most->function), site)),
       strided ? (worst->ranks > 1 ? "Describe the pattern with MPI_File_set_view and let all ranks access it together "
                                     "(MPI_File_read_all, "
                                     "MPI_File_write_all): MPI combines the accesses into large requests."
                                   : "Read or write the whole range at once and select the parts in memory.")
               : "Collect the accesses, sort them by position and merge neighbours, or keep the data in memory.",
       {{"accesses", shares.accesses}, {"share", share}, {"strided", shares.strided}, {"random", shares.random()}}});
}

// Opening, closing and positioning.
void metadata(const Facts& facts, std::vector<Finding>& out) {
  double opens = 0, seconds = 0;
  const FunctionProfile* most = nullptr;
  for (const FunctionProfile& f : facts.app.posix) {
    if (f.category != "metadata") continue;
    seconds += f.seconds;
    if (f.function == "open" || f.function == "fopen") opens += static_cast<double>(f.calls);
    if (most == nullptr || f.seconds > most->seconds) most = &f;
  }
  const double share = facts.share(seconds), wall = facts.app.wall_seconds;
  if (opens < 1000 || share < 0.02 || wall <= 0) return;
  const std::string site = facts.main_call_site(most->function);
  out.push_back(
      {"metadata_io",
       share > 0.25  ? Severity::high
       : share > 0.1 ? Severity::medium
                     : Severity::note,
       share,
       fmt::format("The program opens {} {} times, {} a second; opening, closing and positioning take {} "
                   "of the time{}.",
                   number_of_files(facts.app.files), human_count(opens), human_count(opens / wall), human_share(share),
                   site.empty() ? "" : fmt::format(", most of it {} in {}", in_sentence(most->function), site)),
       "Open files once and keep them open; put many small files into one. On parallel file systems one server does "
       "this work for all ranks.",
       {{"opens", opens}, {"seconds", seconds}, {"share", share}}});
}

}  // namespace

void find_io(const Facts& facts, std::vector<Finding>& out) {
  one_rank(facts, out);
  small_requests(facts, out);
  shared_input(facts, out);
  reopened(facts, out);
  scattered(facts, out);
  metadata(facts, out);
}

}  // namespace ardoise::reports

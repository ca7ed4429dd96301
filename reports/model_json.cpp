#include "reports/model_json.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "reports/atomic_file.hpp"
#include "reports/json_reader.hpp"
#include "reports/json_writer.hpp"
#include "reports/model_check.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{16} << 30;  // more than ten million ranks with their edges

void write_run(const Run& run, JsonWriter::Sink sink) {
  JsonWriter writer(std::move(sink));
  writer.value(kType<Run>, &run);
  writer.flush();
}

Result<std::string> read_whole(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  struct stat info {};
  if (!file || ::fstat(::fileno(file.get()), &info) != 0) {
    return Result<std::string>::fail(
        fmt::format("Cannot read {}: {}; give the path of a profile.json.", path, std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode))
    return Result<std::string>::fail(fmt::format("{} is not a file; give the path of a profile.json.", path));
  if (static_cast<std::size_t>(info.st_size) > kMaxFileBytes) {
    return Result<std::string>::fail(
        fmt::format("{} is larger than any profile ({} bytes); give the path of a profile.json.", path,
                    static_cast<std::size_t>(info.st_size)));
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0)
    return Result<std::string>::fail(fmt::format("Cannot read {}: {}; copy it again.", path, std::strerror(errno)));
  return Result<std::string>::ok(std::move(text));
}

}  // namespace

std::string profile_to_json(const Run& run) {
  std::string text;
  write_run(run, [&text](std::string_view bytes) { text += bytes; });
  return text;
}

Outcome write_profile_json(const Run& run, const std::string& path) {
  AtomicFile file(path);
  write_run(run, [&file](std::string_view bytes) { file.append(bytes); });
  file.append("\n");
  return file.commit();
}

namespace {

// Fields that older schema versions do not have.
void fill_in(Run& run) {
  for (Application& a : run.applications) {
    a.world_ranks = std::max(a.world_ranks, a.first_rank + a.ranks);
    a.samples.threads.in_calls.resize(a.samples.threads.rank.size());
  }
}

// Fields that older files of this schema version do not have.
void fill_in_waiting(Run& run) {
  const auto fill = [](std::vector<double>& list, std::size_t size) {
    if (list.empty()) list.resize(size);
  };
  for (Application& a : run.applications) {
    for (SnapshotSeries& s : a.snapshots.series) {
      fill(s.waiting_seconds, s.seconds.size());
      fill(s.group_waiting_seconds, s.own_seconds.size());
      for (SnapshotCalls& each : s.calls) fill(each.waiting_seconds, each.seconds.size());
    }
  }
}

}  // namespace

Result<Run> profile_from_json(std::string_view text) {
  if (text.empty()) return Result<Run>::fail("it is empty; the run did not end, profile again");
  Run run;
  run.schema_version = 0;
  const Outcome read = read_json(text, run);
  // A newer version may break the rules of this one, so report the version first.
  if (run.schema_version > kSchemaVersion) {
    return Result<Run>::fail(fmt::format(
        "it has schema version {}, this ardoise reads up to {}; render it with the ardoise that wrote it ({})",
        run.schema_version, kSchemaVersion, run.tool_version.empty() ? "a newer one" : run.tool_version));
  }
  if (!read)
    return Result<Run>::fail(read.error + "; the file is damaged or not a profile, copy it again or profile again");
  if (run.schema_version <= 0)
    return Result<Run>::fail("it has no schema_version; give a profile.json that ardoise wrote");
  if (run.schema_version < kSchemaVersion) fill_in(run);
  fill_in_waiting(run);
  if (Outcome check = check_model(run); !check) {
    return Result<Run>::fail(check.error + "; the file is damaged, copy it again or profile again");
  }
  // Renderers allocate lists for all ranks, so a short file must not claim many.
  std::uint64_t ranks = 0;
  for (const Application& a : run.applications) ranks += a.ranks;
  if (ranks > text.size())
    return Result<Run>::fail(fmt::format(
        "it has {} ranks in {} bytes; the file is damaged, copy it again or profile again", ranks, text.size()));
  return Result<Run>::ok(std::move(run));
}

Result<Run> read_profile_json(const std::string& path) {
  Result<std::string> text = read_whole(path);
  if (!text) return Result<Run>::fail(text.error);
  Result<Run> run = profile_from_json(*text.value);
  if (!run) run.error = fmt::format("Cannot use {}: {}.", path, run.error);
  return run;
}

}  // namespace ardoise::reports

#include "tools/ardoise/snapshots/tau_profile.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "reports/atomic_file.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {
namespace {

using namespace knowledge_sources;
using Block = SnapshotBlock;

std::string in_xml(const std::string& text) {
  std::string out;
  for (const char c : reports::valid_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; }

// TAU's form of a function's name: "MPI_Send() [main (solver.c:31)]".
std::string tau_name(const Block::Call& call) {
  const std::string place = place_of(call);
  if (call.kind == Block::CallKind::kSampled) return name_of(call) + (place.empty() ? "" : " [" + place + "]");
  return name_of(call) + "()" + (place.empty() ? "" : " [" + place + "]");
}

const char* tau_group(Block::CallKind kind) {
  switch (kind) {
    case Block::CallKind::kMpi:
      return "MPI";
    case Block::CallKind::kPosix:
      return "TAU_IO";
    case Block::CallKind::kSampled:
    case Block::CallKind::kCounted:
      break;
  }
  return "TAU_SAMPLE";
}

// The profile of one rank. Has no XML declaration, because ParaProf's reader adds one.
class TauProfile {
 public:
  TauProfile(const SnapshotTable& table, std::uint32_t rank) : table_(table), thread_(fmt::format("{}.0.0.0", rank)) {
    text_ = fmt::format(
        "<profile_xml>\n"
        "<thread id=\"{0}\" node=\"{1}\" context=\"0\" thread=\"0\">\n</thread>\n"
        "<definitions thread=\"{0}\">\n<metric id=\"0\"><name>TIME</name><units>microseconds</units></metric>\n"
        "<event id=\"0\"><name>.TAU application</name><group>TAU_USER</group></event>\n</definitions>\n",
        thread_, rank);
  }
  void add(const std::string& series, const Block::Record& record) {
    define_new(record);
    total_ += record.ns;
    std::uint64_t calls = 0, inside = 0;
    for (const CallCell& cell : record.calls) {
      if (is_told(cell)) events_[tau_name(table_.calls()[cell.id])].sums += cell.sums;
    }
    std::string lines;
    for (const auto& [name, event] : events_) {
      calls += event.sums.calls;
      inside += event.sums.ns;
      const double us = microseconds(event.sums.ns);
      lines += fmt::format("{} {} 0 {} {}\n", event.number, event.sums.calls, us, us);
    }
    // Times overlap if several threads call; TAU allows no negative ones.
    const std::uint64_t outside = total_ - std::min(total_, inside);
    text_ += fmt::format(
        "<profile thread=\"{}\">\n<name>{} {}</name>\n<timestamp>{}</timestamp>\n<interval_data metrics=\"0\">\n"
        "0 1 {} {} {}\n{}</interval_data>\n{}</profile>\n",
        thread_, in_xml(series), record.number, record.end / 1000, calls, microseconds(outside), microseconds(total_),
        lines, atomic(record));
  }
  [[nodiscard]] std::string take() { return text_ + "</profile_xml>\n"; }

 private:
  struct Event {
    std::size_t number = 0;
    CallSums sums;
  };
  struct Value {
    std::size_t number = 0;
    ValueSums sums;
  };
  [[nodiscard]] bool is_told(const CallCell& cell) const {
    return table_.calls()[cell.id].kind != Block::CallKind::kCounted;
  }
  void define_new(const Block::Record& record) {
    std::string lines;
    for (const CallCell& cell : record.calls) {
      if (!is_told(cell)) continue;
      const Block::Call& call = table_.calls()[cell.id];
      const auto [event, is_new] = events_.try_emplace(tau_name(call), Event{events_.size() + 1, {}});
      if (is_new)
        lines += fmt::format("<event id=\"{}\"><name>{}</name><group>{}</group></event>\n", event->second.number,
                             in_xml(event->first), tau_group(call.kind));
    }
    for (const ValueCell& cell : record.values) {
      const auto [value, is_new] = values_.try_emplace(cell.id, Value{values_.size(), {}});
      if (is_new)
        lines += fmt::format("<userevent id=\"{}\"><name>{}</name></userevent>\n", value->second.number,
                             in_xml(table_.values()[cell.id].name));
    }
    if (!lines.empty()) text_ += fmt::format("<definitions thread=\"{}\">\n{}</definitions>\n", thread_, lines);
  }
  // The sum of squares is unknown; it is written as if all values were the mean.
  std::string atomic(const Block::Record& record) {
    for (const ValueCell& cell : record.values) values_[cell.id].sums += cell.sums;
    if (values_.empty()) return "";
    std::string lines;
    for (const auto& [id, value] : values_) {
      const ValueSums& sums = value.sums;
      const double mean = sums.count == 0 ? 0 : sums.sum / static_cast<double>(sums.count);
      lines +=
          fmt::format("{} {} {} {} {} {}\n", value.number, sums.count, sums.most, sums.least, mean, mean * sums.sum);
    }
    return "<atomic_data>\n" + lines + "</atomic_data>\n";
  }

  const SnapshotTable& table_;
  std::string thread_, text_;
  std::map<std::string, Event> events_;  // by name: sums over all threads and callers
  std::map<std::uint32_t, Value> values_;
  std::uint64_t total_ = 0;
};

}  // namespace

int write_tau_profiles(const SnapshotTable& table, const SnapshotSelection& selection, const std::string& folder) {
  (void)rows_of_profile(table, selection);  // throws if there are several series
  if (const auto made = reports::make_own_folder(folder); !made) return say("{}", made.error), kFailedStatus;
  std::size_t files = 0;
  for (const auto& [key, snapshots] : table.series()) {
    const std::string name = trigger_of(key.kind) + (snapshots.name.empty() ? "" : " " + snapshots.name);
    for (const auto& [rank, records] : snapshots.ranks) {
      const std::uint32_t world_rank = table.programs().at(key.program).first_rank + rank;
      TauProfile profile(table, world_rank);
      bool is_any = false;
      for (const Block::Record& record : records) {
        if (!is_selected(table, selection, key, record)) continue;
        profile.add(name, record);
        is_any = true;
      }
      if (!is_any) continue;
      const auto written = reports::write_file(fmt::format("{}/snapshot.{}.0.0", folder, world_rank), profile.take());
      if (!written) return say("{}", written.error), kFailedStatus;
      ++files;
    }
  }
  if (files == 0) throw UsageError("there are no such snapshots; ardoise snapshots list prints all.");
  say("'{}' has {} of TAU, snapshot.RANK.0.0; ParaProf opens them (paraprof {}/snapshot.*).", folder,
      reports::counted(files, "profile"), folder);
  return 0;
}

}  // namespace ardoise::launcher

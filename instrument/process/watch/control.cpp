#include "instrument/process/watch/control.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <algorithm>

#include "instrument/machine/kernel_call.hpp"
#include "instrument/machine/own_folder.hpp"
#include "instrument/settings/option_table.hpp"

namespace ardoise::instrument {

long control_check_milliseconds(const std::string& folder) noexcept {
  constexpr long kOwn = 50, kOfAServer = 500;
  // statfs(2): file systems that many machines share.
  constexpr std::array<unsigned long, 10> kShared{0x6969 /* NFS */,       0x0BD00BD0 /* Lustre */,
                                                  0x47504653 /* GPFS */,  0x19830326 /* BeeGFS */,
                                                  0x00C36400 /* Ceph */,  0xFF534D42 /* CIFS */,
                                                  0xFE534D42 /* SMB 2 */, 0x65735546 /* FUSE */,
                                                  0x5346414F /* AFS */,   0xAAD7AAEA /* PanFS */};
  struct statfs found {};
  if (::statfs(folder.c_str(), &found) != 0) return kOfAServer;
  const auto type = static_cast<unsigned long>(found.f_type) & 0xFFFFFFFFu;
  return std::ranges::find(kShared, type) != kShared.end() ? kOfAServer : kOwn;
}

Control::Control(Session& of, const PackIdentity& identity, std::string_view program, const std::string& folder)
    : session_(of),
      ticks_per_second_(identity.ticks_per_second),
      rank_(identity.rank),
      folder_(folder),
      answer_(control_answer_name(identity.partition, identity.rank)),
      beside_(answer_ + ".part"),
      program_(program),
      flush_ticks_(of.recorder.live.flush_ticks.load(std::memory_order_relaxed)),
      sums_(of.recorder.reduction.folded_at_once()) {
  (void)for_each_command(read(), [this](const ControlCommand& command) { last_ = std::max(last_, command.number); });
}

// Empty: no new command.
std::string_view Control::read() noexcept {
  const OwnFolder folder(folder_.c_str());
  struct stat found {};
  if (folder.stat(kControlName, found) != 0 || static_cast<std::uint64_t>(found.st_size) == size_) return {};
  const long file = folder.read(kControlName);
  if (file < 0) return {};
  std::size_t bytes = 0;
  for (long more = 0; bytes < room_.size(); bytes += static_cast<std::size_t>(more)) {
    more = call_kernel(SYS_read, file, argument(room_.data() + bytes), static_cast<long>(room_.size() - bytes));
    if (more <= 0) break;
  }
  call_kernel(SYS_close, file);
  size_ = bytes;
  return {room_.data(), bytes};
}

void Control::check() noexcept {
  const std::string_view text = read();
  if (text.empty()) return;
  const std::uint32_t before = last_;
  (void)for_each_command(text, [this](const ControlCommand& command) {
    if (command.number <= last_) return;
    last_ = command.number;
    if (!is_for(command, program_, rank_)) return;
    const bool is_of_rule = command.rule != 0;  // the analyzer reports these
    LiveTexts& changes = session_.recorder.live.changes;
    if (apply(command)) {
      if (!is_of_rule) changes.put("Set while the program ran (ardoise control): ", command.settings);
    } else if (is_of_rule) {
      changes.put("A rule could not set all of this: ", command.settings);
    } else {
      ++refused_;
    }
  });
  if (last_ != before) answer(last_, refused_);
}

// Applies all settings, or as many as possible.
bool Control::apply(const ControlCommand& command) noexcept {
  std::string_view settings = command.settings;
  bool all = !settings.empty();
  while (!settings.empty()) {
    std::string_view value = take_word(settings, ' ');
    const std::string_view name = take_word(value, '=');
    if (name == kSnapshotNow) {
      session_.recorder.live.snapshots.put(value, "", command.number);
      session_.recorder.threads.flush_first_soon();
    } else {
      all = apply_one(name, value) && all;
    }
  }
  return all;
}

bool Control::apply_one(std::string_view name, std::string_view value) noexcept {
  LiveSettings& live = session_.recorder.live;
  const auto is_allowed = [](const Option* row, double number) { return number >= row->least && number <= row->most; };
  if (value == kAsLaunched) return set_back(name);
  if (name == "record") {
    FunctionSet sums;
    const bool is_good = parse_record(value, sums);
    if (is_good) session_.recorder.reduction.fold_at_once(sums);
    return is_good;
  }
  const auto number = name == "flush-every" ? parse_duration(value) : parse_number(value);
  if (!number) return false;
  if (name == "flush-every" && is_allowed(option("flush-every"), *number)) {
    live.flush_ticks.store(static_cast<std::uint64_t>(*number * ticks_per_second_), std::memory_order_relaxed);
    return true;
  }
  if (name == "rate" && is_allowed(option("rate"), *number)) return session_.sampling.set_live_rate(*number);
  if (name == "period" && is_allowed(option("period"), *number))
    return session_.sampling.set_live_period(static_cast<std::uint64_t>(*number));
  if (name == "sample-share" && is_allowed(option("sample-share"), *number))
    return session_.sampling.set_live_share(*number);
  return false;
}

bool Control::set_back(std::string_view name) noexcept {
  Sampler& sampling = session_.sampling;
  if (name == "record") {
    session_.recorder.reduction.fold_at_once(sums_);
    return true;
  }
  if (name == "flush-every") {
    session_.recorder.live.flush_ticks.store(flush_ticks_, std::memory_order_relaxed);
    return true;
  }
  if (name == "rate") return sampling.set_live_rate(sampling.launch_rate());
  if (name == "period") return sampling.set_live_period(sampling.launch_period());
  if (name == "sample-share") return sampling.set_live_share(sampling.launch_share());
  return false;
}

void Control::answer(std::uint32_t number, std::uint32_t refused) noexcept {
  std::array<char, 32> text{};
  char* at = std::to_chars(text.data(), text.data() + 12, number).ptr;
  *at++ = ' ';
  at = std::to_chars(at, at + 12, refused).ptr;
  *at++ = '\n';
  const OwnFolder folder(folder_.c_str());
  const long file = folder.replace(beside_.c_str(), 0600);
  if (file < 0) return;
  const long bytes = at - text.data();
  const bool is_whole = call_kernel(SYS_write, file, argument(text.data()), bytes) == bytes;
  call_kernel(SYS_close, file);
  if (is_whole) folder.rename(beside_.c_str(), answer_.c_str());
  has_answered_ = true;
}

void Control::finish() noexcept {
  if (std::exchange(has_answered_, false)) OwnFolder(folder_.c_str()).remove(answer_.c_str());
}

}  // namespace ardoise::instrument

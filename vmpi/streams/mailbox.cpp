// See mailbox.hpp.
#include "vmpi/streams/mailbox.hpp"

#include <algorithm>
#include <utility>

#include "vmpi/vmpi.h"

namespace ardoise::vmpi {

std::uint32_t Mailbox::next_number() {
  const std::lock_guard lock(mutex_);
  return ++numbers_;
}

int Mailbox::send(int rank, ControlMessage message) {
  const std::lock_guard lock(mutex_);
  return send_alone(rank, message);
}

int Mailbox::send_alone(int rank, ControlMessage message) {
  auto& sent = peers_[rank].sent;
  if (message.kind != ControlKind::probe) ++sent;
  if (message.kind == ControlKind::retreat) message.seen = sent;
  return channel_.send(rank, message);
}

int Mailbox::take_back_unmet(int rank, ControlMessage message, std::uint32_t said_with) {
  const std::lock_guard lock(mutex_);
  auto& peer = peers_[rank];
  const int code = send_alone(rank, message);
  peer.unmet.push_back({message.number, said_with, message.kind == ControlKind::retreat ? peer.sent : 0});
  return code;
}

int Mailbox::receive_all() {
  for (;;) {
    bool found = false;
    int rank = -1;
    ControlMessage message;
    if (const int code = channel_.receive(found, rank, message); code != VMPI_SUCCESS || !found) return code;
    if (message.kind == ControlKind::probe) {
      probes_.push_back({rank, message});
      continue;
    }
    auto& peer = peers_[rank];
    ++peer.seen;
    if (message.kind == ControlKind::left) {
      left_.emplace(rank, message.tag);
      continue;
    }
    if (message.kind == ControlKind::gone) {
      peer.is_gone = true;
    } else {
      peer.unread.push_back(message);
    }
    if (readers_ > 0) log_.push_back(rank);
  }
}

int Mailbox::poll(std::size_t& cursor, std::vector<int>& news) {
  const std::lock_guard lock(mutex_);
  const int code = receive_all();
  news.assign(log_.begin() + static_cast<std::ptrdiff_t>(std::min(cursor, log_.size())), log_.end());
  cursor = log_.size();
  return code;
}

std::size_t Mailbox::start_reading() {
  const std::lock_guard lock(mutex_);
  ++readers_;
  return log_.size();
}

void Mailbox::stop_reading() {
  const std::lock_guard lock(mutex_);
  if (--readers_ == 0) log_.clear();
}

std::vector<Mailbox::Probe> Mailbox::take_probes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(probes_, {});
}

bool Mailbox::has_left(int rank, int tag) {
  const std::lock_guard lock(mutex_);
  receive_all();
  return left_.erase({rank, tag}) > 0;
}

std::vector<std::pair<int, std::uint32_t>> Mailbox::unanswered() {
  const std::lock_guard lock(mutex_);
  receive_all();
  std::vector<std::pair<int, std::uint32_t>> waiting;
  for (const auto& [rank, peer] : peers_) {
    std::set<std::uint32_t> numbers;
    for (const auto& message : peer.unread) {
      if (message.kind == ControlKind::hello) numbers.insert(message.number);
      if (takes_back(message)) numbers.erase(message.number);
    }
    for (const auto number : numbers) waiting.emplace_back(rank, number);
  }
  return waiting;
}

int Mailbox::say_gone() {
  ControlMessage message;
  message.kind = ControlKind::gone;
  std::set<int> told;
  for (const auto& [rank, number] : unanswered()) {
    if (!told.insert(rank).second) continue;
    with(rank, [](Peer& peer) { peer.unread.clear(); });
    if (const int code = send(rank, message); code != VMPI_SUCCESS) return code;
  }
  return VMPI_SUCCESS;
}

}  // namespace ardoise::vmpi

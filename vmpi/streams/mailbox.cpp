#include "vmpi/streams/mailbox.hpp"

#include <algorithm>
#include <cassert>

#include "vmpi/vmpi.h"

namespace ardoise::vmpi {
namespace {

// The sender has opened the stream, without failure, and this process has not answered.
bool has_open_hello(const std::vector<ControlMessage>& unread) {
  return std::any_of(unread.begin(), unread.end(), [&](const auto& hello) {
    return hello.kind == ControlKind::hello && std::none_of(unread.begin(), unread.end(), [&](const auto& later) {
             return later.kind == ControlKind::verdict && later.number == hello.number;
           });
  });
}

}  // namespace

std::uint32_t Mailbox::next_number(int rank) {
  const MutexLock lock(mutex_);
  return ++peers_[rank].openings;
}

int Mailbox::send(int rank, const ControlMessage& message) {
  const MutexLock lock(mutex_);
  return channel_.send(rank, message);
}

int Mailbox::send_end(int rank, int tag) {
  const MutexLock lock(mutex_);
  return channel_.send_end(rank, tag);
}

int Mailbox::receive_all() {
  for (;;) {
    bool found = false;
    int rank = -1;
    ControlMessage message;
    if (const int code = channel_.receive(found, rank, message); code != VMPI_SUCCESS || !found) return code;
    if (message.kind == ControlKind::left) {
      left_.emplace(rank, message.tag);
      continue;
    }
    auto& peer = peers_[rank];
    if (message.kind == ControlKind::gone) {
      peer.is_gone = true;
    } else {
      peer.unread.push_back(message);
    }
    if (readers_ > 0) log_.push_back(rank);
  }
}

int Mailbox::poll(std::size_t& cursor, std::vector<int>& news) {
  const MutexLock lock(mutex_);
  const int code = receive_all();
  news.assign(log_.begin() + static_cast<std::ptrdiff_t>(std::min(cursor, log_.size())), log_.end());
  cursor = log_.size();
  return code;
}

std::size_t Mailbox::start_reading() {
  const MutexLock lock(mutex_);
  ++readers_;
  return log_.size();
}

void Mailbox::stop_reading() {
  const MutexLock lock(mutex_);
  assert(readers_ > 0);
  if (--readers_ == 0) log_.clear();
}

Mailbox::Mail Mailbox::take(int rank, std::uint32_t number) {
  const MutexLock lock(mutex_);
  auto& peer = peers_[rank];
  Mail mail;
  mail.is_gone = peer.is_gone;
  std::erase_if(peer.unread, [&](const auto& message) {
    if (message.number == number) mail.messages.push_back(message);
    return message.number == number;
  });
  return mail;
}

bool Mailbox::has_left(int rank, int tag) {
  const MutexLock lock(mutex_);
  receive_all();
  return left_.erase({rank, tag}) > 0;
}

int Mailbox::send_gone() {
  const MutexLock lock(mutex_);
  receive_all();
  ControlMessage message;
  message.kind = ControlKind::gone;
  for (auto& [rank, peer] : peers_) {
    if (!has_open_hello(peer.unread)) continue;
    peer.unread.clear();
    if (const int code = channel_.send(rank, message); code != VMPI_SUCCESS) return code;
  }
  return VMPI_SUCCESS;
}

}  // namespace ardoise::vmpi

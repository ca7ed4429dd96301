// See meeting.hpp.
#include "vmpi/streams/meeting.hpp"

#include <algorithm>
#include <utility>

#include "vmpi/vmpi.h"

namespace ardoise::vmpi {
namespace {

constexpr std::uint8_t kReads = 1;
constexpr std::uint8_t kWrites = 2;

std::uint8_t bits_of(Mode mode) {
  return static_cast<std::uint8_t>((mode.reads ? kReads : 0) | (mode.writes ? kWrites : 0));
}

const char* name_of(std::uint8_t reads_writes) {
  return reads_writes == kReads ? "\"r\"" : reads_writes == kWrites ? "\"w\"" : "\"rw\"";
}

}  // namespace

Meeting::Meeting(Mailbox& mailbox, int own_rank, std::vector<int> ranks, const StreamTerms& terms)
    : mailbox_(mailbox),
      own_rank_(own_rank),
      terms_(terms),
      number_(mailbox.next_number()),
      cursor_(mailbox.start_reading()),
      missing_(ranks.size()) {
  peers_.reserve(ranks.size());
  for (const int rank : ranks) {
    index_.emplace(rank, peers_.size());
    peers_.push_back({.rank = rank, .hello = {}});
  }
}

int Meeting::start() {
  // What has come by now we have seen when we say hello.
  std::vector<int> news;
  if (const int code = mailbox_.poll(cursor_, news); code != VMPI_SUCCESS) return code;
  ControlMessage hello;
  hello.number = number_;
  hello.tag = terms_.tag;
  hello.block_bytes = terms_.block_bytes;
  hello.reads_writes = bits_of(terms_.mode);
  for (auto& peer : peers_) {
    peer.said_with = mailbox_.with(peer.rank, [](const Mailbox::Peer& mail) { return mail.seen; });
    hello.seen = peer.said_with;
    if (const int code = mailbox_.send(peer.rank, hello); code != VMPI_SUCCESS) return code;
  }
  for (auto& peer : peers_) read(peer);  // hellos that came before we asked
  return VMPI_SUCCESS;
}

bool Meeting::waits_for(const Peer& peer) const {
  return stage_ == Stage::hellos ? !peer.has_hello : stage_ == Stage::verdicts && !peer.has_verdict;
}

void Meeting::read(Peer& peer) {
  mailbox_.with(peer.rank, [&](Mailbox::Peer& mail) {
    while (stage_ != Stage::finished && !mail.unread.empty() && read_one(peer, mail)) continue;
    if (mail.is_gone && waits_for(peer))
      fail(VMPI_ERR_PEER, "process " + std::to_string(peer.rank) + " of the universe ended MPI without opening it");
  });
}

// false: what comes next from this peer is not for this opening.
bool Meeting::read_one(Peer& peer, Mailbox::Peer& mail) {
  const auto message = mail.unread.front();
  switch (message.kind) {
    case ControlKind::hello:
      if (peer.has_hello) return false;
      if (!is_for_this_opening(peer, mail, message)) break;
      peer.has_hello = true;
      peer.hello = message;
      --missing_;
      break;
    case ControlKind::verdict:
      // One about an earlier hello, which we took back, says at most that the peer stood in a circle and never wanted
      // it.
      std::erase_if(mail.unmet, [&](const auto& unmet) { return unmet.number == message.number; });
      if (message.number == number_ && !peer.has_verdict) {
        peer.has_verdict = true;
        peer.verdict = message.code;
        if (stage_ == Stage::verdicts) --missing_;
        if (stage_ == Stage::hellos && message.code != VMPI_SUCCESS) {
          // Without a hello it never wanted us, and says so because it stood in a circle.
          disagrees_ = disagrees_ || !peer.has_hello;
          const auto why = peer.has_hello ? mismatch(peer.hello) : "";
          fail(message.code, why.empty() ? "" : "of process " + std::to_string(peer.rank) + " of the universe: " + why);
        }
      }
      break;
    case ControlKind::withdrawal:
    case ControlKind::retreat:
      // Of another hello than that which we read: of an opening that is over on both sides.
      if (peer.has_hello && peer.hello.number == message.number) take_back(peer, message);
      break;
    default:
      break;
  }
  mail.unread.erase(mail.unread.begin());
  return true;
}

// Does the next hello of this peer pair with ours, rather than with one of an opening that is over, or with none?
bool Meeting::is_for_this_opening(const Peer& peer, Mailbox::Peer& mail, const ControlMessage& hello) {
  auto& unmet = mail.unmet;
  while (!unmet.empty() && unmet.front().retreat != 0 && unmet.front().retreat <= hello.seen)
    unmet.erase(unmet.begin());  // never said to this one
  const auto said_with = unmet.empty() ? peer.said_with : unmet.front().seen;
  const auto unsaid = std::find_if(mail.unread.begin(), mail.unread.end(), [&](const auto& later) {
    return later.kind == ControlKind::retreat && later.number == hello.number && later.seen <= said_with;
  });
  if (unsaid != mail.unread.end()) {
    mail.unread.erase(unsaid);
    return false;
  }
  if (unmet.empty()) return true;
  unmet.erase(unmet.begin());
  return false;
}

// The hello of this peer that we read counts no more.
void Meeting::take_back(Peer& peer, const ControlMessage& message) {
  peer.gave_up = true;
  disagrees_ = disagrees_ || message.kind == ControlKind::retreat;
  if (stage_ == Stage::hellos) return fail(message.code, "");
  if (!peer.has_verdict) --missing_;
  peer.has_verdict = true;
  peer.verdict = message.code;
}

int Meeting::advance(bool& has_news) {
  std::vector<int> news;
  if (const int code = mailbox_.poll(cursor_, news); code != VMPI_SUCCESS) return code;
  has_news = !news.empty();
  for (const int rank : news) {
    if (const auto found = index_.find(rank); found != index_.end()) read(peers_[found->second]);
  }
  if (stage_ == Stage::hellos && missing_ == 0) {
    if (const int code = judge(); code != VMPI_SUCCESS) return code;
  }
  if (stage_ == Stage::verdicts && missing_ == 0) return finish();
  if (stage_ == Stage::finished && result_ != VMPI_SUCCESS) return withdraw();
  return terms_.finds_circles ? answer_probes() : VMPI_SUCCESS;
}

std::string Meeting::mismatch(const ControlMessage& peer) const {
  if (peer.magic != ControlMessage::kMagic || peer.version != ControlMessage::kVersion)
    return "it has another version of vmpi";
  if (peer.block_bytes != terms_.block_bytes) {
    return "its blocks have " + std::to_string(peer.block_bytes) + " bytes and ours " +
           std::to_string(terms_.block_bytes);
  }
  const auto own = bits_of(terms_.mode);
  const auto fitting =
      static_cast<std::uint8_t>(((own & kReads) != 0 ? kWrites : 0) | ((own & kWrites) != 0 ? kReads : 0));
  if (peer.reads_writes != fitting) {
    return std::string("it opened the stream with mode ") + name_of(peer.reads_writes) + ", which doesn't fit our " +
           name_of(own);
  }
  return {};
}

// All hellos are there.
int Meeting::judge() {
  ControlMessage verdict;
  verdict.kind = ControlKind::verdict;
  verdict.code = VMPI_SUCCESS;
  for (const auto& peer : peers_) {
    const auto why = mismatch(peer.hello);
    if (why.empty()) continue;
    verdict.code = VMPI_ERR_PROTOCOL;
    complaint_ = "the stream to process " + std::to_string(peer.rank) + " of the universe is not opened because " + why;
    break;
  }
  result_ = verdict.code;
  stage_ = Stage::verdicts;
  missing_ = 0;
  for (const auto& peer : peers_) {
    missing_ += peer.has_verdict ? 0U : 1U;
    verdict.number = peer.hello.number;
    if (const int code = mailbox_.send(peer.rank, verdict); code != VMPI_SUCCESS) return code;
  }
  for (auto& peer : peers_) read(peer);
  return VMPI_SUCCESS;
}

// All verdicts are there.
int Meeting::finish() {
  stage_ = Stage::finished;
  for (const auto& peer : peers_) {
    if (peer.verdict != VMPI_SUCCESS && result_ == VMPI_SUCCESS) result_ = peer.verdict;
  }
  if (result_ == VMPI_SUCCESS) return VMPI_SUCCESS;
  if (disagrees_) return withdraw();
  for (const auto& peer : peers_) {
    if (peer.verdict != VMPI_SUCCESS) continue;
    if (const int code = mailbox_.send_end(peer.rank, peer.hello.tag); code != VMPI_SUCCESS) return code;
  }
  return VMPI_SUCCESS;
}

int Meeting::take_own_hello_back(const Peer& peer) {
  // It knows: it has taken its own hello back, or has refused ours unread.
  if (peer.gave_up || (peer.has_verdict && !peer.has_hello)) return VMPI_SUCCESS;
  ControlMessage message;
  message.kind = disagrees_ ? ControlKind::retreat : ControlKind::withdrawal;
  message.number = number_;
  message.code = result_;
  if (!peer.has_hello) return mailbox_.take_back_unmet(peer.rank, message, peer.said_with);
  return mailbox_.send(peer.rank, message);
}

void Meeting::fail(int code, const std::string& complaint) {
  if (stage_ == Stage::finished) return;
  // In the stage of verdicts those who said yes may believe that the stream is open: see withdraw().
  result_ = code;
  if (!complaint.empty()) complaint_ = "the stream is not opened because " + complaint;
  stage_ = Stage::finished;
}

// After fail(). Once: each peer hears, and is remembered, once.
int Meeting::withdraw() {
  if (std::exchange(has_withdrawn_, true)) return VMPI_SUCCESS;
  for (const auto& peer : peers_) {
    if (const int code = take_own_hello_back(peer); code != VMPI_SUCCESS) return code;
    if (!peer.has_hello) continue;
    // An end to nobody does no harm: the tag is never used again.
    if (const int code = mailbox_.send_end(peer.rank, peer.hello.tag); code != VMPI_SUCCESS) return code;
  }
  return disagrees_ ? refuse_waiting() : VMPI_SUCCESS;
}

// Those in the circle who wait for us and whom we never wanted.
int Meeting::refuse_waiting() {
  ControlMessage refusal;
  refusal.kind = ControlKind::verdict;
  refusal.code = VMPI_ERR_PROTOCOL;
  for (const auto& [rank, number] : waiting_) {
    const auto refused = mailbox_.with(rank, [number = number](Mailbox::Peer& mail) {
      return std::erase_if(mail.unread, [number](const auto& message) {
        return message.kind == ControlKind::hello && message.number == number;
      });
    });
    if (refused == 0) continue;  // it is one of our peers
    refusal.number = number;
    if (const int code = mailbox_.send(rank, refusal); code != VMPI_SUCCESS) return code;
  }
  return VMPI_SUCCESS;
}

int Meeting::give_up(int rank, const std::string& why) {
  fail(VMPI_ERR_PEER, "process " + std::to_string(rank) + " of the universe " + why);
  return withdraw();
}

int Meeting::look_for_circle() {
  own_probe_ = mailbox_.next_number();
  ControlMessage probe;
  probe.kind = ControlKind::probe;
  probe.origin = own_rank_;
  probe.serial = own_probe_;
  return pass_on(probe);
}

int Meeting::pass_on(const ControlMessage& probe) {
  auto& last = passed_on_[probe.origin];
  if (last == probe.serial) return VMPI_SUCCESS;
  last = probe.serial;
  for (const auto& peer : peers_) {
    if (!waits_for(peer)) continue;
    auto next = probe;
    next.number = number_;
    next.seen = mailbox_.with(peer.rank, [](const Mailbox::Peer& mail) { return mail.seen; });
    if (const int code = mailbox_.send(peer.rank, next); code != VMPI_SUCCESS) return code;
  }
  return VMPI_SUCCESS;
}

// Does the sender of the probe still wait for us, with the hello that it names?
bool Meeting::is_waiting(int from, const ControlMessage& probe) {
  const auto found = index_.find(from);
  const bool was_read =
      found != index_.end() && peers_[found->second].has_hello && peers_[found->second].hello.number == probe.number;
  return mailbox_.with(from, [&](const Mailbox::Peer& mail) {
    if (mail.sent != probe.seen) return false;  // it has news from us on the way
    bool is_unread = false;
    bool is_over = false;
    for (const auto& message : mail.unread) {
      if (message.number != probe.number) continue;
      is_unread = is_unread || message.kind == ControlKind::hello;
      is_over = is_over || takes_back(message);
    }
    return (was_read || is_unread) && !is_over;
  });
}

int Meeting::answer_probes() {
  for (const auto& [from, probe] : mailbox_.take_probes()) {
    if (!is_waiting(from, probe)) continue;
    waiting_[from] = probe.number;
    if (probe.origin == own_rank_ && probe.serial == own_probe_) {
      disagrees_ = true;
      const auto awaited_ranks = awaited();
      fail(VMPI_ERR_PROTOCOL, "processes wait for each other in a circle (process " + std::to_string(own_rank_) +
                                  " of the universe for " + std::to_string(awaited_ranks.front()) +
                                  "): the two sides map with different policies, or open streams in different orders");
      return withdraw();
    }
    if (probe.origin == own_rank_) continue;  // an older one
    if (const int code = pass_on(probe); code != VMPI_SUCCESS) return code;
  }
  return VMPI_SUCCESS;
}

std::vector<int> Meeting::awaited() const {
  std::vector<int> ranks;
  for (const auto& peer : peers_) {
    if (waits_for(peer)) ranks.push_back(peer.rank);
  }
  return ranks;
}

std::vector<Endpoint> Meeting::endpoints() const {
  std::vector<Endpoint> endpoints;
  endpoints.reserve(peers_.size());
  for (const auto& peer : peers_) endpoints.push_back({.rank = peer.rank, .tag = peer.hello.tag});
  return endpoints;
}

}  // namespace ardoise::vmpi

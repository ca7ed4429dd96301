#include "vmpi/streams/handshake.hpp"

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

Handshake::Handshake(Mailbox& mailbox, const std::vector<int>& ranks, const StreamTerms& terms)
    : mailbox_(mailbox),
      terms_(terms),
      cursor_(mailbox.start_reading()),
      missing_hellos_(ranks.size()),
      missing_verdicts_(ranks.size()) {
  peers_.reserve(ranks.size());
  for (const int rank : ranks) {
    index_.emplace(rank, peers_.size());
    peers_.push_back({.rank = rank, .number = mailbox.next_number(rank), .hello = {}});
  }
}

int Handshake::start() {
  ControlMessage hello;
  hello.tag = terms_.tag;
  hello.block_bytes = terms_.block_bytes;
  hello.reads_writes = bits_of(terms_.mode);
  for (const auto& peer : peers_) {
    hello.number = peer.number;
    if (const int code = mailbox_.send(peer.rank, hello); code != VMPI_SUCCESS) return code;
  }
  for (auto& peer : peers_) {  // messages from before this opening
    if (const int code = read(peer); code != VMPI_SUCCESS) return code;
  }
  return VMPI_SUCCESS;
}

bool Handshake::waits_for(const Peer& peer) const {
  return stage_ == Stage::hellos ? !peer.has_hello : stage_ == Stage::verdicts && !peer.has_verdict;
}

int Handshake::read(Peer& peer) {
  const auto mail = mailbox_.take(peer.rank, peer.number);
  for (const auto& message : mail.messages) {
    if (message.kind == ControlKind::hello && !peer.has_hello) {
      peer.has_hello = true;
      peer.hello = message;
      --missing_hellos_;
    } else if (message.kind == ControlKind::verdict && !peer.has_verdict) {
      peer.has_verdict = true;
      peer.verdict = message.code;
      --missing_verdicts_;
    }
  }
  if (stage_ == Stage::hellos && peer.has_verdict && peer.verdict != VMPI_SUCCESS) {
    const auto why = mismatch(peer.hello);
    return give_up(peer.verdict,
                   why.empty() ? "" : "of process " + std::to_string(peer.rank) + " of the universe: " + why);
  }
  if (mail.is_gone && waits_for(peer)) {
    return give_up(VMPI_ERR_PEER,
                   "process " + std::to_string(peer.rank) + " of the universe ended MPI without opening it");
  }
  return VMPI_SUCCESS;
}

int Handshake::advance(bool& has_news) {
  std::vector<int> news;
  if (const int code = mailbox_.poll(cursor_, news); code != VMPI_SUCCESS) return code;
  has_news = !news.empty();
  for (const int rank : news) {
    const auto found = index_.find(rank);
    if (found == index_.end() || done()) continue;
    if (const int code = read(peers_[found->second]); code != VMPI_SUCCESS) return code;
  }
  if (stage_ == Stage::hellos && missing_hellos_ == 0) {
    if (const int code = judge(); code != VMPI_SUCCESS) return code;
  }
  return stage_ == Stage::verdicts && missing_verdicts_ == 0 ? finish(VMPI_SUCCESS) : VMPI_SUCCESS;
}

std::string Handshake::mismatch(const ControlMessage& peer) const {
  if (peer.magic != ControlMessage::kMagic || peer.version != ControlMessage::kVersion)
    return "it uses another version of vmpi";
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

int Handshake::send_verdicts(int code) {
  result_ = code;
  ControlMessage verdict;
  verdict.kind = ControlKind::verdict;
  verdict.code = code;
  for (const auto& peer : peers_) {
    verdict.number = peer.number;
    if (const int sent = mailbox_.send(peer.rank, verdict); sent != VMPI_SUCCESS) return sent;
  }
  return VMPI_SUCCESS;
}

// All hellos have arrived.
int Handshake::judge() {
  int code = VMPI_SUCCESS;
  for (const auto& peer : peers_) {
    const auto why = mismatch(peer.hello);
    if (why.empty()) continue;
    code = VMPI_ERR_PROTOCOL;
    complaint_ = "the stream to process " + std::to_string(peer.rank) + " of the universe is not opened because " + why;
    break;
  }
  stage_ = Stage::verdicts;
  return send_verdicts(code);
}

// All verdicts have arrived, or this process failed by itself and waits no longer.
int Handshake::finish(int code) {
  stage_ = Stage::finished;
  if (result_ != VMPI_SUCCESS) return VMPI_SUCCESS;  // all peers learn it from our verdict
  result_ = code;
  for (const auto& peer : peers_) {
    if (result_ == VMPI_SUCCESS) result_ = peer.verdict;
  }
  if (result_ == VMPI_SUCCESS) return VMPI_SUCCESS;
  for (const auto& peer : peers_) {
    if (peer.has_verdict && peer.verdict != VMPI_SUCCESS) continue;
    // An end that no process receives is harmless: the tag is never used again.
    if (const int sent = mailbox_.send_end(peer.rank, peer.hello.tag); sent != VMPI_SUCCESS) return sent;
  }
  return VMPI_SUCCESS;
}

int Handshake::give_up(int code, const std::string& why) {
  if (done()) return VMPI_SUCCESS;
  if (!why.empty()) complaint_ = "the stream is not opened because " + why;
  if (stage_ == Stage::hellos) {
    stage_ = Stage::finished;
    return send_verdicts(code);
  }
  return finish(code);
}

std::vector<int> Handshake::awaited() const {
  std::vector<int> ranks;
  for (const auto& peer : peers_) {
    if (waits_for(peer)) ranks.push_back(peer.rank);
  }
  return ranks;
}

std::vector<Endpoint> Handshake::endpoints() const {
  std::vector<Endpoint> endpoints;
  endpoints.reserve(peers_.size());
  for (const auto& peer : peers_) endpoints.push_back({.rank = peer.rank, .tag = peer.hello.tag});
  return endpoints;
}

}  // namespace ardoise::vmpi

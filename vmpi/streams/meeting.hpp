// How the two ends of a stream meet: the opening of one stream by one process with all its peers.
//
//   hello to each ──▶ hello of each: do they fit? ──▶ verdict to each ──▶ verdict of each ──▶ open, or failed at all
//
// Openings of the same two processes are numbered in the order in which each makes them, and those of equal number are
// one. Each sends one hello and one verdict to every peer, also when it fails: whoever opens the same number later
// finds both, and fails as well. A process that fails after it said yes also tells the end of the stream to the peers
// that said yes, because they may believe that it is open. So no process is left with half a stream.
//
// Peers that never come: one that is in MPI_Finalize answers `gone`; stream_handshake.cpp looks after those that died
// or need too long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "vmpi/streams/endpoint.hpp"
#include "vmpi/streams/mailbox.hpp"

namespace ardoise::vmpi {

struct StreamTerms {
  std::uint64_t block_bytes = 0;
  Mode mode;
  int tag = 0;  // where this end wants to receive
};

// One thread. Never waits.
class Meeting {
 public:
  // ranks: without repetitions.
  Meeting(Mailbox& mailbox, const std::vector<int>& ranks, const StreamTerms& terms);
  ~Meeting() { mailbox_.stop_reading(); }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  // Says hello to all.
  int start();
  // Reads what has come and answers. done(): the result is there. Returns a VMPI code of a failed MPI call.
  int advance(bool& has_news);
  // The opening fails with this code. `why` is the end of a sentence about it; empty: a peer has said it.
  int give_up(int code, const std::string& why);

  bool done() const { return stage_ == Stage::finished; }
  // VMPI_SUCCESS, VMPI_ERR_PROTOCOL, VMPI_ERR_PEER, or the code of give_up(), here or at a peer.
  int result() const { return result_; }
  // What this process saw first hand, one sentence; empty: nothing, a peer has said it.
  const std::string& complaint() const { return complaint_; }
  // Of those that have met; without the number of the process to watch.
  std::vector<Endpoint> endpoints() const;
  // The processes that it waits for at present.
  std::vector<int> awaited() const;

 private:
  enum class Stage { hellos, verdicts, finished };
  struct Peer {
    int rank;
    std::uint32_t number;  // of the opening, between this peer and us
    bool has_hello = false;
    bool has_verdict = false;
    int verdict = 0;
    ControlMessage hello;
  };
  bool waits_for(const Peer& peer) const;
  int read(Peer& peer);
  int judge();
  int finish(int code);
  int send_verdicts(int code);
  // What doesn't fit, as the end of a sentence; empty: all fits.
  std::string mismatch(const ControlMessage& peer) const;

  Mailbox& mailbox_;
  StreamTerms terms_;
  std::vector<Peer> peers_;
  std::unordered_map<int, std::size_t> index_;
  std::size_t cursor_;
  Stage stage_ = Stage::hellos;
  std::size_t missing_hellos_ = 0;
  std::size_t missing_verdicts_ = 0;
  int result_ = 0;
  std::string complaint_;
};

}  // namespace ardoise::vmpi

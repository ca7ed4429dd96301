// The opening of one stream by one process with all its peers.
//
//   hello to each ──▶ hello of each: compatible? ──▶ verdict to each ──▶ verdict of each ──▶ open, or failed everywhere
//
// Openings between the same two processes are numbered by each in its order; equal numbers belong together. Each
// process sends one hello and one verdict to every peer, even when it fails: a peer that opens the same number later
// finds both and fails as well. A process that fails after a positive verdict also sends the end of the stream to the
// peers with a positive verdict, which may consider it open. So no process keeps half a stream.
//
// Peers that never open: one in MPI_Finalize answers `gone`; run_handshake.cpp handles those that died or take too
// long.
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
  int tag = 0;  // on which this end receives
};

// One thread. Never blocks.
class Handshake {
 public:
  // ranks: without repetitions.
  Handshake(Mailbox& mailbox, const std::vector<int>& ranks, const StreamTerms& terms);
  ~Handshake() { mailbox_.stop_reading(); }
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;

  // Sends hello to all.
  int start();
  // Reads and answers messages that have arrived. done(): result() is valid. Returns a VMPI code of a failed MPI call.
  int advance(bool& has_news);
  // The opening fails with this code. `why` completes the complaint; empty: a peer has reported it.
  int give_up(int code, const std::string& why);

  bool done() const { return stage_ == Stage::finished; }
  // VMPI_SUCCESS, VMPI_ERR_PROTOCOL, VMPI_ERR_PEER, or the code of give_up(), here or at a peer.
  int result() const { return result_; }
  // One sentence on a failure that this process detected itself; empty: none, or a peer has reported it.
  const std::string& complaint() const { return complaint_; }
  // Endpoints of the peers that have opened, without the watch handle of their processes.
  std::vector<Endpoint> endpoints() const;
  // Processes whose messages are missing.
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
  // The incompatibility, as the end of a sentence; empty: none.
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

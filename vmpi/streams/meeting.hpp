// How the two ends of a stream meet: the opening of one stream by one process with all its peers.
//
//   hello to each ──▶ hello of each: do they fit? ──▶ verdict to each ──▶ verdict of each ──▶ open, or failed at all
//
// Hellos of the same two processes pair up in the order in which each sent them. Who fails takes its hellos back, and
// the other side's opening that meets such a hello fails as well, also when it comes later. Who failed before it read
// the other side's hello remembers that one is to come which belongs to an opening that is over, and passes over it.
// Who fails after it said yes tells the end of the stream, too, to those who said yes and may believe that it is open.
// So nobody is left with half a stream, and no opening meets what is left of an earlier one.
//
// A hello that was taken back because of a circle (retreat) was never said to a process that says its own only after
// the retreat had come. Both sides know which of the two was first: a hello says how many messages of the receiver its
// sender had seen, a retreat how many its sender had sent. So both pair the same hellos.
//
// Peers that never come. One that is in MPI_Finalize answers `gone`; one that died is found by its process id
// (stream_handshake.cpp). What is left are processes that wait for each other in a circle, because the two sides made
// their maps with different policies, or open streams in different orders. They find out by probes (Chandy, Misra and
// Haas, "Distributed Deadlock Detection", 1983, for processes that wait for all of several): a process that has waited
// for long sends a probe to all it waits for; who waits itself passes it on, once, to all it waits for; if it comes
// back to who started it, the circle is closed. A probe says how many messages its sender had seen of the receiver:
// where more are on the way, the sender may not be waiting any more, and the probe ends. Hence no opening that could
// still succeed fails.
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
  int tag = 0;                // where this end wants to receive
  bool finds_circles = true;  // false where other threads of this process may open streams: no circle is certain then
};

// One thread. Never waits.
class Meeting {
 public:
  // ranks: without repetitions.
  Meeting(Mailbox& mailbox, int own_rank, std::vector<int> ranks, const StreamTerms& terms);
  ~Meeting() { mailbox_.stop_reading(); }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  // Says hello to all.
  int start();
  // Reads what has come and answers. done(): the result is there. Returns a VMPI code of a failed MPI call.
  int advance(bool& has_news);
  // After long waiting, when the terms allow it: looks for a circle.
  int look_for_circle();
  // A peer that is waited for died, or its partition has ended: why, as the end of a sentence.
  int give_up(int rank, const std::string& why);

  bool done() const { return stage_ == Stage::finished; }
  // VMPI_SUCCESS, or VMPI_ERR_PROTOCOL, VMPI_ERR_PEER.
  int result() const { return result_; }
  // What this process saw first hand, one sentence; empty: nothing, a peer has said it.
  const std::string& complaint() const { return complaint_; }
  // Of those who have met; without the number of the process to watch.
  std::vector<Endpoint> endpoints() const;
  // Whom it waits for at present.
  std::vector<int> awaited() const;

 private:
  enum class Stage { hellos, verdicts, finished };
  struct Peer {
    int rank;
    bool has_hello = false;
    bool has_verdict = false;
    bool gave_up = false;  // took its hello back
    int verdict = 0;
    std::uint32_t said_with = 0;  // `seen` of our hello
    ControlMessage hello;
  };
  bool waits_for(const Peer& peer) const;
  void read(Peer& peer);
  bool read_one(Peer& peer, Mailbox::Peer& mail);
  static bool is_for_this_opening(const Peer& peer, Mailbox::Peer& mail, const ControlMessage& hello);
  void take_back(Peer& peer, const ControlMessage& message);
  int judge();
  int answer_probes();
  int pass_on(const ControlMessage& probe);
  int withdraw();
  int take_own_hello_back(const Peer& peer);
  int refuse_waiting();
  bool is_waiting(int from, const ControlMessage& probe);
  int finish();
  void fail(int code, const std::string& complaint);
  // What doesn't fit, as the end of a sentence; empty: all fits.
  std::string mismatch(const ControlMessage& peer) const;

  Mailbox& mailbox_;
  int own_rank_;
  StreamTerms terms_;
  std::vector<Peer> peers_;
  std::unordered_map<int, std::size_t> index_;
  std::uint32_t number_;
  std::size_t cursor_;
  Stage stage_ = Stage::hellos;
  std::size_t missing_ = 0;  // hellos or verdicts
  int result_ = 0;
  std::string complaint_;
  bool disagrees_ = false;  // found a circle, or was refused because of one: who waits for us in it is refused, too
  bool has_withdrawn_ = false;
  std::uint32_t own_probe_ = 0;
  std::unordered_map<int, std::uint32_t> passed_on_;  // origin, its last serial
  std::unordered_map<int, std::uint32_t> waiting_;    // who sent a probe, the hello with which it waits
};

}  // namespace ardoise::vmpi

// One random run of streams over the model of MPI: random shape (1:1, n:1, n:m, one- or two-way), policies, buffers and
// limits, and ends that lose their pace at random: slow, in bursts, asleep for long. Checks that all data arrives once,
// whole, in the order of each writer to each reader, followed by the end. Used by a short test and by the soak test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model_network.hpp"
#include "vmpi/streams/stream.hpp"

namespace ardoise::vmpi {

class PaceRun {
 public:
  explicit PaceRun(std::uint64_t seed) : random_(seed), network_(static_cast<unsigned>(seed), pace()) {
    const int shape = pick(0, 3);  // 1:1, n:1, 1:m, n:m
    left_ = shape == 0 || shape == 2 ? 1 : pick(2, 7);
    right_ = shape == 0 || shape == 1 ? 1 : pick(2, 7);
    two_way_ = pick(0, 1) == 1;
    block_bytes_ =
        static_cast<std::size_t>(pick(1, 3) == 1 ? sizeof(Header) : 64 * static_cast<std::size_t>(pick(1, 8)));
    for (int rank = 0; rank < left_ + right_; ++rank) add_party(rank);
  }

  // Empty: success; otherwise the fault.
  std::string run() {
    // Far more than a run needs: every step something can happen happens with probability pace.
    for (std::uint64_t step = 0; open_ > 0; ++step) {
      if (step > 40'000'000) return "nothing moves any more";
      auto& party = parties_[static_cast<std::size_t>(pick(0, left_ + right_ - 1))];
      if (!party.stream || party.asleep-- > 0) continue;
      party.asleep = 0;
      act(party);
      if (!complaint_.empty()) return complaint_;
    }
    for (const auto& from : parties_) {
      std::uint64_t received = 0, bytes = 0;
      for (const auto& to : parties_) {
        received += to.blocks_from[static_cast<std::size_t>(from.rank)];
        bytes += to.bytes_from[static_cast<std::size_t>(from.rank)];
      }
      if (received != from.sent_blocks || bytes != from.sent_bytes) {
        return "process " + std::to_string(from.rank) + " wrote " + std::to_string(from.sent_blocks) + " blocks of " +
               std::to_string(from.sent_bytes) + " bytes, and " + std::to_string(received) + " of " +
               std::to_string(bytes) + " were read";
      }
    }
    return "";
  }

  std::uint64_t blocks() const {
    std::uint64_t sum = 0;
    for (const auto& party : parties_) sum += party.sent_blocks;
    return sum;
  }
  std::string shape() const {
    return std::to_string(left_) + ":" + std::to_string(right_) + (two_way_ ? " two-way" : " one-way") +
           ", blocks of " + std::to_string(block_bytes_) + " bytes";
  }

 private:
  struct Header {
    std::int32_t writer;
    std::int32_t number;
    std::uint32_t bytes;
    std::uint32_t checksum;
  };
  struct Party {
    int rank = 0;
    bool reads = false;
    bool writes = false;
    std::unique_ptr<Transport> transport;
    std::unique_ptr<Stream> stream;
    int to_write = 0;
    int laziness = 1;  // of so many turns it takes one
    int longest_nap = 0;
    int asleep = 0;  // turns
    std::size_t holds_at_most = 1;
    std::vector<std::vector<std::byte>> memory;
    std::vector<void*> idle;
    std::vector<void*> held;
    std::uint64_t sent_blocks = 0, sent_bytes = 0;
    std::vector<std::uint64_t> blocks_from, bytes_from;
    std::vector<std::int32_t> last_from;
    bool at_end = false;
  };

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  double pace() { return pick(0, 2) == 0 ? 1.0 : 0.05 + 0.1 * pick(0, 9); }

  void add_party(int rank) {
    Party party;
    party.rank = rank;
    const bool is_left = rank < left_;
    party.writes = is_left || two_way_;
    party.reads = !is_left || two_way_;
    StreamOptions options;
    options.block_bytes = block_bytes_;
    options.gives_way = false;
    options.balance = static_cast<Balance>(pick(0, 2));
    options.writer_buffers = pick(1, 5);
    options.reader_limit_bytes = block_bytes_ * static_cast<std::size_t>(pick(1, 6));
    party.holds_at_most =
        static_cast<std::size_t>(pick(1, static_cast<int>(options.reader_limit_bytes / block_bytes_)));
    std::vector<Endpoint> peers;
    for (int peer = is_left ? left_ : 0; peer < (is_left ? left_ + right_ : left_); ++peer)
      peers.push_back({.rank = peer, .tag = 100 + peer, .process = 1000 + peer});
    party.transport = network_.process(rank);
    party.stream = std::make_unique<Stream>(*party.transport, std::move(peers), Mode{party.reads, party.writes},
                                            100 + rank, options, random_());
    party.to_write = party.writes ? pick(0, 5) == 0 ? 0 : pick(1, 150) : 0;
    party.laziness = pick(0, 2) == 0 ? pick(2, 30) : 1;
    party.longest_nap = pick(0, 2) == 0 ? pick(10, 2000) : 0;
    party.memory.resize(static_cast<std::size_t>(options.writer_buffers));
    for (auto& block : party.memory) {
      block.resize(block_bytes_);
      party.idle.push_back(block.data());
    }
    const auto all = static_cast<std::size_t>(left_ + right_);
    party.blocks_from.resize(all);
    party.bytes_from.resize(all);
    party.last_from.resize(all, -1);
    parties_.push_back(std::move(party));
    ++open_;
  }

  void act(Party& party) {
    if (pick(1, party.laziness) != 1) return;
    if (party.longest_nap > 0 && pick(0, 40) == 0) party.asleep = pick(1, party.longest_nap);
    const int burst = pick(0, 9) == 0 ? pick(1, 20) : 1;
    for (int i = 0; i < burst; ++i) {
      if (party.writes) write(party);
      if (party.reads) read(party);
    }
    close_when_done(party);
  }

  void write(Party& party) {
    void* back = nullptr;
    if (party.stream->reclaim(&back, false) == 1) party.idle.push_back(back);
    if (party.to_write == 0 || party.idle.empty()) return;
    void* block = party.idle.back();
    const auto bytes =
        static_cast<std::uint32_t>(pick(static_cast<int>(sizeof(Header)), static_cast<int>(block_bytes_)));
    Header header{party.rank, static_cast<std::int32_t>(party.sent_blocks), bytes, 0};
    auto* data = static_cast<unsigned char*>(block);
    const auto fill = static_cast<unsigned char>(random_());
    std::memset(data + sizeof header, fill, bytes - sizeof header);
    header.checksum = fill * (bytes + 1);
    std::memcpy(data, &header, sizeof header);
    if (const int code = party.stream->lend(block, bytes); code != VMPI_SUCCESS) return complain(party, "lend", code);
    party.idle.pop_back();
    --party.to_write;
    ++party.sent_blocks;
    party.sent_bytes += bytes;
  }

  void read(Party& party) {
    while (!party.held.empty() && (party.held.size() >= party.holds_at_most || pick(0, 3) == 0)) {
      const auto i = static_cast<std::size_t>(pick(0, static_cast<int>(party.held.size()) - 1));
      if (party.stream->release(party.held[i]) != VMPI_SUCCESS) return complain(party, "release", VMPI_ERR_ARG);
      party.held.erase(party.held.begin() + static_cast<std::ptrdiff_t>(i));
    }
    void* block = nullptr;
    std::size_t bytes = 0;
    int source = -1;
    const int code = party.stream->take(&block, &bytes, &source, false);
    if (code == VMPI_EAGAIN) return;
    party.at_end = code == 0;
    if (code == 0) return;
    if (code != 1) return complain(party, "take", code);
    check(party, static_cast<const unsigned char*>(block), bytes, source);
    party.held.push_back(block);
  }

  void check(Party& party, const unsigned char* block, std::size_t bytes, int source) {
    Header header;
    std::memcpy(&header, block, sizeof header);
    const auto from = static_cast<std::size_t>(source);
    const bool is_whole = header.writer == source && header.bytes == bytes &&
                          std::all_of(block + sizeof header, block + bytes,
                                      [&](unsigned char c) { return header.checksum == c * (header.bytes + 1); });
    if (!is_whole) return complain(party, "a block that was damaged", source);
    if (header.number <= party.last_from[from]) return complain(party, "a block out of order", header.number);
    party.last_from[from] = header.number;
    ++party.blocks_from[from];
    party.bytes_from[from] += bytes;
  }

  // A two-way end closes when it has written all and read all that the others wrote: one that closes earlier throws
  // away what is still on its way to it.
  void close_when_done(Party& party) {
    if (party.to_write > 0 || party.idle.size() < party.memory.size()) return;
    if (two_way_ && !all_arrived()) return;
    if (party.reads && !two_way_ && !party.at_end) return;
    for (void* block : party.held) party.stream->release(block);
    party.held.clear();
    network_.on_poll = [this, &party] {  // close() waits for the others, which have nothing to read any more
      for (auto& other : parties_) {
        if (&other == &party || !other.stream || !other.reads) continue;
        void* none = nullptr;
        std::size_t bytes = 0;
        if (two_way_) (void)other.stream->take(&none, &bytes, nullptr, false);
      }
    };
    if (const int code = party.stream->close(); code != VMPI_SUCCESS) complain(party, "close", code);
    network_.on_poll = [] {};
    party.stream.reset();
    --open_;
  }

  bool all_arrived() const {
    std::uint64_t sent = 0, received = 0;
    for (const auto& party : parties_) {
      if (party.to_write > 0) return false;
      sent += party.sent_blocks;
      for (const auto count : party.blocks_from) received += count;
    }
    return sent == received;
  }

  void complain(const Party& party, const std::string& what, int code) {
    if (complaint_.empty())
      complaint_ = "process " + std::to_string(party.rank) + ": " + what + " " + std::to_string(code);
  }

  std::mt19937_64 random_;
  ModelNetwork network_;
  int left_ = 1;
  int right_ = 1;
  bool two_way_ = false;
  std::size_t block_bytes_ = 64;
  std::vector<Party> parties_;
  int open_ = 0;
  std::string complaint_;
};

}  // namespace ardoise::vmpi

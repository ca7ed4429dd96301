// A transport that keeps the bins it is sent, returns them when the test says so, and fails on request.
#pragma once

#include <cstring>
#include <deque>
#include <vector>

#include "instrument/transport/transport.hpp"
#include "tests/instrument/make_pack.hpp"

namespace ardoise::instrument {

class FakeTransport final : public Transport {
 public:
  [[nodiscard]] bool send(Bin* bin, std::size_t bytes) override {
    if (fails || closed) return false;
    Pack pack;
    pack.storage.resize((bytes + 7) / 8);
    std::memcpy(pack.storage.data(), bin, bytes);
    packs.push_back(std::move(pack));
    in_flight.push_back(bin);
    return true;
  }
  [[nodiscard]] Bin* reclaim(bool wait) override {
    if (in_flight.empty() || (!wait && !arrives_at_once)) return nullptr;
    waits += wait ? 1 : 0;
    Bin* const bin = in_flight.front();
    in_flight.pop_front();
    return bin;
  }
  [[nodiscard]] bool close() override {
    closed = true;
    arrives_at_once = true;
    return true;
  }

  // All packs one after the other, as in a capture file.
  [[nodiscard]] std::vector<std::uint64_t> bytes() const {
    std::vector<std::uint64_t> all;
    for (const Pack& pack : packs) all.insert(all.end(), pack.storage.begin(), pack.storage.end());
    return all;
  }

  std::vector<Pack> packs;
  std::deque<Bin*> in_flight;
  bool arrives_at_once = true;
  bool fails = false;
  bool closed = false;
  int waits = 0;
};

}  // namespace ardoise::instrument

// A set of MPI requests, each with an item that describes it; one Testsome tests all. Used by both ends of a stream.
#pragma once

#include <utility>
#include <vector>

#include "vmpi/streams/transport.hpp"
#include "vmpi/vmpi.h"

namespace ardoise::vmpi {

template <typename Item>
class Transfers {
 public:
  bool empty() const { return requests_.empty(); }
  std::size_t size() const { return requests_.size(); }

  void add(MPI_Request request, Item item) {
    requests_.push_back(request);
    items_.push_back(std::move(item));
    indices_.resize(requests_.size());
  }

  // Calls done(item) for each completed transfer and removes it. Returns a VMPI code.
  template <typename Done>
  int poll(Transport& transport, Done done) {
    if (empty()) return VMPI_SUCCESS;
    int completed = 0;
    if (const int code = transport.test_some(requests_, indices_, completed); code != VMPI_SUCCESS) return code;
    for (int i = 0; i < completed; ++i) done(items_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])]);
    if (completed > 0) forget([](MPI_Request request, const Item&) { return request == MPI_REQUEST_NULL; });
    return VMPI_SUCCESS;
  }

  // Removes transfers for which unwanted(request, item) holds; the others keep their order.
  template <typename Unwanted>
  void forget(Unwanted unwanted) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (unwanted(requests_[i], items_[i])) continue;
      if (kept != i) {
        requests_[kept] = requests_[i];
        items_[kept] = std::move(items_[i]);
      }
      ++kept;
    }
    requests_.resize(kept);
    items_.resize(kept);
    indices_.resize(kept);
  }

 private:
  std::vector<MPI_Request> requests_;
  std::vector<Item> items_;
  std::vector<int> indices_;
};

}  // namespace ardoise::vmpi

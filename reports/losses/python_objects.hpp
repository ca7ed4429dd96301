// Places of Python programs that send objects: MPI for Python turns these into bytes, sends their number and the bytes,
// and turns the bytes back. (Its functions for arrays have names in capitals, and send memory as it is.)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "reports/losses/run_view.hpp"

namespace ardoise::reports {

class PythonObjects {
 public:
  explicit PythonObjects(const RunView& view);

  // At these places; seconds on the critical path: 0 if these are too few to mention.
  struct Cost {
    double work = 0, calls = 0;
    [[nodiscard]] double seconds() const { return work + calls; }
  };
  [[nodiscard]] const Cost& cost() const { return cost_; }
  // The place with most of it, in words; how often a rank is there, and its bytes.
  [[nodiscard]] const std::string& main_place() const { return main_place_; }
  [[nodiscard]] double main_calls() const { return main_calls_; }
  [[nodiscard]] double main_bytes() const { return main_bytes_; }
  [[nodiscard]] bool main_broadcasts() const { return main_broadcasts_; }  // its only collective operation
  // The calls of this site are part of the cost.
  [[nodiscard]] bool include(const CallSite* site) const;

 private:
  using Place = std::pair<std::string, std::uint32_t>;  // source file, line
  struct Calls {
    bool messages = false, collectives = false, probed = false, plain = false, sends = false, sizes = false,
         parts = false, broadcasts = false, locked = false;
    double calls = 0, bytes = 0, locks = 0;  // of a rank
    std::string name;
  };
  void find_places(const Application& application);

  std::map<Place, Calls> places_;
  Cost cost_;
  std::string main_place_;
  double main_calls_ = 0, main_bytes_ = 0;
  bool main_broadcasts_ = false;
};

}  // namespace ardoise::reports

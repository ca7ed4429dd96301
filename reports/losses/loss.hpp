// A loss: time of a run that could be won back, its cause, and at most how much shorter the run would be without it.
// Codes are stable ("late.static"); loss_codes.cpp lists them with their remedies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ardoise::reports {

// Kind of time of a rank that a loss takes; the first level of the account (account.hpp).
enum class Bucket { work, transfer, io, processor, asleep, kernel, waiting };

struct Loss {
  std::string code;
  double ceiling = 0;      // s of run time: the run would be at most this much shorter
  double own_seconds = 0;  // rank-seconds spent in the activity itself, without the waiting of the others
  Bucket bucket = Bucket::work;
  std::string text;                    // sentences with ranks, function, line, amounts; without the ceiling
  std::string advice{};                // empty: the remedy of the code
  std::vector<std::uint32_t> ranks{};  // of the program; empty: all
  bool is_usual = false;               // as large as in programs without a fault: a note
  std::vector<std::pair<std::string, double>> evidence{};
};

enum class Actor { program, launch, system };

struct LossCode {
  std::string_view code;
  std::string_view name;    // "the same ranks always work longer"
  std::string_view remedy;  // one sentence or two
  Actor actor;
};
// Every code that a loss can have, in the order of the documentation.
[[nodiscard]] const std::vector<LossCode>& loss_codes();
[[nodiscard]] const LossCode* find_loss_code(std::string_view code);  // nullptr: there is none

}  // namespace ardoise::reports

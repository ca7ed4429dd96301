// The datatypes of a replay, made from their texts (instrument/record/type_text.hpp).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::replay {

struct ReplayType {
  MPI_Datatype handle = MPI_BYTE;
  std::int64_t size = 1, extent = 1, true_lower = 0, true_extent = 1;  // bytes
  bool is_predefined = true;
};

// MPI_DATATYPE_NULL: this MPI cannot make the datatype. Committed; the caller frees it unless it is predefined. As
// thread safe as MPI's functions.
[[nodiscard]] MPI_Datatype make_datatype(std::string_view text_untrusted, bool& is_predefined);

// Datatypes by the numbers of their texts. Immutable once made.
class ReplayTypes {
 public:
  // Texts that cannot be made become bytes, and are added to `not_made`.
  ReplayTypes(const std::vector<std::string>& texts, std::vector<std::string>& not_made);
  ~ReplayTypes();
  ReplayTypes(const ReplayTypes&) = delete;
  ReplayTypes& operator=(const ReplayTypes&) = delete;

  [[nodiscard]] const ReplayType& operator[](std::uint32_t text) const {
    return types_[text < types_.size() ? text : 0];
  }

 private:
  std::vector<ReplayType> types_;
};

}  // namespace ardoise::replay

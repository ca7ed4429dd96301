#include "tools/replay/replay_types.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace ardoise::replay {
namespace {

struct Named {
  std::string_view name;
  MPI_Datatype type;
};

const auto& named_types() {
#define ARDOISE_TYPE(name) \
  Named { #name, name }
  static const std::array types{ARDOISE_TYPE(MPI_CHAR),
                                ARDOISE_TYPE(MPI_SIGNED_CHAR),
                                ARDOISE_TYPE(MPI_UNSIGNED_CHAR),
                                ARDOISE_TYPE(MPI_BYTE),
                                ARDOISE_TYPE(MPI_WCHAR),
                                ARDOISE_TYPE(MPI_SHORT),
                                ARDOISE_TYPE(MPI_UNSIGNED_SHORT),
                                ARDOISE_TYPE(MPI_INT),
                                ARDOISE_TYPE(MPI_UNSIGNED),
                                ARDOISE_TYPE(MPI_LONG),
                                ARDOISE_TYPE(MPI_UNSIGNED_LONG),
                                ARDOISE_TYPE(MPI_LONG_LONG),
                                ARDOISE_TYPE(MPI_LONG_LONG_INT),
                                ARDOISE_TYPE(MPI_UNSIGNED_LONG_LONG),
                                ARDOISE_TYPE(MPI_FLOAT),
                                ARDOISE_TYPE(MPI_DOUBLE),
                                ARDOISE_TYPE(MPI_LONG_DOUBLE),
                                ARDOISE_TYPE(MPI_PACKED),
                                ARDOISE_TYPE(MPI_INT8_T),
                                ARDOISE_TYPE(MPI_INT16_T),
                                ARDOISE_TYPE(MPI_INT32_T),
                                ARDOISE_TYPE(MPI_INT64_T),
                                ARDOISE_TYPE(MPI_UINT8_T),
                                ARDOISE_TYPE(MPI_UINT16_T),
                                ARDOISE_TYPE(MPI_UINT32_T),
                                ARDOISE_TYPE(MPI_UINT64_T),
                                ARDOISE_TYPE(MPI_AINT),
                                ARDOISE_TYPE(MPI_COUNT),
                                ARDOISE_TYPE(MPI_OFFSET),
                                ARDOISE_TYPE(MPI_C_BOOL),
                                ARDOISE_TYPE(MPI_C_COMPLEX),
                                ARDOISE_TYPE(MPI_C_FLOAT_COMPLEX),
                                ARDOISE_TYPE(MPI_C_DOUBLE_COMPLEX),
                                ARDOISE_TYPE(MPI_C_LONG_DOUBLE_COMPLEX),
                                ARDOISE_TYPE(MPI_FLOAT_INT),
                                ARDOISE_TYPE(MPI_DOUBLE_INT),
                                ARDOISE_TYPE(MPI_LONG_INT),
                                ARDOISE_TYPE(MPI_2INT),
                                ARDOISE_TYPE(MPI_SHORT_INT),
                                ARDOISE_TYPE(MPI_LONG_DOUBLE_INT),
                                ARDOISE_TYPE(MPI_CXX_BOOL),
                                ARDOISE_TYPE(MPI_CXX_FLOAT_COMPLEX),
                                ARDOISE_TYPE(MPI_CXX_DOUBLE_COMPLEX),
                                ARDOISE_TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX),
                                ARDOISE_TYPE(MPI_CHARACTER),
                                ARDOISE_TYPE(MPI_LOGICAL),
                                ARDOISE_TYPE(MPI_INTEGER),
                                ARDOISE_TYPE(MPI_REAL),
                                ARDOISE_TYPE(MPI_DOUBLE_PRECISION),
                                ARDOISE_TYPE(MPI_COMPLEX),
                                ARDOISE_TYPE(MPI_DOUBLE_COMPLEX),
                                ARDOISE_TYPE(MPI_INTEGER1),
                                ARDOISE_TYPE(MPI_INTEGER2),
                                ARDOISE_TYPE(MPI_INTEGER4),
                                ARDOISE_TYPE(MPI_INTEGER8),
                                ARDOISE_TYPE(MPI_REAL4),
                                ARDOISE_TYPE(MPI_REAL8),
                                ARDOISE_TYPE(MPI_COMPLEX8),
                                ARDOISE_TYPE(MPI_COMPLEX16),
                                ARDOISE_TYPE(MPI_2INTEGER),
                                ARDOISE_TYPE(MPI_2REAL),
                                ARDOISE_TYPE(MPI_2DOUBLE_PRECISION)};
#undef ARDOISE_TYPE
  return types;
}

// Constants that differ between Open MPI and MPICH: of the MPI that the text comes from.
int order_of(int number) { return number == 1 || number == 57 ? MPI_ORDER_FORTRAN : MPI_ORDER_C; }
int distribution_of(int number) {
  if (number == 0 || number == 121) return MPI_DISTRIBUTE_BLOCK;
  return number == 1 || number == 122 ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_NONE;
}
int distribution_argument_of(int number) {
  return number == -1 || number == -49767 ? MPI_DISTRIBUTE_DFLT_DARG : number;
}

// One datatype of the text, recursive descent.
class TypeParser {
 public:
  explicit TypeParser(std::string_view text) : rest_(text) {}
  ~TypeParser() {
    for (MPI_Datatype& each : parts_) PMPI_Type_free(&each);
  }
  TypeParser(const TypeParser&) = delete;
  TypeParser& operator=(const TypeParser&) = delete;

  // MPI_DATATYPE_NULL: invalid text.
  MPI_Datatype all(bool& is_predefined) {
    is_predefined = true;
    const MPI_Datatype type = one(0);
    if (type == MPI_DATATYPE_NULL || !rest_.empty()) return MPI_DATATYPE_NULL;
    if (!parts_.empty() && parts_.back() == type) {
      is_predefined = false;
      parts_.pop_back();
    }
    return type;
  }

 private:
  static constexpr int kDeepest = 64;

  bool skip(char expected) {
    if (rest_.empty() || rest_[0] != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }
  template <class Number>
  bool numbers(std::vector<Number>& all) {
    while (!rest_.empty() && rest_[0] != ';') {
      Number number = 0;
      const auto [after, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (error != std::errc()) return false;
      all.push_back(number);
      rest_.remove_prefix(static_cast<std::size_t>(after - rest_.data()));
      if (!skip(',')) break;
    }
    return skip(';');
  }
  MPI_Datatype one(int depth) {
    if (depth > kDeepest) return MPI_DATATYPE_NULL;
    const std::size_t end = std::min(rest_.find_first_of("(),;"), rest_.size());
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (!skip('(')) {
      for (const Named& each : named_types()) {
        if (each.name == name) return each.type;
      }
      return MPI_DATATYPE_NULL;
    }
    std::vector<int> integers;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Datatype> types;
    // The sizes of an opaque one may be larger than an int.
    if (name == "opaque") {
      std::vector<MPI_Aint> sizes;
      if (!numbers(sizes) || !numbers(addresses) || !skip(')') || sizes.size() != 1 || addresses.size() != 2)
        return MPI_DATATYPE_NULL;
      return opaque(sizes[0], addresses[0], addresses[1]);
    }
    if (!numbers(integers) || !numbers(addresses)) return MPI_DATATYPE_NULL;
    while (!rest_.empty() && rest_[0] != ')') {
      types.push_back(one(depth + 1));
      if (types.back() == MPI_DATATYPE_NULL) return MPI_DATATYPE_NULL;
      if (!skip(',')) break;
    }
    if (!skip(')')) return MPI_DATATYPE_NULL;
    return make(name, integers, addresses, types);
  }
  MPI_Datatype keep(int error, MPI_Datatype type) {
    if (error != MPI_SUCCESS || type == MPI_DATATYPE_NULL) return MPI_DATATYPE_NULL;
    parts_.push_back(type);
    return type;
  }
  MPI_Datatype opaque(MPI_Aint size, MPI_Aint lower, MPI_Aint extent) {
    if (size < 0 || size > INT32_MAX) return MPI_DATATYPE_NULL;
    MPI_Datatype bytes = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    int error = PMPI_Type_contiguous(static_cast<int>(size), MPI_BYTE, &bytes);
    if (keep(error, bytes) == MPI_DATATYPE_NULL) return MPI_DATATYPE_NULL;
    error = PMPI_Type_create_resized(bytes, lower, extent, &type);
    return keep(error, type);
  }
  MPI_Datatype make(std::string_view name, const std::vector<int>& i, const std::vector<MPI_Aint>& a,
                    const std::vector<MPI_Datatype>& t) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const auto has = [&](std::size_t integers, std::size_t addresses, std::size_t types) {
      return i.size() == integers && a.size() == addresses && t.size() == types;
    };
    const std::size_t count = i.empty() || i[0] < 0 ? 0 : static_cast<std::size_t>(i[0]);
    if (name == "dup" && has(0, 0, 1)) {
      const int error = PMPI_Type_dup(t[0], &type);
      return keep(error, type);
    }
    if (name == "contiguous" && has(1, 0, 1)) {
      const int error = PMPI_Type_contiguous(i[0], t[0], &type);
      return keep(error, type);
    }
    if (name == "vector" && has(3, 0, 1)) {
      const int error = PMPI_Type_vector(i[0], i[1], i[2], t[0], &type);
      return keep(error, type);
    }
    if (name == "hvector" && has(2, 1, 1)) {
      const int error = PMPI_Type_create_hvector(i[0], i[1], a[0], t[0], &type);
      return keep(error, type);
    }
    if (name == "indexed" && !i.empty() && has(1 + 2 * count, 0, 1)) {
      const int error = PMPI_Type_indexed(i[0], i.data() + 1, i.data() + 1 + count, t[0], &type);
      return keep(error, type);
    }
    if (name == "hindexed" && !i.empty() && has(1 + count, count, 1)) {
      const int error = PMPI_Type_create_hindexed(i[0], i.data() + 1, a.data(), t[0], &type);
      return keep(error, type);
    }
    if (name == "indexed_block" && i.size() > 1 && has(2 + count, 0, 1)) {
      const int error = PMPI_Type_create_indexed_block(i[0], i[1], i.data() + 2, t[0], &type);
      return keep(error, type);
    }
    if (name == "hindexed_block" && has(2, count, 1)) {
      const int error = PMPI_Type_create_hindexed_block(i[0], i[1], a.data(), t[0], &type);
      return keep(error, type);
    }
    if (name == "struct" && !i.empty() && has(1 + count, count, count)) {
      const int error = PMPI_Type_create_struct(i[0], i.data() + 1, a.data(), t.data(), &type);
      return keep(error, type);
    }
    if (name == "subarray" && !i.empty() && has(2 + 3 * count, 0, 1)) {
      const int error = PMPI_Type_create_subarray(i[0], i.data() + 1, i.data() + 1 + count, i.data() + 1 + 2 * count,
                                                  order_of(i[1 + 3 * count]), t[0], &type);
      return keep(error, type);
    }
    if (name == "darray" && i.size() > 3 && i[2] > 0 && has(4 + 4 * static_cast<std::size_t>(i[2]), 0, 1)) {
      const auto n = static_cast<std::size_t>(i[2]);
      const auto first = i.begin() + 3;
      const auto list = [&](std::size_t which) { return first + static_cast<std::ptrdiff_t>(which * n); };
      std::vector<int> distributions, arguments;
      std::transform(list(1), list(2), std::back_inserter(distributions), distribution_of);
      std::transform(list(2), list(3), std::back_inserter(arguments), distribution_argument_of);
      const int error = PMPI_Type_create_darray(i[0], i[1], i[2], &*first, distributions.data(), arguments.data(),
                                                &*list(3), order_of(i[3 + 4 * n]), t[0], &type);
      return keep(error, type);
    }
    if (name == "resized" && has(0, 2, 1)) {
      const int error = PMPI_Type_create_resized(t[0], a[0], a[1], &type);
      return keep(error, type);
    }
    int error = MPI_ERR_TYPE;  // these are predefined: not to be freed
    if (name == "f90_real" && i.size() == 2) error = PMPI_Type_create_f90_real(i[0], i[1], &type);
    if (name == "f90_complex" && i.size() == 2) error = PMPI_Type_create_f90_complex(i[0], i[1], &type);
    if (name == "f90_integer" && i.size() == 1) error = PMPI_Type_create_f90_integer(i[0], &type);
    return error == MPI_SUCCESS ? type : MPI_DATATYPE_NULL;
  }

  std::string_view rest_;
  std::vector<MPI_Datatype> parts_;  // intermediate types, to be freed
};

}  // namespace

MPI_Datatype make_datatype(std::string_view text_untrusted, bool& is_predefined) {
  // An invalid text gives a returned error.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Datatype type = TypeParser(text_untrusted).all(is_predefined);
  if (type != MPI_DATATYPE_NULL && !is_predefined && PMPI_Type_commit(&type) != MPI_SUCCESS) {
    PMPI_Type_free(&type);
    type = MPI_DATATYPE_NULL;
  }
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  PMPI_Errhandler_free(&handler);
  return type;
}

ReplayTypes::ReplayTypes(const std::vector<std::string>& texts, std::vector<std::string>& not_made) {
  types_.resize(texts.size());
  for (std::size_t i = 1; i < texts.size(); ++i) {
    ReplayType& type = types_[i];
    const MPI_Datatype made = make_datatype(texts[i], type.is_predefined);
    if (made == MPI_DATATYPE_NULL) {
      not_made.push_back(texts[i]);
      type = {};
      continue;
    }
    type.handle = made;
    int size = 0;
    MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    PMPI_Type_size(made, &size);
    PMPI_Type_get_extent(made, &lower, &extent);
    PMPI_Type_get_true_extent(made, &true_lower, &true_extent);
    type.size = size;
    type.extent = extent;
    type.true_lower = true_lower;
    type.true_extent = true_extent;
  }
}

ReplayTypes::~ReplayTypes() {
  for (ReplayType& type : types_) {
    if (!type.is_predefined) PMPI_Type_free(&type.handle);
  }
}

}  // namespace ardoise::replay

#include "vmpi/wrappers/type_runs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <limits>

#include "vmpi/wrappers/call_arguments.hpp"

namespace ardoise::vmpi::type_runs {
namespace {

constexpr std::int64_t kContiguous = std::numeric_limits<std::int64_t>::max();
constexpr int kMostNumbers = 64;              // of a constructor whose numbers are read
constexpr unsigned kSlots = 256;              // a power of two
constexpr std::uint32_t kMostLooks = 10'000;  // of a process: a type that is made for each message costs no more
constexpr int kDeepest = 8;

struct Shape {
  std::int64_t size = 0;  // bytes
  std::int64_t runs = 1;
  bool is_dense = true;  // one run, as long as the extent
};

int combiner_of(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  (void)PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner;
}

// Runs of blocks of dense elements.
std::int64_t runs_of_blocks(int combiner, const std::array<int, kMostNumbers>& numbers,
                            const std::array<MPI_Aint, kMostNumbers>& addresses, std::int64_t element) {
  const auto dimensions = static_cast<std::size_t>(std::clamp(numbers[0], 0, kMostNumbers / 4));
  std::int64_t runs = 1;
  switch (combiner) {
    case MPI_COMBINER_VECTOR:
      return numbers[1] == numbers[2] ? 1 : numbers[0];
    case MPI_COMBINER_HVECTOR:
      return std::int64_t{numbers[1]} * element == addresses[0] ? 1 : numbers[0];
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
      return numbers[0];
    case MPI_COMBINER_SUBARRAY: {  // dimensions, sizes, parts, begins, order
      const bool is_c = numbers[3 * dimensions + 1] == MPI_ORDER_C;
      bool is_whole = true;  // all faster dimensions are whole
      for (std::size_t i = 0; i < dimensions; ++i) {
        const std::size_t d = is_c ? dimensions - 1 - i : i;
        const int size = numbers[1 + d], part = numbers[1 + dimensions + d];
        if (!is_whole) runs *= part;
        is_whole = is_whole && part == size;
      }
      return runs;
    }
    default:
      return 1;
  }
}

Shape shape_of(MPI_Datatype type, int depth) {
  MPI_Count size = 0, lower = 0, extent = 0;
  PMPI_Type_size_x(type, &size);
  PMPI_Type_get_extent_x(type, &lower, &extent);
  Shape shape{static_cast<std::int64_t>(size), 1, size == extent};
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return shape;
  if (is_predefined(combiner)) return {shape.size, 1, true};
  if (size == 0 || depth == kDeepest) return shape;
  if (std::max({integers, addresses, types}) > kMostNumbers) {
    // Its blocks are not read: they count as contiguous ones.
    if (combiner == MPI_COMBINER_INDEXED || combiner == MPI_COMBINER_HINDEXED) shape.runs = integers / 2;
    if (combiner == MPI_COMBINER_INDEXED_BLOCK) shape.runs = integers - 2;
    if (combiner == MPI_COMBINER_HINDEXED_BLOCK) shape.runs = addresses;
    if (combiner == MPI_COMBINER_STRUCT) shape.runs = types;
    shape.is_dense = shape.is_dense && shape.runs == 1;
    return shape;
  }
  std::array<int, kMostNumbers> numbers{};
  std::array<MPI_Aint, kMostNumbers> places{};
  std::array<MPI_Datatype, kMostNumbers> parts{};
  if (PMPI_Type_get_contents(type, integers, addresses, types, numbers.data(), places.data(), parts.data()) !=
      MPI_SUCCESS)
    return shape;
  std::int64_t runs_of_parts = 0, loose = 0;  // of a struct: of its parts that are not dense
  Shape part;
  for (int i = 0; i < types; ++i) {
    MPI_Datatype& each = parts[static_cast<std::size_t>(i)];
    part = shape_of(each, depth + 1);
    if (combiner == MPI_COMBINER_STRUCT && i + 1 < kMostNumbers) {
      const int count = numbers[static_cast<std::size_t>(i) + 1];
      runs_of_parts += part.is_dense ? 1 : part.runs * count;
      loose += part.is_dense ? 0 : 1;
    }
    if (!is_predefined(combiner_of(each))) PMPI_Type_free(&each);
  }
  if (combiner == MPI_COMBINER_STRUCT) {
    shape.runs = shape.is_dense && loose == 0 ? 1 : runs_of_parts;
  } else if (!part.is_dense) {
    shape.runs = part.size == 0 ? 1 : shape.size / part.size * part.runs;
  } else {
    shape.runs = runs_of_blocks(combiner, numbers, places, part.size);
  }
  shape.runs = std::max<std::int64_t>(shape.runs, 1);
  shape.is_dense = shape.is_dense && shape.runs == 1;
  return shape;
}

// Mean runs by handle. Relaxed: two threads that meet in a slot can mix up the runs of two types, once.
struct Slot {
  std::atomic<std::int64_t> handle{0};
  std::atomic<std::uint64_t> run{0};  // generation << 32 | the run if it is short, or 0
};
std::array<Slot, kSlots> slots;
std::atomic<std::uint32_t> looks{0};

std::uint32_t short_run_of(MPI_Datatype type) {
  const std::int64_t handle = handle_word(type);
  const std::uint64_t now = generation.load(std::memory_order_relaxed);
  Slot& slot = slots[static_cast<std::uint64_t>(handle) * 0x9E3779B97F4A7C15u >> 56 & (kSlots - 1)];
  const std::uint64_t known = slot.run.load(std::memory_order_relaxed);
  if (slot.handle.load(std::memory_order_relaxed) == handle && known >> 32 == now)
    return static_cast<std::uint32_t>(known);
  if (looks.load(std::memory_order_relaxed) >= kMostLooks) return 0;
  looks.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t run = mean_run(type);
  const auto is_short = static_cast<std::uint32_t>(run <= kShort ? run : 0);
  slot.handle.store(handle, std::memory_order_relaxed);
  slot.run.store(now << 32 | is_short, std::memory_order_relaxed);
  return is_short;
}

}  // namespace

std::int64_t mean_run(MPI_Datatype type) noexcept {
  const Shape shape = shape_of(type, 0);
  return shape.is_dense ? kContiguous : std::max<std::int64_t>(1, shape.size / shape.runs);
}

void use(MPI_Datatype type) noexcept {
  const std::uint32_t run = short_run_of(type);
  if (run != 0 && (shortest == 0 || run < shortest)) shortest = run;
}

}  // namespace ardoise::vmpi::type_runs

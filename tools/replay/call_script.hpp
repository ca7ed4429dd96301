// The prepared calls of one process of a replay: its threads' calls in sequence, with all data that a call needs. The
// trace has some of these data later (such as the message of a receive with MPI_ANY_SOURCE).
//
//   thread   Step, Step, …             16 bytes each
//   shapes   CallShape, lists          each distinct call once: a loop has few
//   texts    descriptions of datatypes
//
// All data is in scratch files: memory does not grow with the length of a trace. Uses no MPI.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/replay/scratch_file.hpp"
#include "vmpi/argument_kinds.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::replay {

// A list behind a shape: kinds of vmpi::ArgumentKind, and
enum class ListKind : std::uint32_t {
  kUsed = 64,        // slots of the requests passed to a call
  kCompleted = 65,   // slots that it completed
  kStarted = 66,     // slots that it started, if several
  kPersistent = 67,  // numbers of the persistent requests that it starts or frees
  kGroup = 68,       // ranks of the window's communicator
  kAfter = 69,  // for a call that frees an object of several threads: number of calls that each thread makes before it
  kGot = 70,    // sources and tags of the messages that kStarted received, alternating; kNoRank: none
};
constexpr ListKind list_of(vmpi::ArgumentKind kind) { return static_cast<ListKind>(kind); }

inline constexpr std::uint16_t kFileReadCall = 1021, kFileWriteCall = 1022, kFileFlushCall = 1023;  // POSIX calls
static_assert(vmpi::kFunctionCount < kFileReadCall);
inline constexpr std::int32_t kNoRank = -1, kAnySource = -2, kRootGroup = -3, kAnyTag = -1;
inline constexpr std::uint32_t kNothing = UINT32_MAX;

struct CallShape {
  enum Flag : std::uint8_t {
    kInPlace = 1,
    kAnswer = 2,          // a test or a probe succeeded
    kAnySourceGiven = 4,  // the receive or probe had a wildcard; source and tag are the actual ones
    kAnyTagGiven = 8,
    kNeverDone = 16,  // started, and cancelled or not completed: it is skipped
    kAsBytes = 32,    // datatypes are unknown, counts are bytes
    kExclusive = 64,  // an exclusive lock
    kAtLeast = 128,   // absent ranks took part in it: it takes at least the recorded time
  };
  std::uint16_t function = 0;  // vmpi::FunctionId, or one of the three above
  std::uint8_t flags = 0;
  std::uint8_t operation = 0;                                // index into vmpi::kOperationNames
  std::uint32_t comm = kNothing;                             // number in the archive, as for all objects
  std::int32_t peer = kNoRank, tag = 0;                      // destination, root, target
  std::int32_t source = kNoRank, receive_tag = 0;            // of the received or probed message
  std::uint32_t type = 0, receive_type = 0, other_type = 0;  // index of texts; 0: none
  std::uint32_t object = kNothing;                           // created communicator, window, file, persistent request
  std::uint32_t region = kNothing;                           // call site in the program
  std::uint32_t list_words = 0;                              // behind the shape
  std::int64_t count = 0, receive_count = 0;
};
static_assert(sizeof(CallShape) == 64);

struct Step {
  std::uint32_t shape;     // its position / 8; kLong: pause and duration are the upper halves of those of the next step
  std::uint32_t pause;     // ns since the thread's last call ended, or since MPI_Init
  std::uint32_t duration;  // ns that the call took
  std::uint32_t slot;      // of the started request; kNothing: none
};
inline constexpr std::uint32_t kLong = UINT32_MAX;

// Lists of one shape: count and kind in a word, followed by the values.
class Lists {
 public:
  explicit Lists(const CallShape& shape)
      : words_(reinterpret_cast<const std::int64_t*>(&shape + 1), shape.list_words) {}
  [[nodiscard]] std::span<const std::int64_t> find(ListKind kind) const;

 private:
  std::span<const std::int64_t> words_;
};

// Script of one process. Not thread safe while being built; then any thread may read it.
class CallScript {
 public:
  CallScript(const std::filesystem::path& scratch_folder, std::size_t threads);

  struct List {
    ListKind kind;
    std::vector<std::int64_t> values;
  };
  // Returns its position / 8.
  std::uint32_t add_shape(CallShape shape, const std::vector<List>& lists);
  [[nodiscard]] const CallShape& shape(std::uint32_t place) const {
    return *reinterpret_cast<const CallShape*>(shapes_.at(std::uint64_t{place} * 8));
  }
  // 0: "".
  std::uint32_t add_text(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  // Size in bytes of a recorded message with this number of elements of a datatype.
  void note_size(std::uint32_t text, std::int64_t elements, std::uint64_t bytes) {
    if (text == 0 || elements <= 0 || bytes == 0) return;
    if (sizes_.size() < texts_.size()) sizes_.resize(texts_.size());
    sizes_[text] = static_cast<std::int64_t>(bytes / static_cast<std::uint64_t>(elements));
  }
  // Bytes of an element, by text; 0, or beyond the end: unknown.
  [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return sizes_; }

  // Returns the step's index in its thread.
  std::uint64_t add_step(std::size_t thread, std::uint32_t shape, std::uint64_t pause, std::uint64_t duration,
                         std::uint32_t slot);
  // For a call that starts an operation, when the end of the operation is known.
  void change_shape(std::size_t thread, std::uint64_t step, std::uint32_t shape);
  [[nodiscard]] std::span<const Step> steps(std::size_t thread) const;
  [[nodiscard]] std::span<Step> steps(std::size_t thread);
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }
  [[nodiscard]] std::uint64_t bytes() const;

  std::uint32_t slots = 0;     // number of request slots
  std::uint32_t prepared = 0;  // persistent requests

 private:
  static constexpr std::size_t kMostKnown = 65536;  // shapes searched for duplicates
  ScratchFile shapes_;
  std::vector<std::unique_ptr<ScratchFile>> threads_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_shapes_;  // by hash
  std::vector<std::string> texts_{""};
  std::unordered_map<std::string, std::uint32_t> text_numbers_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> words_;
};

}  // namespace ardoise::replay

// Encodes decisions as bytes and decodes them. A decision is a key (function, call site, communicator) and a few
// numbers (the outcome). Most decisions of a program repeat a few different ones: each different decision is defined
// once and takes one byte from then on, and repeats are counted. zstd compresses these bytes (race_format.hpp): a
// choice among eight sources takes three to four bits on disk.
//
//   0x00 … 0xEF      the decision with this number in the dictionary
//   kWide n          the decision n >= kWide's first
//   kRepeat n        the last decision n more times
//   kDefine k c v…   a new decision: key k, c numbers. k may be the number of keys so far: the key's texts follow. It
//                    takes the next number in the dictionary; when that is full it is emptied first.
//
// n, k, c are varints of base 128, numbers zigzag varints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ardoise::instrument {

struct RaceKey {
  std::string function;      // "MPI_Recv"
  std::string module;        // file name of the object with the call; "": unknown
  std::uint64_t offset = 0;  // of the return address in the object
  std::int32_t comm_size = 0;
  friend bool operator==(const RaceKey&, const RaceKey&) = default;
};

struct RaceEntry {
  std::uint32_t key = 0;
  std::vector<std::int32_t> values;
  friend bool operator==(const RaceEntry&, const RaceEntry&) = default;
};

namespace race_tokens {
inline constexpr std::uint8_t kFirstEscape = 0xF0, kWide = 0xF0, kRepeat = 0xF1, kDefine = 0xF2;
inline constexpr std::uint32_t kDictionary = 4096;
inline constexpr std::uint32_t kMaxKeys = 1u << 20, kMaxText = 4096;
}  // namespace race_tokens

// Encodes one stream. Not thread safe.
class RaceEncoder {
 public:
  RaceEncoder();

  // The bytes that the decision adds to the stream, valid until the next call. Empty: the decision repeats the last
  // one; the caller counts repeats and passes the count to the next call that returns bytes, or to repeats(). key:
  // number of a known key, or the next number together with the new key.
  [[nodiscard]] std::span<const std::byte> add(std::uint32_t key, std::span<const std::int32_t> values,
                                               std::uint32_t repeated, const RaceKey* new_key = nullptr);
  [[nodiscard]] std::span<const std::byte> repeats(std::uint32_t count);
  // Number of keys in the stream, and the number of the next one.
  [[nodiscard]] std::uint32_t keys() const { return keys_; }

 private:
  struct Known {
    std::uint64_t hash;
    std::uint32_t key, first, count;
  };
  void put_varint(std::uint64_t value);
  void put_repeats(std::uint32_t count);
  void put_text(std::string_view text);
  [[nodiscard]] bool is(const Known& known, std::uint32_t key, std::span<const std::int32_t> values) const;
  void clear();

  std::vector<std::byte> out_;
  std::vector<Known> known_;
  std::vector<std::int32_t> values_;
  std::vector<std::uint16_t> slots_;  // number + 1
  std::uint32_t keys_ = 0;
  std::uint32_t last_;
};

// The source of a decoder's bytes.
class RaceBytes {
 public:
  virtual ~RaceBytes() = default;
  // The next piece; empty: the end.
  [[nodiscard]] virtual std::span<const std::byte> next_piece() = 0;
};

class RaceDecoder {
 public:
  explicit RaceDecoder(RaceBytes& bytes_untrusted) : bytes_(bytes_untrusted) {}

  // nullptr: the stream ended, or, if is_sound() is false, the next token is invalid. Valid until the next call.
  [[nodiscard]] const RaceEntry* next();
  [[nodiscard]] bool is_sound() const { return sound_; }
  [[nodiscard]] const std::vector<RaceKey>& keys() const { return keys_; }
  // Skips the remaining repeats of the last decision and returns their number.
  [[nodiscard]] std::uint64_t skip_repeats() { return std::exchange(repeats_, 0); }
  // Adds repeats of the last decision at the end of the stream.
  void add_repeats(std::uint64_t count) { final_repeats_ = count; }

 private:
  [[nodiscard]] bool byte(std::uint8_t& value);
  [[nodiscard]] bool varint(std::uint64_t& value);
  [[nodiscard]] bool text(std::string& value);
  [[nodiscard]] bool define();
  const RaceEntry* fail() { return sound_ = false, nullptr; }

  RaceBytes& bytes_;
  std::span<const std::byte> piece_;
  std::vector<RaceEntry> known_;
  std::vector<RaceKey> keys_;
  std::size_t values_ = 0, key_texts_ = 0;  // of all known keys
  std::size_t last_ = SIZE_MAX;
  std::uint64_t repeats_ = 0, final_repeats_ = 0;
  bool sound_ = true;
};

}  // namespace ardoise::instrument

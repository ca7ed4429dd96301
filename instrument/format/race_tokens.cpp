#include "instrument/format/race_tokens.hpp"

#include <algorithm>
#include <utility>

namespace ardoise::instrument {

namespace {

constexpr std::size_t kTokenSlots = std::size_t{4} * race_tokens::kDictionary;
constexpr std::uint32_t kNoToken = UINT32_MAX;
constexpr std::size_t kMaxValues = std::size_t{1} << 24;  // of a decision
// Limits of a stream: a repetition takes no bytes in the compressed file, but memory here.
constexpr std::size_t kMaxKnownValues = std::size_t{1} << 26;  // of its dictionary: 256 MiB
constexpr std::size_t kMaxKeyTexts = std::size_t{1} << 26;     // bytes

std::uint64_t hash_of(std::uint32_t key, std::span<const std::int32_t> values) {
  std::uint64_t hash = (key + 1) * 0x9E3779B97F4A7C15u;
  for (const std::int32_t value : values) {
    hash = (hash ^ static_cast<std::uint32_t>(value)) * 0xFF51AFD7ED558CCDu;
    hash ^= hash >> 32;
  }
  return hash;
}

constexpr std::uint64_t zigzag(std::int32_t value) {
  return static_cast<std::uint32_t>(value) << 1 ^ static_cast<std::uint32_t>(value >> 31);
}
constexpr std::int32_t unzigzag(std::uint32_t word) { return static_cast<std::int32_t>(word >> 1 ^ (0u - (word & 1))); }

}  // namespace

RaceEncoder::RaceEncoder() : slots_(kTokenSlots), last_(kNoToken) { known_.reserve(race_tokens::kDictionary); }

void RaceEncoder::put_varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<std::byte>(value | 0x80));
  out_.push_back(static_cast<std::byte>(value));
}

void RaceEncoder::put_text(std::string_view text) {
  text = text.substr(0, race_tokens::kMaxText);
  put_varint(text.size());
  for (const char letter : text) out_.push_back(static_cast<std::byte>(letter));
}

bool RaceEncoder::is(const Known& known, std::uint32_t key, std::span<const std::int32_t> values) const {
  return known.key == key && known.count == values.size() &&
         std::equal(values.begin(), values.end(), values_.begin() + known.first);
}

void RaceEncoder::clear() {
  known_.clear();
  values_.clear();
  std::fill(slots_.begin(), slots_.end(), std::uint16_t{0});
}

void RaceEncoder::put_repeats(std::uint32_t count) {
  if (count == 0) return;
  if (count == 1 && last_ < race_tokens::kFirstEscape) return out_.push_back(static_cast<std::byte>(last_));
  out_.push_back(std::byte{race_tokens::kRepeat});
  put_varint(count);
}

std::span<const std::byte> RaceEncoder::repeats(std::uint32_t count) {
  out_.clear();
  put_repeats(count);
  return out_;
}

std::span<const std::byte> RaceEncoder::add(std::uint32_t key, std::span<const std::int32_t> values,
                                            std::uint32_t repeated, const RaceKey* new_key) {
  out_.clear();
  if (last_ != kNoToken && is(known_[last_], key, values)) return out_;
  put_repeats(repeated);
  const std::uint64_t hash = hash_of(key, values);
  std::size_t slot = hash % kTokenSlots;
  for (; slots_[slot] != 0; slot = (slot + 1) % kTokenSlots) {
    const std::uint32_t number = slots_[slot] - 1u;
    if (known_[number].hash != hash || !is(known_[number], key, values)) continue;
    last_ = number;
    if (number < race_tokens::kFirstEscape) {
      out_.push_back(static_cast<std::byte>(number));
    } else {
      out_.push_back(std::byte{race_tokens::kWide});
      put_varint(number);
    }
    return out_;
  }
  if (known_.size() == race_tokens::kDictionary) {
    clear();
    slot = hash % kTokenSlots;
  }
  slots_[slot] = static_cast<std::uint16_t>(known_.size() + 1);
  last_ = static_cast<std::uint32_t>(known_.size());
  known_.push_back({hash, key, static_cast<std::uint32_t>(values_.size()), static_cast<std::uint32_t>(values.size())});
  values_.insert(values_.end(), values.begin(), values.end());
  out_.push_back(std::byte{race_tokens::kDefine});
  put_varint(key);
  if (key == keys_ && new_key != nullptr) {
    ++keys_;
    put_text(new_key->function);
    put_text(new_key->module);
    put_varint(new_key->offset);
    put_varint(zigzag(new_key->comm_size));
  }
  put_varint(values.size());
  for (const std::int32_t value : values) put_varint(zigzag(value));
  return out_;
}

bool RaceDecoder::byte(std::uint8_t& value) {
  if (piece_.empty()) piece_ = bytes_.next_piece();
  if (piece_.empty()) return false;
  value = static_cast<std::uint8_t>(piece_.front());
  piece_ = piece_.subspan(1);
  return true;
}

bool RaceDecoder::varint(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    std::uint8_t next = 0;
    if (!byte(next)) return false;
    value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
    if (next < 0x80) return true;
  }
  return false;
}

bool RaceDecoder::text(std::string& value) {
  std::uint64_t length = 0;
  if (!varint(length) || length > race_tokens::kMaxText) return false;
  value.resize(length);
  for (char& letter : value) {
    std::uint8_t next = 0;
    if (!byte(next)) return false;
    letter = static_cast<char>(next);
  }
  return true;
}

bool RaceDecoder::define() {
  std::uint64_t key = 0, count = 0, word = 0;
  if (!varint(key) || key > keys_.size() || key >= race_tokens::kMaxKeys) return false;
  if (key == keys_.size()) {
    RaceKey made;
    if (!text(made.function) || !text(made.module) || !varint(made.offset) || !varint(word) || word > UINT32_MAX)
      return false;
    key_texts_ += made.function.size() + made.module.size();
    if (key_texts_ > kMaxKeyTexts) return false;
    made.comm_size = unzigzag(static_cast<std::uint32_t>(word));
    keys_.push_back(std::move(made));
  }
  if (known_.size() == race_tokens::kDictionary) {
    known_.clear();
    values_ = 0;
  }
  if (!varint(count) || count > kMaxValues || values_ + count > kMaxKnownValues) return false;
  values_ += count;
  RaceEntry entry{static_cast<std::uint32_t>(key), {}};
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!varint(word) || word > UINT32_MAX) return false;
    entry.values.push_back(unzigzag(static_cast<std::uint32_t>(word)));
  }
  known_.push_back(std::move(entry));
  return true;
}

const RaceEntry* RaceDecoder::next() {
  if (!sound_) return nullptr;
  for (;;) {
    if (repeats_ != 0) {
      --repeats_;
      return &known_[last_];
    }
    std::uint8_t token = 0;
    if (!byte(token)) {
      if (final_repeats_ == 0 || last_ == SIZE_MAX) return nullptr;
      repeats_ = std::exchange(final_repeats_, 0);
      continue;
    }
    std::uint64_t number = token;
    if (token == race_tokens::kRepeat) {
      if (!varint(repeats_) || last_ == SIZE_MAX) return fail();
      continue;
    }
    if (token == race_tokens::kDefine) {
      if (!define()) return fail();
      number = known_.size() - 1;
    } else if (token == race_tokens::kWide) {
      if (!varint(number)) return fail();
    } else if (token > race_tokens::kDefine) {
      return fail();
    }
    if (number >= known_.size()) return fail();
    last_ = number;
    return &known_[last_];
  }
}

}  // namespace ardoise::instrument

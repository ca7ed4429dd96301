// The bytes of partial results: values in sequence in the machine's byte order (the analyzers of a launch run the same
// binary), written by ByteWriter and read by ByteReader, which validates all input: a read beyond the end, a count too
// large for the remaining bytes, and leftover bytes throw BadPartial.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ardoise::knowledge_sources {

// The bytes of absorb() come from another analyzer of this launch but are still validated: malformed ones throw this.
struct BadPartial : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { append(std::as_bytes(std::span(&value, 1))); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put_array(std::span<const T> values) {
    put_count(values.size());
    append(std::as_bytes(values));
  }
  void put_count(std::size_t count) { put(static_cast<std::uint64_t>(count)); }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    append(std::as_bytes(std::span(text)));
  }
  void put_bytes(std::span<const std::byte> bytes) { put_array(bytes); }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    const std::size_t old = bytes_.size();
    bytes_.resize(old + bytes.size());
    std::memcpy(bytes_.data() + old, bytes.data(), bytes.size());
  }
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  // `what` names the partial result in messages.
  ByteReader(std::span<const std::byte> bytes_untrusted, std::string_view what) : rest_(bytes_untrusted), what_(what) {}

  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  // A count of elements of at least `bytes_each` bytes each.
  [[nodiscard]] std::size_t get_count(std::size_t bytes_each) {
    const auto count = get<std::uint64_t>();
    if (count > rest_.size() / bytes_each) fail("has a count larger than its bytes allow");
    return static_cast<std::size_t>(count);
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::vector<T> get_array() {
    std::vector<T> values(get_count(sizeof(T)));
    const auto bytes = take(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  [[nodiscard]] std::string_view get_text() {
    const auto bytes = take(get<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  [[nodiscard]] std::span<const std::byte> get_bytes() { return take(get_count(1)); }

  // Checks the version at the beginning of a partial result.
  void expect_version(std::uint32_t version) {
    if (get<std::uint32_t>() != version) fail("has another version");
  }
  void expect_end() const {
    if (!rest_.empty()) fail("is longer than its contents");
  }
  void check(bool condition, const char* wrong) const {
    if (!condition) fail(wrong);
  }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  [[noreturn]] void fail(const char* wrong) const {
    throw BadPartial("The partial result of " + std::string(what_) + " from another analyzer " + wrong + ".");
  }
  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > rest_.size()) fail("ends too early");
    const auto result = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return result;
  }
  std::span<const std::byte> rest_;
  std::string_view what_;
};

// The usual content of Analysis::partial() and absorb(): a version and some parts, each with write(ByteWriter&) const
// and read(ByteReader&) into an empty one. Merge the parts only after read_partial() has returned: it throws
// BadPartial.
template <class... Parts>
[[nodiscard]] std::vector<std::byte> write_partial(std::uint32_t version, const Parts&... parts) {
  ByteWriter out;
  out.put(version);
  (parts.write(out), ...);
  return out.take();
}
template <class... Parts>
void read_partial(std::span<const std::byte> bytes_untrusted, std::string_view what, std::uint32_t version,
                  Parts&... parts) {
  ByteReader in(bytes_untrusted, what);
  in.expect_version(version);
  (parts.read(in), ...);
  in.expect_end();
}

}  // namespace ardoise::knowledge_sources

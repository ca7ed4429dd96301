#include "instrument/unwind/eh_frame.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace ardoise::instrument {
namespace {

// Bytes of the object from `at` to `end`; a read beyond the end makes the cursor fail for good.
class Cursor {
 public:
  Cursor(std::uint64_t at, std::uint64_t end) : at_(at), end_(at <= end ? end : at) {}

  template <class Value>
  Value take() {
    Value value{};
    if (end_ - at_ < sizeof(Value)) {
      failed_ = true;
      at_ = end_;
      return value;
    }
    std::memcpy(&value, reinterpret_cast<const void*>(at_), sizeof(Value));
    at_ += sizeof(Value);
    return value;
  }
  std::uint64_t take_uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7Fu) << shift;
      if ((byte & 0x80u) == 0) return value;
    }
  }
  std::int64_t take_sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7Fu) << shift;
      shift += 7;
      if ((byte & 0x80u) != 0) continue;
      if (shift < 64 && (byte & 0x40u) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  void skip(std::uint64_t bytes) {
    if (bytes > end_ - at_) {
      failed_ = true;
      at_ = end_;
    } else {
      at_ += bytes;
    }
  }
  [[nodiscard]] std::uint64_t at() const { return at_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] bool done() const { return at_ >= end_; }
  [[nodiscard]] bool failed() const { return failed_; }
  void fail() { failed_ = true; }

 private:
  std::uint64_t at_, end_;
  bool failed_ = false;
};

// DW_EH_PE_*: the low four bits give the format of a pointer, the next three its base.
std::uint64_t take_pointer(Cursor& cursor, unsigned encoding, std::uint64_t data_base) {
  const std::uint64_t place = cursor.at();
  std::uint64_t value = 0;
  switch (encoding & 0x0Fu) {
    case 0x00:
    case 0x04:
    case 0x0C:
      value = cursor.take<std::uint64_t>();
      break;
    case 0x01:
      value = cursor.take_uleb();
      break;
    case 0x02:
      value = cursor.take<std::uint16_t>();
      break;
    case 0x03:
      value = cursor.take<std::uint32_t>();
      break;
    case 0x09:
      value = static_cast<std::uint64_t>(cursor.take_sleb());
      break;
    case 0x0A:
      value = static_cast<std::uint64_t>(std::int64_t{cursor.take<std::int16_t>()});
      break;
    case 0x0B:
      value = static_cast<std::uint64_t>(std::int64_t{cursor.take<std::int32_t>()});
      break;
    default:
      cursor.fail();
  }
  switch (encoding & 0x70u) {
    case 0x00:
      return value;
    case 0x10:
      return value + place;
    case 0x30:
      return value + data_base;
    default:
      cursor.fail();
      return 0;
  }
}

// The rule of a register while instructions run; `kAtCfa` with an offset, or one of the other kinds.
struct Saved {
  SavedKind kind = SavedKind::kSame;
  std::int64_t offset = 0;
};
struct Row {
  CfaKind cfa = CfaKind::kUnknown;
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0, cfa_add = 0;
  Saved rbx, rbp, return_address{SavedKind::kAtCfa, -8};
};

struct Cie {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint64_t return_register = kDwarfReturnAddress;
  unsigned pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool is_signal_frame = false;
  std::uint64_t instructions = 0, end = 0;
};

bool read_cie(std::uint64_t address, std::uint64_t limit, Cie& cie) {
  Cursor head(address, limit);
  const auto length = head.take<std::uint32_t>();
  if (head.failed() || length == 0 || length == 0xFFFFFFFFu || length > limit - head.at()) return false;
  cie.end = head.at() + length;
  Cursor cursor(head.at(), cie.end);
  if (cursor.take<std::uint32_t>() != 0) return false;  // the id of a CIE
  const auto version = cursor.take<std::uint8_t>();
  if (version != 1 && version != 3 && version != 4) return false;
  std::array<char, 8> augmentation{};
  for (std::size_t i = 0;; ++i) {
    const char letter = cursor.take<char>();
    if (letter == '\0') break;
    if (i + 1 >= augmentation.size()) return false;
    augmentation[i] = letter;
  }
  if (version == 4) cursor.skip(2);
  cie.code_alignment = cursor.take_uleb();
  cie.data_alignment = cursor.take_sleb();
  cie.return_register = version == 1 ? cursor.take<std::uint8_t>() : cursor.take_uleb();
  if (augmentation[0] == 'z') {
    cie.has_augmentation_data = true;
    const std::uint64_t bytes = cursor.take_uleb();
    if (bytes > cursor.end() - cursor.at()) return false;
    cie.instructions = cursor.at() + bytes;
    Cursor data(cursor.at(), cie.instructions);
    for (std::size_t i = 1; augmentation[i] != '\0'; ++i) {
      if (augmentation[i] == 'R') {
        cie.pointer_encoding = data.take<std::uint8_t>();
      } else if (augmentation[i] == 'P') {
        const unsigned encoding = data.take<std::uint8_t>();
        (void)take_pointer(data, encoding & 0x0Fu, 0);
      } else if (augmentation[i] == 'L') {
        (void)data.take<std::uint8_t>();
      } else if (augmentation[i] == 'S') {
        cie.is_signal_frame = true;
      }
    }
    if (data.failed()) return false;
  } else if (augmentation[0] != '\0') {
    return false;
  } else {
    cie.instructions = cursor.at();
  }
  return !cursor.failed();
}

bool fits(std::int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// Reads a block with one of the expressions that compilers and linkers use for the CFA.
void cfa_expression(Row& row, Cursor block, std::uint64_t pc) {
  row.cfa = CfaKind::kUnknown;
  const auto first = block.take<std::uint8_t>();
  if (first < 0x70 || first > 0x8F) return;  // DW_OP_breg0 … breg31
  const std::uint64_t base = first - 0x70u;
  const std::int64_t offset = block.take_sleb();
  if (block.failed()) return;
  if (block.done()) {
    row = Row{CfaKind::kRegister, base, offset, 0, row.rbx, row.rbp, row.return_address};
    return;
  }
  const auto second = block.take<std::uint8_t>();
  if (second == 0x06) {  // DW_OP_deref [DW_OP_plus_uconst n]
    std::int64_t add = 0;
    if (!block.done()) {
      if (block.take<std::uint8_t>() != 0x23) return;
      add = static_cast<std::int64_t>(block.take_uleb());
      if (!block.done()) return;
    }
    if (block.failed()) return;
    row = Row{CfaKind::kMemory, base, offset, add, row.rbx, row.rbp, row.return_address};
    return;
  }
  // The linkers' procedure linkage table: rsp + 8 + ((rip & 15) >= n) * 8, as expression
  //  breg7 8; breg16 0; lit15; and; lit n; ge; lit3; shl; plus.
  constexpr std::array<std::uint8_t, 8> kTail{0x3F, 0x1A, 0, 0x2A, 0x33, 0x24, 0x22, 0};
  if (base != kDwarfRsp || second != 0x70 + kDwarfReturnAddress || block.take_sleb() != 0) return;
  std::uint64_t threshold = 0;
  for (std::size_t i = 0; i + 1 < kTail.size(); ++i) {
    const auto byte = block.take<std::uint8_t>();
    if (i == 2) {
      if (byte < 0x30 || byte > 0x4F) return;
      threshold = byte - 0x30u;
    } else if (byte != kTail[i]) {
      return;
    }
  }
  if (block.failed() || !block.done()) return;
  row.cfa = CfaKind::kRegister;
  row.cfa_register = kDwarfRsp;
  row.cfa_offset = fits(offset) ? offset + ((pc & 15u) >= threshold ? 8 : 0) : offset;
}

Saved saved_by_expression(Cursor block) {
  if (block.take<std::uint8_t>() != 0x70 + kDwarfRbp) return {SavedKind::kLost, 0};
  const std::int64_t offset = block.take_sleb();
  if (block.failed() || !block.done()) return {SavedKind::kLost, 0};
  return {SavedKind::kAtRbp, offset};
}

class Interpreter {
 public:
  Interpreter(const Cie& cie, std::uint64_t pc) : cie_(cie), pc_(pc) {}

  // Runs instructions until the row of pc is complete. location: the start of the first row.
  bool run(std::uint64_t begin, std::uint64_t end, std::uint64_t location, std::uint64_t data_base) {
    Cursor cursor(begin, end);
    while (!cursor.done() && location <= pc_) {
      const auto byte = cursor.take<std::uint8_t>();
      const unsigned low = byte & 0x3Fu;
      switch (byte & 0xC0u) {
        case 0x40:  // DW_CFA_advance_loc
          location += low * cie_.code_alignment;
          continue;
        case 0x80:  // DW_CFA_offset
          set(low, {SavedKind::kAtCfa, scaled(cursor.take_uleb())});
          continue;
        case 0xC0:  // DW_CFA_restore
          restore(low);
          continue;
        default:
          break;
      }
      if (!extended(byte, cursor, location, data_base)) return false;
    }
    return !cursor.failed();
  }
  void keep_as_initial() { initial_ = row; }

  Row row;
  bool returns_by_register = false;  // the return address is in a register at the requested program counter

 private:
  // Unsigned: invalid values wrap around, and to_rule() refuses results that do not fit.
  [[nodiscard]] std::int64_t scaled(std::uint64_t factored) const {
    return static_cast<std::int64_t>(factored * static_cast<std::uint64_t>(cie_.data_alignment));
  }
  [[nodiscard]] std::int64_t take_scaled(Cursor& cursor) const {
    return scaled(static_cast<std::uint64_t>(cursor.take_sleb()));
  }
  Saved* saved(std::uint64_t number) {
    if (number == kDwarfRbx) return &row.rbx;
    if (number == kDwarfRbp) return &row.rbp;
    if (number == cie_.return_register) return &row.return_address;
    return nullptr;
  }
  void set(std::uint64_t number, Saved value) {
    if (Saved* const place = saved(number)) *place = value;
  }
  void restore(std::uint64_t number) {
    if (number == kDwarfRbx) row.rbx = initial_.rbx;
    if (number == kDwarfRbp) row.rbp = initial_.rbp;
    if (number == cie_.return_register) row.return_address = initial_.return_address;
  }
  static Cursor block(Cursor& cursor) {
    const std::uint64_t bytes = cursor.take_uleb();
    const std::uint64_t begin = cursor.at();
    cursor.skip(bytes);
    return {begin, cursor.failed() ? begin : begin + bytes};
  }
  void define_cfa(std::uint64_t number, std::int64_t offset) {
    row.cfa = CfaKind::kRegister;
    row.cfa_register = number;
    row.cfa_offset = offset;
    row.cfa_add = 0;
  }

  bool extended(unsigned operation, Cursor& cursor, std::uint64_t& location, std::uint64_t data_base) {
    switch (operation) {
      case 0x00:  // nop
        return true;
      case 0x01:  // set_loc
        location = take_pointer(cursor, cie_.pointer_encoding, data_base);
        return true;
      case 0x02:  // advance_loc1, 2, 4
        location += cursor.take<std::uint8_t>() * cie_.code_alignment;
        return true;
      case 0x03:
        location += cursor.take<std::uint16_t>() * cie_.code_alignment;
        return true;
      case 0x04:
        location += cursor.take<std::uint32_t>() * cie_.code_alignment;
        return true;
      case 0x05: {  // offset_extended
        const std::uint64_t number = cursor.take_uleb();
        set(number, {SavedKind::kAtCfa, scaled(cursor.take_uleb())});
        return true;
      }
      case 0x06:  // restore_extended
        restore(cursor.take_uleb());
        return true;
      case 0x07:  // undefined
        set(cursor.take_uleb(), {SavedKind::kLost, 0});
        return true;
      case 0x08:  // same_value
        set(cursor.take_uleb(), {SavedKind::kSame, 0});
        return true;
      case 0x09: {  // register: saved in another register, which is not supported
        const std::uint64_t number = cursor.take_uleb();
        set(number, {SavedKind::kLost, 0});
        returns_by_register = returns_by_register || number == cie_.return_register;
        (void)cursor.take_uleb();
        return true;
      }
      case 0x0A:  // remember_state
        if (depth_ == remembered_.size()) return false;
        remembered_[depth_++] = row;
        return true;
      case 0x0B:  // restore_state
        if (depth_ == 0) return false;
        row = remembered_[--depth_];
        return true;
      case 0x0C: {  // def_cfa
        const std::uint64_t number = cursor.take_uleb();
        define_cfa(number, static_cast<std::int64_t>(cursor.take_uleb()));
        return true;
      }
      case 0x0D:  // def_cfa_register
        if (row.cfa != CfaKind::kRegister) return false;
        row.cfa_register = cursor.take_uleb();
        return true;
      case 0x0E:  // def_cfa_offset
        if (row.cfa != CfaKind::kRegister) return false;
        row.cfa_offset = static_cast<std::int64_t>(cursor.take_uleb());
        return true;
      case 0x0F:  // def_cfa_expression
        cfa_expression(row, block(cursor), pc_);
        return true;
      case 0x10: {  // expression
        const std::uint64_t number = cursor.take_uleb();
        set(number, saved_by_expression(block(cursor)));
        return true;
      }
      case 0x11: {  // offset_extended_sf
        const std::uint64_t number = cursor.take_uleb();
        set(number, {SavedKind::kAtCfa, take_scaled(cursor)});
        return true;
      }
      case 0x12: {  // def_cfa_sf
        const std::uint64_t number = cursor.take_uleb();
        define_cfa(number, take_scaled(cursor));
        return true;
      }
      case 0x13:  // def_cfa_offset_sf
        if (row.cfa != CfaKind::kRegister) return false;
        row.cfa_offset = take_scaled(cursor);
        return true;
      case 0x14:  // val_offset, val_offset_sf
      case 0x15:
        set(cursor.take_uleb(), {SavedKind::kLost, 0});
        (void)cursor.take_uleb();
        return true;
      case 0x16:  // val_expression
        set(cursor.take_uleb(), {SavedKind::kLost, 0});
        (void)block(cursor);
        return true;
      case 0x2E:  // GNU_args_size
        (void)cursor.take_uleb();
        return true;
      case 0x2F: {  // GNU_negative_offset_extended
        const std::uint64_t number = cursor.take_uleb();
        set(number, {SavedKind::kAtCfa, scaled(0 - cursor.take_uleb())});
        return true;
      }
      default:
        return false;
    }
  }

  const Cie& cie_;
  const std::uint64_t pc_;
  Row initial_;
  std::array<Row, 4> remembered_;  // compilers nest one deep; small stacks have little room
  std::size_t depth_ = 0;
};

// The address of the FDE that .eh_frame_hdr lists for pc, or 0.
std::uint64_t search(const EhFrame& object, std::uint64_t pc) {
  Cursor cursor(object.header, object.map_end);
  const auto version = cursor.take<std::uint8_t>();
  const unsigned pointer = cursor.take<std::uint8_t>(), count = cursor.take<std::uint8_t>(),
                 table = cursor.take<std::uint8_t>();
  // The form that every linker writes: udata4; datarel, sdata4.
  if (version != 1 || count != 0x03 || table != 0x3B) return 0;
  (void)take_pointer(cursor, pointer, object.header);
  const std::uint64_t entries = cursor.take<std::uint32_t>();
  if (cursor.failed() || entries == 0 || entries > (object.map_end - cursor.at()) / 8) return 0;
  struct Entry {
    std::int32_t begin, fde;
  };
  const auto entry = [first = cursor.at()](std::uint64_t i) {
    Entry value;  // copied: it may be unaligned
    std::memcpy(&value, reinterpret_cast<const void*>(first + i * sizeof(Entry)), sizeof(Entry));
    return value;
  };
  const auto wanted = static_cast<std::int64_t>(pc - object.header);
  std::uint64_t low = 0, high = entries;  // the last entry that begins at or before pc is in [low, high)
  if (entry(0).begin > wanted) return 0;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (entry(middle).begin <= wanted ? low : high) = middle;
  }
  return object.header + static_cast<std::uint64_t>(std::int64_t{entry(low).fde});
}

bool to_rule(const Row& row, UnwindRule& rule) {
  if (row.cfa == CfaKind::kUnknown || row.cfa_register > 16 || !fits(row.cfa_offset) || !fits(row.cfa_add) ||
      !fits(row.rbp.offset) || !fits(row.rbx.offset) || row.return_address.kind != SavedKind::kAtCfa ||
      row.return_address.offset < INT16_MIN || row.return_address.offset > INT16_MAX) {
    return false;
  }
  rule.cfa = row.cfa;
  rule.cfa_register = static_cast<std::uint8_t>(row.cfa_register);
  rule.cfa_offset = static_cast<std::int32_t>(row.cfa_offset);
  rule.cfa_add = static_cast<std::int32_t>(row.cfa_add);
  rule.rbp = row.rbp.kind;
  rule.rbp_offset = static_cast<std::int32_t>(row.rbp.offset);
  rule.rbx = row.rbx.kind;
  rule.rbx_offset = static_cast<std::int32_t>(row.rbx.offset);
  rule.return_offset = static_cast<std::int16_t>(row.return_address.offset);
  return true;
}

}  // namespace

bool find_unwind_rule(const EhFrame& object, std::uint64_t pc, UnwindRule& rule) {
  if (object.header < object.map_begin || object.header >= object.map_end) return false;
  const std::uint64_t fde = search(object, pc);
  if (fde < object.map_begin || fde >= object.map_end) return false;

  Cursor head(fde, object.map_end);
  const auto length = head.take<std::uint32_t>();
  if (head.failed() || length == 0 || length == 0xFFFFFFFFu || length > object.map_end - head.at()) return false;
  Cursor cursor(head.at(), head.at() + length);
  const std::uint64_t place = cursor.at();
  const auto back = cursor.take<std::uint32_t>();
  if (back == 0 || back > place - object.map_begin) return false;
  Cie cie;
  if (!read_cie(place - back, object.map_end, cie)) return false;
  const std::uint64_t begin = take_pointer(cursor, cie.pointer_encoding, object.header);
  const std::uint64_t bytes = take_pointer(cursor, cie.pointer_encoding & 0x0Fu, 0);
  if (cursor.failed() || pc < begin || pc - begin >= bytes) return false;
  if (cie.has_augmentation_data) cursor.skip(cursor.take_uleb());

  UnwindRule made;
  made.function_distance = static_cast<std::uint32_t>(pc - begin);
  if (cie.is_signal_frame) {
    made.frame = FrameKind::kSignal;
    rule = made;
    return true;
  }
  Interpreter interpreter(cie, pc);
  if (!interpreter.run(cie.instructions, cie.end, 0, object.header)) return false;
  interpreter.keep_as_initial();
  if (!interpreter.run(cursor.at(), cursor.end(), begin, object.header)) return false;
  if (interpreter.returns_by_register) {
    made.cfa = CfaKind::kUnknown;  // the last instructions of longjmp: the walk ends early and is marked so
  } else if (interpreter.row.return_address.kind == SavedKind::kLost) {
    made.frame = FrameKind::kOutermost;
  } else if (!to_rule(interpreter.row, made)) {
    return false;
  }
  rule = made;
  return true;
}

}  // namespace ardoise::instrument

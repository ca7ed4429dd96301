#include "knowledge_sources/plugins/waits/travel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "knowledge_sources/containers/varint.hpp"
#include "knowledge_sources/plugins/waits/window_travel.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr unsigned kCall = 0, kEnd = 1, kWait = 2, kJump = 3, kKind = 3;
constexpr unsigned kSends = 1 << 2;        // a wait: is certain
constexpr unsigned kShares = 1 << 3;       // its call has other operations
constexpr unsigned kPostedThere = 1 << 4;  // in the waiting call
constexpr unsigned kOtherClock = 1 << 5;   // error differs from the previous record
constexpr unsigned kOther = 1 << 6;        // a WindowPart, with its kind in the lower bits; or kPair
constexpr unsigned kPair = kOther | 3;     // a NeighbourPair

std::int64_t whole(double ns) { return ns > -9e18 && ns < 9e18 ? static_cast<std::int64_t>(ns) : 0; }
std::uint64_t whole(float ns) { return ns > 0 ? static_cast<std::uint64_t>(std::llround(std::min(ns, 1e18f))) : 0; }

}  // namespace

struct TravelCodec::Writer {
  TravelCodec& state;
  std::vector<std::byte>& out;

  void number(std::uint64_t value) const { put_varint(out, value); }
  void difference(std::int64_t value, std::int64_t& before) const {
    put_signed(out, value - before);
    before = value;
  }
  void flags(unsigned bits) const { out.push_back(static_cast<std::byte>(bits)); }

  void comm(const CommIdentity& comm) const {
    const auto known = std::ranges::find(state.comms_, comm);
    number(static_cast<std::uint64_t>(known - state.comms_.begin()));
    if (known != state.comms_.end()) return;
    state.comms_.push_back(comm);
    const auto bytes = std::as_bytes(std::span(&comm, 1));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  void stretch(const Stretch& stretch) const {
    number(whole(stretch.all));
    number(whole(stretch.mpi));
    const std::uint64_t sampled = whole(stretch.sampled);
    number(sampled);
    if (sampled > 0) number(stretch.place);
  }
  [[nodiscard]] unsigned flags_of(const Part& part) const {
    return (part.operations > 1 ? kShares : 0u) | (part.begin == part.posted ? kPostedThere : 0u) |
           (part.clock_error != state.clock_error_ ? kOtherClock : 0u);
  }
  void part(const Part& part) const {
    difference(whole(part.posted), state.posted_);
    if (part.begin != part.posted) put_signed(out, whole(part.begin - part.posted));
    put_signed(out, whole(part.end - part.begin));
    difference(part.rank, state.rank_);
    if (part.clock_error != state.clock_error_) {
      state.clock_error_ = part.clock_error;
      const auto bytes = std::bit_cast<std::array<std::byte, 4>>(part.clock_error);
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
    if (part.operations > 1) {
      number(part.operations);
      number(part.call);
    }
    number(part.call_site);
    number(part.function);
    stretch(part.stretch);
  }

  void operator()(const InCollective& call) const {
    flags(kCall | flags_of(call.arrival.part));
    part(call.arrival.part);
    comm(call.key.comm);
    difference(static_cast<std::int64_t>(call.key.number), state.number_);
    number(call.function);
    put_signed(out, std::int64_t{call.arrival.comm_rank} - call.arrival.part.rank);
    put_signed(out, call.arrival.root);
  }
  void operator()(const EndOfMessage& end) const {
    flags(kEnd | (end.sends ? kSends : 0u) | flags_of(end.part));
    part(end.part);
    comm(end.channel.comm);
    const std::int64_t own = end.sends ? end.channel.source : end.channel.destination;
    const std::int64_t other = end.sends ? end.channel.destination : end.channel.source;
    put_signed(out, own - end.part.rank);
    put_signed(out, other - own);
    put_signed(out, end.channel.tag);
    if (end.sends) return;
    difference(end.part.order, state.number_);
    number(whole(end.part.asked));
  }
  void operator()(const SharedWait& shared) const {
    const Wait& wait = shared.wait;
    flags(kWait | (wait.certain ? kSends : 0u));
    difference(wait.waiter, state.rank_);
    number(wait.call);
    number(wait.operations);
    number(wait.ns);
    if (wait.ns == 0) return;
    number(shared.home);
    difference(whole(wait.call_begin), state.posted_);
    put_signed(out, whole(wait.begin - wait.call_begin));
    number(static_cast<std::uint64_t>(wait.pattern));
    number(wait.awaited + 1);  // kNobody: 0
    number(wait.call_site);
    number(wait.function);
    stretch(wait.of_waiter);
    if (wait.awaited != kNobody) stretch(wait.of_awaited);
  }
  void operator()(const PathJump& jump) const {
    flags(kJump);
    difference(jump.time, state.posted_);
    difference(jump.waiter, state.rank_);
    put_signed(out, std::int64_t{jump.awaited} - jump.waiter);
  }
  void operator()(const NeighbourPair& pair) const {
    flags(kPair);
    comm(pair.key.comm);
    difference(static_cast<std::int64_t>(pair.key.number), state.number_);
    number(pair.ranks.source);
    put_signed(out, std::int64_t{pair.ranks.destination} - pair.ranks.source);
  }
  void operator()(WindowPart part) const;
};

// For window_travel.hpp.
struct TravelCodec::FieldWriter {
  const Writer& to;
  void time(double ns) const { to.difference(whole(ns), to.state.posted_); }
  void rank(std::uint32_t rank) const { to.difference(rank, to.state.rank_); }
  void number(std::uint64_t value) const { to.number(value); }
  void comm(const CommIdentity& comm) const { to.comm(comm); }
  void stretch(const Stretch& stretch) const { to.stretch(stretch); }
  void error(float ns) const {
    const auto bytes = std::bit_cast<std::array<std::byte, 4>>(ns);
    to.out.insert(to.out.end(), bytes.begin(), bytes.end());
  }
};

void TravelCodec::Writer::operator()(WindowPart part) const {
  flags(kOther | static_cast<unsigned>(part.index()));
  std::visit([this](auto& each) { code_fields(FieldWriter{*this}, each); }, part);
}

struct TravelCodec::Reader {
  TravelCodec& state;
  ByteReader& in;

  [[nodiscard]] std::uint32_t number() const { return static_cast<std::uint32_t>(get_varint(in)); }
  std::int64_t difference(std::int64_t& before) const {
    // Unsigned: invalid input may wrap around.
    before = static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(get_signed(in)));
    return before;
  }
  [[nodiscard]] double ns() const { return static_cast<double>(get_signed(in)); }
  [[nodiscard]] CommIdentity comm() const {
    const std::uint64_t known = get_varint(in);
    in.check(known <= state.comms_.size(), "refers to a communicator that does not exist");
    if (known == state.comms_.size()) state.comms_.push_back(in.get<CommIdentity>());
    return state.comms_[known];
  }
  [[nodiscard]] Stretch stretch() const {
    Stretch stretch{};
    stretch.all = static_cast<float>(get_varint(in));
    stretch.mpi = static_cast<float>(get_varint(in));
    stretch.sampled = static_cast<float>(get_varint(in));
    if (stretch.sampled > 0) stretch.place = number();
    return stretch;
  }
  [[nodiscard]] Part part(unsigned flags) const {
    Part part{};
    part.posted = static_cast<double>(difference(state.posted_));
    part.begin = part.posted + ((flags & kPostedThere) != 0 ? 0 : ns());
    part.end = part.begin + ns();
    part.rank = static_cast<std::uint32_t>(difference(state.rank_));
    if ((flags & kOtherClock) != 0) state.clock_error_ = in.get<float>();
    part.clock_error = state.clock_error_;
    part.operations = 1;
    if ((flags & kShares) != 0) {
      part.operations = number();
      part.call = number();
    }
    part.call_site = number();
    part.function = number();
    part.stretch = stretch();
    return part;
  }
  // A rank of a communicator, relative to another number.
  [[nodiscard]] std::uint32_t rank_beside(std::uint32_t other) const {
    return other + static_cast<std::uint32_t>(get_signed(in));
  }

  [[nodiscard]] InCollective call(unsigned flags) const {
    InCollective call{};
    call.arrival.part = part(flags);
    call.key.comm = comm();
    call.key.number = static_cast<std::uint64_t>(difference(state.number_));
    call.function = number();
    call.arrival.comm_rank = rank_beside(call.arrival.part.rank);
    call.arrival.root = static_cast<std::int32_t>(get_signed(in));
    return call;
  }
  [[nodiscard]] EndOfMessage end(unsigned flags) const {
    EndOfMessage end{};
    end.sends = (flags & kSends) != 0;
    end.part = part(flags);
    end.channel.comm = comm();
    const std::uint32_t own = rank_beside(end.part.rank), other = rank_beside(own);
    end.channel.source = end.sends ? own : other;
    end.channel.destination = end.sends ? other : own;
    end.channel.tag = static_cast<std::int32_t>(get_signed(in));
    if (end.sends) return end;
    end.part.order = static_cast<std::uint32_t>(difference(state.number_));
    end.part.asked = static_cast<float>(get_varint(in));
    return end;
  }
  [[nodiscard]] SharedWait wait(unsigned flags) const {
    SharedWait shared{};
    Wait& wait = shared.wait;
    wait.certain = (flags & kSends) != 0;
    wait.waiter = static_cast<std::uint32_t>(difference(state.rank_));
    wait.awaited = kNobody;
    wait.call = number();
    wait.operations = number();
    wait.ns = get_varint(in);
    if (wait.ns == 0) return shared;
    shared.home = number();
    wait.call_begin = static_cast<double>(difference(state.posted_));
    wait.begin = wait.call_begin + ns();
    const std::uint64_t pattern = get_varint(in);
    in.check(pattern < kWaitPatterns, "has an unknown wait pattern");
    wait.pattern = static_cast<WaitPattern>(pattern);
    wait.awaited = number() - 1;
    wait.call_site = number();
    wait.function = number();
    wait.of_waiter = stretch();
    if (wait.awaited != kNobody) wait.of_awaited = stretch();
    return shared;
  }
  [[nodiscard]] NeighbourPair pair() const {
    NeighbourPair pair{};
    pair.key.comm = comm();
    pair.key.number = static_cast<std::uint64_t>(difference(state.number_));
    pair.ranks.source = number();
    pair.ranks.destination = rank_beside(pair.ranks.source);
    return pair;
  }
  [[nodiscard]] PathJump jump() const {
    const std::int64_t time = difference(state.posted_);
    const auto waiter = static_cast<std::uint32_t>(difference(state.rank_));
    return {waiter, rank_beside(waiter), time};
  }
};

struct TravelCodec::FieldReader {
  const Reader& from;
  void time(double& ns) const { ns = static_cast<double>(from.difference(from.state.posted_)); }
  void rank(std::uint32_t& rank) const { rank = static_cast<std::uint32_t>(from.difference(from.state.rank_)); }
  void number(std::uint32_t& value) const { value = from.number(); }
  void number(std::uint64_t& value) const { value = get_varint(from.in); }
  void comm(CommIdentity& comm) const { comm = from.comm(); }
  void stretch(Stretch& stretch) const { stretch = from.stretch(); }
  void error(float& ns) const { ns = from.in.get<float>(); }
};

WindowPart TravelCodec::window_part(const Reader& reader, unsigned kind) {
  const auto part = [&]<class Part>(Part read) -> WindowPart {
    code_fields(FieldReader{reader}, read);
    return read;
  };
  if (kind == 0) return part(Access{});
  if (kind == 1) return part(Exposure{});
  reader.in.check(kind == 2, "has an unknown part of a window");
  return part(LockEpoch{});
}

void TravelCodec::put(const Travelling& record, std::vector<std::byte>& out) { std::visit(Writer{*this, out}, record); }

Travelling TravelCodec::get(ByteReader& in) {
  const Reader reader{*this, in};
  const auto flags = in.get<std::uint8_t>();
  if (flags == kPair) return reader.pair();
  if ((flags & kOther) != 0) return window_part(reader, flags & kKind);
  if ((flags & kKind) == kCall) return reader.call(flags);
  if ((flags & kKind) == kEnd) return reader.end(flags);
  if ((flags & kKind) == kJump) return reader.jump();
  return reader.wait(flags);
}

}  // namespace ardoise::knowledge_sources

// The fields of window parts (window_parts.hpp) in the order of transmission. One list serves both directions: a coder
// writes or sets each field.
#pragma once

#include "knowledge_sources/plugins/waits/window_parts.hpp"

namespace ardoise::knowledge_sources {

template <class Coder>
void code_fields(const Coder& coder, WindowCall& call) {
  coder.time(call.begin);
  coder.time(call.end);
  coder.number(call.call_site);
  coder.number(call.function);
}

template <class Coder>
void code_fields(const Coder& coder, EpochKey& key) {
  coder.comm(key.window.comm);
  coder.number(key.window.number);
  coder.number(key.target);
  coder.number(key.origin);
  coder.number(key.number);
}

template <class Coder>
void code_fields(const Coder& coder, EpochHalf& half) {
  code_fields(coder, half.key);
  coder.rank(half.rank);
  coder.error(half.clock_error);
  coder.number(half.others);
  coder.number(half.serial);
}

template <class Coder>
void code_fields(const Coder& coder, Access& access) {
  code_fields(coder, static_cast<EpochHalf&>(access));
  code_fields(coder, access.start);
  code_fields(coder, access.first);
  code_fields(coder, access.complete);
  coder.time(access.last_end);
  coder.stretch(access.to_start);
  coder.stretch(access.to_last);
  coder.stretch(access.after_last);
}

template <class Coder>
void code_fields(const Coder& coder, Exposure& exposure) {
  code_fields(coder, static_cast<EpochHalf&>(exposure));
  coder.time(exposure.post);
  code_fields(coder, exposure.wait);
  coder.stretch(exposure.to_post);
  coder.stretch(exposure.to_wait);
}

template <class Coder>
void code_fields(const Coder& coder, LockEpoch& epoch) {
  coder.comm(epoch.window.comm);
  coder.number(epoch.window.number);
  coder.rank(epoch.rank);
  coder.error(epoch.clock_error);
  coder.number(epoch.target);
  coder.number(epoch.exclusive);
  code_fields(coder, epoch.lock);
  code_fields(coder, epoch.later);
  coder.number(epoch.later_target);
  coder.time(epoch.unlock_begin);
  coder.time(epoch.unlock_end);
  coder.stretch(epoch.held);
}

}  // namespace ardoise::knowledge_sources

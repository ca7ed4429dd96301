// Numbers of messages, counted for all calls, written or not.
#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/matching/message_kind.hpp"
#include "knowledge_sources/otf2/writer/function_kinds.hpp"
#include "knowledge_sources/plugins/traces/trace_location.hpp"

namespace ardoise::knowledge_sources {

void TraceLocation::number_messages(const instrument::MpiEvent& event) {
  const instrument::MpiRecord& record = event.record;
  const MessageKind kind = message_kind(record.function());
  const instrument::Shape shape = record.shape();
  const MessageKey key{record.comm(), record.peer, record.tag};
  if (is_collective(record)) {
    if (selection_.attributes().has(AttributeClass::kClocks)) call_.met_as = rank_.messages.collective(record.comm());
    return;
  }
  if (!selection_.attributes().has(AttributeClass::kMessages)) return;
  if (kind.receives_taken) {
    if (shape == instrument::Shape::kReceive) call_.received_as = rank_.taken(key);
    return;
  }
  if (shape == instrument::Shape::kProbe && record.peer >= 0 && kind.takes_message)
    rank_.take_message(key, rank_.messages.receive(key));
  if (kind.starts_both) rank_.messages.post(record.begin, {record.comm(), instrument::kAnySource, instrument::kAnyTag});
  if (shape == instrument::Shape::kSend || shape == instrument::Shape::kPostReceive) {
    number_started(record);
  } else if (shape == instrument::Shape::kReceive && record.peer >= 0) {
    call_.received_as = rank_.messages.receive(key);
  }
  if (event.receive_half == nullptr) return;
  const auto half = instrument::as<instrument::ReceiveHalfExtension>(*event.receive_half);
  if (half.source >= 0) call_.received_as = rank_.messages.receive({record.comm(), half.source, half.tag});
}

void TraceLocation::number_started(const instrument::MpiRecord& operation) {
  call_.sent_as.reset();
  call_.met_as.reset();
  if (!selection_.attributes().has(AttributeClass::kMessages)) return;
  const MessageKey key{operation.comm(), operation.peer, operation.tag};
  if (operation.shape() == instrument::Shape::kSend && operation.peer >= 0) {
    call_.sent_as = rank_.messages.send(key);
  } else if (operation.shape() == instrument::Shape::kPostReceive && operation.peer != instrument::kNoPeer) {
    rank_.messages.post(operation.begin, key);
  }
}

MessageNumbers::Number TraceLocation::number_ended(const instrument::CompletionRecord& record, bool is_send) {
  if (!selection_.attributes().has(AttributeClass::kMessages)) return std::nullopt;
  if (record.peer >= 0 && message_kind(instrument::function_of(record.word)).receives_taken)
    return rank_.taken({instrument::comm_of(record.word), record.peer, record.tag});
  if (record.peer >= 0) return rank_.messages.end(record.post_begin, record.peer, record.tag);
  if (record.tag != instrument::kAnyTag) return std::nullopt;
  // Cancelled: a send that has been counted is never received.
  if (is_send) {
    rank_.messages.stop();
  } else {
    rank_.messages.cancel(record.post_begin);
  }
  return std::nullopt;
}

}  // namespace ardoise::knowledge_sources

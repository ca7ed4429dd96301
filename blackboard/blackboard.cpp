// Submission, counters, and the public functions.
#include "blackboard/blackboard.hpp"

#include <algorithm>
#include <utility>

#include "blackboard/implementation.hpp"

namespace ardoise::blackboard {
namespace {

constinit thread_local Random visitor_random{1};

}  // namespace

Blackboard::Implementation::Implementation(Blackboard& board, Options options)
    : board_(board),
      options_(std::move(options)),
      account_(ByteAccount::open(options_.byte_limit)),
      table_(new SensitivityTable({})),
      queue_(options_.workers) {
  prepare_fences();
  for (unsigned i = 0; i < std::max(1u, options_.workers); ++i) workers_.push_back(std::make_unique<Worker>(this, i));
}

Blackboard::Implementation::~Implementation() {
  drain();
  stopping_.store(true, std::memory_order_release);  // wake_all() fences before it looks for sleepers
  parking_.wake_all();
  for (std::thread& thread : threads_) thread.join();
  delete table_.load(std::memory_order_relaxed);
  sources_.clear();
  removed_.clear();
}

void Blackboard::Implementation::submit(EntryRef entry) {
  if (!entry) return;
  DataEntry::get(entry)->charge_to(*account_);
  Worker* const worker = worker_of(this);

  const ReadDomain::Section section(readers_);
  // acquire: the contents of the table.
  const std::span<const Match> matches = table_.load(std::memory_order_acquire)->find(entry.type());
  count(&Tally::submitted);
  if (matches.empty()) return count(&Tally::unmatched);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    // The last source gets this reference itself, so that a single user is the sole owner.
    const auto job = matches[i].source->offer(matches[i].kind, i + 1 < matches.size() ? entry : std::move(entry));
    if (!job) continue;
    count(&Tally::created);  // before any thread can end it
    if (worker != nullptr) {
      queue_.push_home(*job, worker->hand);
    } else {
      queue_.push(*job, visitor_random);
    }
    parking_.wake_one();
  }
}

void Blackboard::Implementation::submit_keyed(EntryRef entry, std::uint64_t key) {
  if (!entry) return;
  if (transport_ == nullptr) return submit(std::move(entry));
  const unsigned owner = owner_of(key, transport_->boards());
  if (owner == transport_->self()) return submit(std::move(entry));
  DataEntry::get(entry)->charge_to(*account_);
  transport_->send(owner, std::move(entry));
}

Counters Blackboard::Implementation::counters() const noexcept {
  Counters total;
  std::uint64_t ended = 0;
  std::uint64_t dropped = 0;
  for (const auto& line : tallies_) {
    const Tally& tally = line.cell;
    // relaxed: statistics; exact when the board is idle.
    total.submitted += tally.submitted.load(std::memory_order_relaxed);
    total.unmatched += tally.unmatched.load(std::memory_order_relaxed);
    total.jobs_failed += tally.failed.load(std::memory_order_relaxed);
    dropped += tally.dropped.load(std::memory_order_relaxed);
    ended += tally.ended.load(std::memory_order_relaxed);
  }
  total.jobs_run = ended - std::min(ended, dropped);
  return total;
}

Blackboard::Blackboard(Options options) : implementation_(std::make_unique<Implementation>(*this, std::move(options))) {
  implementation_->start_workers(implementation_->options_.in_background);
}
Blackboard::~Blackboard() = default;

unsigned Blackboard::workers() const noexcept { return static_cast<unsigned>(implementation_->workers_.size()); }
SourceId Blackboard::add(KnowledgeSource source) { return implementation_->add(std::move(source)); }
bool Blackboard::remove(SourceId id) { return implementation_->remove(id); }
void Blackboard::submit(EntryRef entry) { implementation_->submit(std::move(entry)); }
void Blackboard::connect(Transport& transport) { implementation_->transport_ = &transport; }
unsigned Blackboard::boards() const noexcept {
  return implementation_->transport_ == nullptr ? 1 : implementation_->transport_->boards();
}
unsigned Blackboard::self() const noexcept {
  return implementation_->transport_ == nullptr ? 0 : implementation_->transport_->self();
}
void Blackboard::submit_keyed(EntryRef entry, std::uint64_t key) {
  implementation_->submit_keyed(std::move(entry), key);
}
void Blackboard::drain() { implementation_->drain(); }
void Blackboard::hurry() { implementation_->hurry(); }
void Blackboard::while_paused(const std::function<void()>& action) { implementation_->while_paused(action); }
void Blackboard::continue_without_workers() { implementation_->continue_without_workers(); }
std::size_t Blackboard::bytes() const noexcept { return implementation_->account_->bytes(); }
bool Blackboard::over_limit() const noexcept { return implementation_->account_->over_limit(); }
bool Blackboard::wait_below_limit(std::chrono::milliseconds timeout) {
  return implementation_->account_->wait_below_limit(timeout);
}
void Blackboard::charge(std::size_t bytes) noexcept { implementation_->account_->charge(bytes); }
void Blackboard::discharge(std::size_t bytes) noexcept { implementation_->account_->discharge(bytes); }
bool Blackboard::is_quiet() const noexcept { return implementation_->quiet(); }
Counters Blackboard::counters() const noexcept { return implementation_->counters(); }

}  // namespace ardoise::blackboard

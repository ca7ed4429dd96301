// Readers of C arguments for the generated code of observation; fortran_arguments.hpp defines the same names for
// Fortran, so one text serves both. Arguments are read only when asked for: arguments that are not significant may be
// garbage.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

#include "vmpi/world/world.hpp"
#include "vmpi/wrappers/call_arguments.hpp"
#include "vmpi/wrappers/call_control.hpp"
#include "vmpi/wrappers/small_array.hpp"
#include "vmpi/wrappers/type_size.hpp"

namespace ardoise::vmpi::c_arguments {

// MPI_Count: the functions with large counts of MPI 4.
inline int value(int argument) { return argument; }
inline std::int64_t value(MPI_Count argument) { return argument; }
inline const int* values(const int* arguments) { return arguments; }
inline const MPI_Count* values(const MPI_Count* arguments) { return arguments; }
inline bool is_true(const int* flag) { return *flag != 0; }
inline bool is_in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

// A datatype, or an array of them, whose sizes are queried only when needed.
struct Type {
  MPI_Datatype handle;
  [[nodiscard]] std::int64_t size() const { return type_size(handle); }
};
struct Types {
  const MPI_Datatype* handles;
  [[nodiscard]] std::int64_t size(std::int64_t i) const { return type_size(handles[i]); }
};
inline Type type(MPI_Datatype handle) { return {handle}; }
inline Types types(const MPI_Datatype* handles) { return {handles}; }

inline MPI_Comm comm_of(MPI_Comm comm) { return to_library(comm); }
inline MPI_Comm made_comm(const MPI_Comm* comm) { return to_library(*comm); }
inline MPI_Win win_of(MPI_Win win) { return win; }
inline MPI_Win made_win(const MPI_Win* win) { return *win; }
inline MPI_Group group_of(MPI_Group group) { return group; }
inline MPI_File file_of(MPI_File file) { return file; }
inline MPI_File made_file(const MPI_File* file) { return *file; }
inline MPI_Message made_message(const MPI_Message* message) { return *message; }
inline bool is_no_op(MPI_Op op) { return op == MPI_NO_OP; }
// For an ArgumentList.
inline std::int64_t type_word(MPI_Datatype type) { return handle_word(type); }
inline std::int64_t type_word_at(const void* types, std::int64_t i) {
  return handle_word(static_cast<const MPI_Datatype*>(types)[i]);
}
inline std::int64_t request_word(MPI_Request request) { return handle_word(request); }
inline std::int64_t operation(MPI_Op op) { return operation_number(op); }
inline std::int64_t integer(std::int64_t argument) { return argument; }
inline std::int64_t address(std::int64_t argument) { return argument; }

// Requests that the call has just started, valid after it.
struct StartedRequest {
  MPI_Request* request;
  [[nodiscard]] MPI_Request* read() const { return request; }
};

// A copy of requests before a call that overwrites them.
class RequestsBefore {
 public:
  RequestsBefore(const MPI_Request* requests, int n) : copy_(n > 0 ? static_cast<std::size_t>(n) : 0) {
    if (copy_.size() != 0) std::memcpy(copy_.data(), requests, copy_.size() * sizeof(MPI_Request));
  }
  MPI_Request* data() { return copy_.data(); }
  [[nodiscard]] int size() const { return static_cast<int>(copy_.size()); }

 private:
  SmallArray<MPI_Request, 64> copy_;
};

// The status to pass on, and its value afterwards. A private one replaces MPI_STATUS_IGNORE.
class StatusArgument {
 public:
  explicit StatusArgument(MPI_Status* status) : status_(status == MPI_STATUS_IGNORE ? &own_ : status) {}
  [[nodiscard]] bool is_ignored() const { return status_ == &own_; }
  MPI_Status* pass() { return status_; }
  const MPI_Status* read() { return status_; }

 private:
  MPI_Status own_;
  MPI_Status* status_;
};

// Without memory for private statuses, MPI_STATUSES_IGNORE is passed on and read() is nullptr.
class StatusesArgument {
 public:
  StatusesArgument(MPI_Status* statuses, int n)
      : own_(statuses == MPI_STATUSES_IGNORE && n > 0 ? static_cast<std::size_t>(n) : 0),
        statuses_(own_.size() != 0 ? own_.data() : statuses) {}
  [[nodiscard]] bool is_ignored() { return statuses_ == own_.data() || statuses_ == MPI_STATUSES_IGNORE; }
  MPI_Status* pass() { return statuses_; }
  const MPI_Status* read(int /*n*/) { return statuses_ == MPI_STATUSES_IGNORE ? nullptr : statuses_; }

 private:
  SmallArray<MPI_Status, 64> own_;
  MPI_Status* statuses_;
};

// Positions of completed requests, from 0.
inline int index_after(const int* index) { return *index; }
struct IndicesAfter {
  static const int* read(const int* indices, int /*n*/) { return indices; }
};

// For a CallControl.
inline void pin(int& argument, const int& value) { argument = value; }
inline void pin_comm(MPI_Comm& argument, CallOverride& changes) { argument = changes.comm; }
inline void set_false(int* flag) { *flag = 0; }
inline void note_buffer(CallOverride& changes, void* buffer, MPI_Datatype type) {
  changes.buffer = buffer;
  changes.type = type;
}
inline MPI_Request* address_of(MPI_Request& request) { return &request; }
inline void take_request(MPI_Request& argument, const MPI_Request* passed) { argument = *passed; }

// The requests to pass on: the program's own, or a copy where some are hidden or substituted.
class PassedRequests {
 public:
  PassedRequests(MPI_Request* requests, int n, const CallOverride& changes) : own_(requests), changes_(changes) {
    if ((changes.kept == nullptr && changes.substitute == nullptr) || n <= 0) return;
    copy_.resize(static_cast<std::size_t>(n));
    for (int i = 0; i < static_cast<int>(copy_.size()); ++i) copy_[at(i)] = MPI_REQUEST_NULL;
    each([this](int i) { copy_[at(i)] = behind(own_[i]); });
  }
  MPI_Request* pass() { return copy_.size() != 0 ? copy_.data() : own_; }
  void give_back() {
    if (copy_.size() == 0) return;
    each([this](int i) {
      if (behind(own_[i]) == own_[i]) own_[i] = copy_[at(i)];
    });
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  MPI_Request behind(MPI_Request request) const {
    return changes_.substitute != nullptr ? changes_.substitute(request) : request;
  }
  void each(auto&& visit) {
    const int count = changes_.kept != nullptr ? changes_.kept_count : static_cast<int>(copy_.size());
    for (int i = 0; i < count; ++i) visit(changes_.kept != nullptr ? changes_.kept[i] : i);
  }

  MPI_Request* own_;
  const CallOverride& changes_;
  SmallArray<MPI_Request, 64> copy_;
};

struct Text {
  const char* text;
  [[nodiscard]] const char* c_str() const { return text; }
};

}  // namespace ardoise::vmpi::c_arguments

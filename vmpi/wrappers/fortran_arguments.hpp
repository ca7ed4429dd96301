// Readers of Fortran arguments (mpif.h, use mpi, use mpi_f08) with the names of c_arguments.hpp. An argument is the
// address of an INTEGER; a type of mpi_f08 is a structure around one. Arguments are read only when asked for.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vmpi/wrappers/call_arguments.hpp"
#include "vmpi/wrappers/call_control.hpp"
#include "vmpi/wrappers/fortran_handles.hpp"
#include "vmpi/wrappers/small_array.hpp"
#include "vmpi/wrappers/type_size.hpp"

namespace ardoise::vmpi::fortran_arguments {

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of counts are read in place");

inline int value(const MPI_Fint* argument) { return *argument; }
inline std::int64_t value(const MPI_Count* argument) { return *argument; }
inline const int* values(const MPI_Fint* arguments) { return arguments; }
inline const MPI_Count* values(const MPI_Count* arguments) { return arguments; }
inline bool is_true(const MPI_Fint* flag) { return *flag != 0; }  // .TRUE. is 1 or -1
inline bool is_in_place(const void* buffer) { return is_fortran_in_place(buffer); }

// A communicator for those routines of MPICH that call no function of ours, where it would be translated.
struct PassedComm {
#ifdef OPEN_MPI
  explicit PassedComm(MPI_Fint* comm) : pass(comm) {}
  MPI_Fint* pass;
#else
  explicit PassedComm(const MPI_Fint* comm) : own(comm_from_fortran(*comm)) {}
  MPI_Fint own;
  MPI_Fint* pass = &own;
#endif
};

struct Type {
  const MPI_Fint* handle;
  [[nodiscard]] std::int64_t size() const { return fortran_type_size(*handle); }
};
struct Types {
  const MPI_Fint* handles;
  [[nodiscard]] std::int64_t size(std::int64_t i) const { return fortran_type_size(handles[i]); }
};
inline Type type(const MPI_Fint* handle) { return {handle}; }
inline Types types(const MPI_Fint* handles) { return {handles}; }

inline MPI_Comm comm_of(const MPI_Fint* comm) { return comm_from_fortran(*comm); }
inline MPI_Comm made_comm(const MPI_Fint* comm) { return comm_from_fortran(*comm); }
inline MPI_Win win_of(const MPI_Fint* win) { return PMPI_Win_f2c(*win); }
inline MPI_Win made_win(const MPI_Fint* win) { return PMPI_Win_f2c(*win); }
inline MPI_Group group_of(const MPI_Fint* group) { return PMPI_Group_f2c(*group); }
inline MPI_File file_of(const MPI_Fint* file) { return PMPI_File_f2c(*file); }
inline MPI_File made_file(const MPI_Fint* file) { return PMPI_File_f2c(*file); }
inline MPI_Message made_message(const MPI_Fint* message) { return PMPI_Message_f2c(*message); }
inline bool is_no_op(const MPI_Fint* op) { return PMPI_Op_f2c(*op) == MPI_NO_OP; }
// For an ArgumentList.
inline std::int64_t type_word(const void* type) {
  return handle_word(PMPI_Type_f2c(*static_cast<const MPI_Fint*>(type)));
}
inline std::int64_t type_word_at(const void* types, std::int64_t i) {
  return handle_word(PMPI_Type_f2c(static_cast<const MPI_Fint*>(types)[i]));
}
inline std::int64_t request_word(const MPI_Fint* request) { return handle_word(PMPI_Request_f2c(*request)); }
inline std::int64_t operation(const MPI_Fint* op) { return operation_number(PMPI_Op_f2c(*op)); }
inline std::int64_t integer(const void* argument) { return *static_cast<const MPI_Fint*>(argument); }
inline std::int64_t address(const void* argument) { return *static_cast<const MPI_Aint*>(argument); }

struct StartedRequest {
  const MPI_Fint* fortran;
  MPI_Request request{};
  MPI_Request* read() {
    request = PMPI_Request_f2c(*fortran);
    return &request;
  }
};

class RequestsBefore {
 public:
  RequestsBefore(const MPI_Fint* requests, int n) : copy_(n > 0 ? static_cast<std::size_t>(n) : 0) {
    for (std::size_t i = 0; i < copy_.size(); ++i) copy_[i] = PMPI_Request_f2c(requests[i]);
  }
  MPI_Request* data() { return copy_.data(); }
  [[nodiscard]] int size() const { return static_cast<int>(copy_.size()); }

 private:
  SmallArray<MPI_Request, 64> copy_;
};

// mpif.h and mpi_f08 have a variable each for an ignored status. (MPI_F08_STATUS_IGNORE is the address of the one in
// MPICH's library, not of the program's copy.)
inline bool is_status_ignored(const MPI_Fint* status) {
#ifndef OPEN_MPI
  if (status == reinterpret_cast<const MPI_Fint*>(&MPIR_F08_MPI_STATUS_IGNORE_OBJ)) return true;
#endif
  return status == MPI_F_STATUS_IGNORE;
}
inline bool are_statuses_ignored(const MPI_Fint* statuses) {
#ifndef OPEN_MPI
  if (statuses == reinterpret_cast<const MPI_Fint*>(MPIR_F08_MPI_STATUSES_IGNORE_OBJ)) return true;
#endif
  return statuses == MPI_F_STATUSES_IGNORE;
}

// Number of integers of a Fortran status. mpi.h of Open MPI 4 has no MPI_F_STATUS_SIZE; its status is the C one as
// integers.
#ifdef MPI_F_STATUS_SIZE
inline constexpr std::size_t kStatusIntegers = MPI_F_STATUS_SIZE;
#else
inline constexpr std::size_t kStatusIntegers = sizeof(MPI_Status) / sizeof(MPI_Fint);
#endif

class StatusArgument {
 public:
  explicit StatusArgument(MPI_Fint* status) : fortran_(is_status_ignored(status) ? own_fortran_ : status) {}
  MPI_Fint* pass() { return fortran_; }
  [[nodiscard]] bool is_ignored() const { return fortran_ == own_fortran_; }
  const MPI_Status* read() {
    PMPI_Status_f2c(fortran_, &status_);
    return &status_;
  }

 private:
  MPI_Status status_;
  alignas(MPI_Status) MPI_Fint own_fortran_[kStatusIntegers];
  MPI_Fint* fortran_;
};

class StatusesArgument {
 public:
  StatusesArgument(MPI_Fint* statuses, int n)
      : own_fortran_(are_statuses_ignored(statuses) && n > 0 ? static_cast<std::size_t>(n) * kStatusIntegers : 0),
        fortran_(own_fortran_.size() != 0 ? own_fortran_.data() : statuses) {}
  MPI_Fint* pass() { return fortran_; }
  [[nodiscard]] bool is_ignored() { return fortran_ == own_fortran_.data() || are_statuses_ignored(fortran_); }
  const MPI_Status* read(int n) {
    if (are_statuses_ignored(fortran_) || n <= 0) return nullptr;
    statuses_.resize(static_cast<std::size_t>(n));
    if (statuses_.size() == 0) return nullptr;
    for (std::size_t i = 0; i < statuses_.size(); ++i) PMPI_Status_f2c(fortran_ + i * kStatusIntegers, &statuses_[i]);
    return statuses_.data();
  }

 private:
  SmallArray<MPI_Fint, 64 * kStatusIntegers> own_fortran_;
  SmallArray<MPI_Status, 64> statuses_;
  MPI_Fint* fortran_;
};

// Fortran counts from 1, C from 0.
inline int index_after(const MPI_Fint* index) { return *index == MPI_UNDEFINED ? MPI_UNDEFINED : *index - 1; }
class IndicesAfter {
 public:
  const int* read(const MPI_Fint* indices, int n) {
    zero_based_.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    for (std::size_t i = 0; i < zero_based_.size(); ++i) zero_based_[i] = indices[i] - 1;
    return zero_based_.data();
  }

 private:
  SmallArray<int, 64> zero_based_;
};

// For a CallControl.
inline void pin(MPI_Fint*& argument, int& value) { argument = &value; }
inline void pin_comm(MPI_Fint*& argument, CallOverride& changes) {
  changes.fortran_comm = comm_to_fortran(changes.comm);
  argument = &changes.fortran_comm;
}
inline void set_false(MPI_Fint* flag) { *flag = 0; }
inline void note_buffer(CallOverride& changes, void* buffer, const MPI_Fint* type) {
  changes.buffer = is_fortran_bottom(buffer) ? MPI_BOTTOM : buffer;
  changes.type = PMPI_Type_f2c(*type);
}
inline MPI_Fint* address_of(MPI_Fint* request) { return request; }
inline void take_request(MPI_Fint*& argument, MPI_Fint* passed) { argument = passed; }

class PassedRequests {
 public:
  PassedRequests(MPI_Fint* requests, int n, const CallOverride& changes) : own_(requests), changes_(changes) {
    if ((changes.kept == nullptr && changes.substitute == nullptr) || n <= 0) return;
    copy_.resize(static_cast<std::size_t>(n));
    const MPI_Fint null = PMPI_Request_c2f(MPI_REQUEST_NULL);
    for (int i = 0; i < static_cast<int>(copy_.size()); ++i) copy_[at(i)] = null;
    each([this](int i) { copy_[at(i)] = behind(own_[i]); });
  }
  MPI_Fint* pass() { return copy_.size() != 0 ? copy_.data() : own_; }
  void give_back() {
    if (copy_.size() == 0) return;
    each([this](int i) {
      if (behind(own_[i]) == own_[i]) own_[i] = copy_[at(i)];
    });
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  MPI_Fint behind(MPI_Fint request) const {
    if (changes_.substitute == nullptr) return request;
    const MPI_Request own = PMPI_Request_f2c(request), other = changes_.substitute(own);
    return own == other ? request : PMPI_Request_c2f(other);
  }
  void each(auto&& visit) {
    const int count = changes_.kept != nullptr ? changes_.kept_count : static_cast<int>(copy_.size());
    for (int i = 0; i < count; ++i) visit(changes_.kept != nullptr ? changes_.kept[i] : i);
  }

  MPI_Fint* own_;
  const CallOverride& changes_;
  SmallArray<MPI_Fint, 64> copy_;
};

// A CHARACTER argument as a C string, without trailing blanks and at most 4,095 bytes long.
class Text {
 public:
  Text(const char* text, std::size_t length) {
    while (length > 0 && text[length - 1] == ' ') --length;
    if (length > sizeof text_ - 1) length = sizeof text_ - 1;
    std::memcpy(text_, text, length);
    text_[length] = '\0';
  }
  [[nodiscard]] const char* c_str() const { return text_; }

 private:
  char text_[4096];
};

// mpi_f08 passes no address for an omitted ierror; observation needs the code.
struct ErrorArgument {
  explicit ErrorArgument(MPI_Fint* ierror) : pass(ierror != nullptr ? ierror : &own) {}
  MPI_Fint own = MPI_SUCCESS;
  MPI_Fint* pass;
};

}  // namespace ardoise::vmpi::fortran_arguments

// The same where mpi_f08 passes a buffer as a descriptor of ISO_Fortran_binding.h, which begins with the buffer's
// address.
namespace ardoise::vmpi::fortran_descriptor_arguments {

using namespace fortran_arguments;
inline bool is_in_place(const void* descriptor) {
  const void* buffer = nullptr;
  std::memcpy(&buffer, descriptor, sizeof buffer);
  return is_fortran_in_place(buffer);
}
// The beginning of CFI_cdesc_t, as in gfortran and MPICH. Buffers with gaps are not reported.
struct Descriptor {
  void* base;
  std::size_t element_bytes;
  int version;
  signed char rank, attribute;
  short type;
  struct Dimension {
    std::ptrdiff_t lower, extent, stride_bytes;
  };
};
inline void note_buffer(CallOverride& changes, const void* descriptor, const MPI_Fint* type) {
  Descriptor head;
  std::memcpy(&head, descriptor, sizeof head);
  auto stride = static_cast<std::ptrdiff_t>(head.element_bytes);
  for (int i = 0; i < head.rank; ++i) {
    Descriptor::Dimension dimension;
    std::memcpy(&dimension,
                static_cast<const char*>(descriptor) + sizeof head + static_cast<std::size_t>(i) * sizeof dimension,
                sizeof dimension);
    if (dimension.stride_bytes != stride) return;
    stride *= dimension.extent;
  }
  fortran_arguments::note_buffer(changes, head.base, type);
}

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
// mpi_f08 of MPICH 4.0 returns indices from 0, as in C.
inline int index_after(const MPI_Fint* index) { return *index; }
struct IndicesAfter {
  static const int* read(const MPI_Fint* indices, int /*n*/) { return indices; }
};
#endif

}  // namespace ardoise::vmpi::fortran_descriptor_arguments

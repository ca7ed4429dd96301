// A slot is a pair: a static function made from a template, and the program's function that it calls.
#include "vmpi/wrappers/callbacks.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "vmpi/world/world.hpp"
#include "vmpi/wrappers/fortran_handles.hpp"

namespace ardoise::vmpi {
namespace {

// Kind::Function is the callback's type; Kind::call(function, arguments...) translates and calls.
template <class Kind, class... Arguments>
class Slots {
 public:
  using Function = typename Kind::Function;

  static Function front_of(Function function) noexcept {
    if (function == nullptr || is_front(function)) return function;
    for (int slot = 0; slot < kCallbackSlots; ++slot) {
      Function expected = nullptr;
      // A slot is set once, so relaxed is enough; MPI publishes the handle that the front function is stored in.
      if (targets_[slot].compare_exchange_strong(expected, function, std::memory_order_relaxed) || expected == function)
        return fronts_[static_cast<std::size_t>(slot)];
    }
    return function;
  }

 private:
  // True: one of our front functions, which the library returns when it derives an object from another.
  static bool is_front(Function function) {
    for (int slot = 0; slot < kCallbackSlots; ++slot) {
      if (fronts_[static_cast<std::size_t>(slot)] == function) return true;
    }
    return false;
  }

  template <int kSlot>
  static typename Kind::Result front(Arguments... arguments) {
    return Kind::call(targets_[kSlot].load(std::memory_order_relaxed), arguments...);
  }
  template <int... kNumbers>
  static constexpr auto make_fronts(std::integer_sequence<int, kNumbers...>) {
    return std::array<typename Kind::Result (*)(Arguments...), sizeof...(kNumbers)>{&front<kNumbers>...};
  }
  struct Fronts {
    std::array<typename Kind::Result (*)(Arguments...), kCallbackSlots> all =
        make_fronts(std::make_integer_sequence<int, kCallbackSlots>{});
    Function operator[](std::size_t slot) const { return reinterpret_cast<Function>(all[slot]); }
  };

  static constinit inline std::atomic<Function> targets_[kCallbackSlots] = {};
  static constexpr Fronts fronts_{};
};

// Error handlers are variadic; Open MPI passes two more pointers. They are forwarded as plain arguments, which the
// calling conventions of x86-64 and AArch64 Linux allow.
struct ErrorHandler {
  using Result = void;
  using Function = MPI_Comm_errhandler_function*;
  static void call(Function function, MPI_Comm* comm, int* code, void* message, void* last) {
    MPI_Comm seen = to_program(*comm);
    function(&seen, code, message, last);
  }
};

struct CopyAttribute {
  using Result = int;
  using Function = MPI_Comm_copy_attr_function*;
  static int call(Function function, MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    return function(to_program(comm), key, extra, in, out, flag);
  }
};

struct DeleteAttribute {
  using Result = int;
  using Function = MPI_Comm_delete_attr_function*;
  static int call(Function function, MPI_Comm comm, int key, void* value, void* extra) {
    return function(to_program(comm), key, value, extra);
  }
};

// Open MPI 4.1 passes an undefined integer to Fortran delete functions, which natively is mostly 0, MPI_COMM_WORLD. An
// invalid communicator is mapped to that, so that it does not depend on our stack contents.
MPI_Fint fortran_comm_for_program(MPI_Fint comm) {
  if (real_comm_f2c(comm) == MPI_Comm{}) return fortran_world();
  return is_virtual() && comm == real_comm_c2f(to_library(MPI_COMM_WORLD)) ? fortran_world() : comm;
}

// One set of slots for each number of arguments, so that different kinds of procedures do not share slots.
template <class... Others>
struct FortranProcedure {
  using Result = void;
  using Function = void (*)(MPI_Fint*, Others...);
  static void call(Function function, MPI_Fint* comm, Others... others) {
    MPI_Fint seen = fortran_comm_for_program(*comm);
    function(&seen, others...);
  }
};

template <class... Others>
void* fortran_front_of(void* procedure) noexcept {
  using Kind = FortranProcedure<Others...>;
  return reinterpret_cast<void*>(
      Slots<Kind, MPI_Fint*, Others...>::front_of(reinterpret_cast<typename Kind::Function>(procedure)));
}

}  // namespace

MPI_Comm_errhandler_function* translated(MPI_Comm_errhandler_function* function) noexcept {
  return Slots<ErrorHandler, MPI_Comm*, int*, void*, void*>::front_of(function);
}

MPI_Comm_copy_attr_function* translated_copy(MPI_Comm_copy_attr_function* function) noexcept {
  if (function == MPI_COMM_NULL_COPY_FN || function == MPI_COMM_DUP_FN) return function;
  return Slots<CopyAttribute, MPI_Comm, int, void*, void*, void*, int*>::front_of(function);
}

MPI_Comm_delete_attr_function* translated_delete(MPI_Comm_delete_attr_function* function) noexcept {
  if (function == MPI_COMM_NULL_DELETE_FN) return function;
  return Slots<DeleteAttribute, MPI_Comm, int, void*, void*>::front_of(function);
}

void* translated_fortran_errhandler(void* procedure) noexcept {
  return fortran_front_of<MPI_Fint*, void*, void*>(procedure);  // code and whatever the library adds
}
void* translated_fortran_copy(void* procedure) noexcept {
  return fortran_front_of<MPI_Fint*, void*, void*, void*, MPI_Fint*, MPI_Fint*>(procedure);
}
void* translated_fortran_delete(void* procedure) noexcept {
  return fortran_front_of<MPI_Fint*, void*, void*, MPI_Fint*>(procedure);
}

}  // namespace ardoise::vmpi

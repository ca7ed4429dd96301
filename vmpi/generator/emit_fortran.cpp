// Generates the Fortran wrappers. A wrapper forwards every argument unchanged to the library's pmpi_ twin;
// communicators are translated in the function that the table below names, also for programs that call pmpi_ routines
// themselves. So only the special routines need a twin of ours. Parameters are addresses, followed by one hidden length
// for each CHARACTER argument.
//
//                                  Open MPI               MPICH
//   communicators translated in    PMPI_Comm_f2c          the MPI_ or PMPI_ function of C that the routine calls
//   mpi_f08's MPI_Send             mpi_send_f08_          mpi_send_f08ts_: a buffer is a descriptor
//   ... and its twin               pmpi_send_f08_         pmpir_send_f08ts_
//   ... with large counts          not there              mpi_send_f08ts_large_
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "vmpi/generator/arguments.hpp"
#include "vmpi/generator/call_control.hpp"
#include "vmpi/generator/emit.hpp"
#include "vmpi/generator/kinds.hpp"
#include "vmpi/generator/observation.hpp"

namespace ardoise::generator {
namespace {

std::string fortran_type(const std::string& kind, bool large) {
  if (is_fortran_string(kind)) return "char*";
  if (is_large_integer(kind, large)) return "MPI_Count*";
  if (is_fortran_integer(kind)) return "MPI_Fint*";
  return "void*";
}

class Routine {
 public:
  Routine(const Wrapped& wrapped, Library library, bool f08)
      : function_(wrapped.function),
        prototype_(wrapped.prototype),
        is_mpich_(library == Library::kMpich),
        returns_code_(prototype_.return_type == "int"),
        has_ierror_(returns_code_ && !function_.has("ellipsis")) {
    rename("", f08);
  }

  // has_spellings: the other compilers' spellings jump to the wrapper through a stub each (fortran_spelling.hpp).
  void write(std::ostream& out, bool has_spellings) {
    const std::string slot = "real_" + name_;
    const std::string type = returns_code_ ? "void" : prototype_.return_type;
    const std::string find = ") {\n  const auto routine = fortran_function(" + slot + ", \"" + name_ + "\", \"";
    const bool controllable = is_controllable(function_);
    out << "\nstatic " << type << " (*" << slot << ")(" << parameters() << ") = nullptr;\n";
    if (controllable) write_controlled(out);
    out << "[[gnu::noinline]] static " << type << " observed_" << name_ << "(" << parameters_and("const void* caller")
        << find << real_ << "\", caller);\n"
        << "  const Observer* const watching = watch();\n  if (" << unobserved(function_) << ") return " << called()
        << "(" << arguments(false) << ");\n";
    if (controllable) {
      out << "  if (watching->control != nullptr) [[unlikely]]\n    return controlled_" << name_ << "("
          << names_and("caller") << ", watching, routine);\n";
    }
    write_observed(out);
    const std::string wrapper = has_spellings ? "vmpi_" + name_ : name_;
    out << "}\n"
        << (has_spellings ? "VMPI_INTERNAL " : "VMPI_EXPORT ") << type << " " << wrapper << "(" << parameters()
        << ") {\n"
        << "  const auto routine = __atomic_load_n(&" << slot << ", __ATOMIC_RELAXED);\n"
        << "  if (is_observed() || routine == nullptr) [[unlikely]]\n    return observed_" << name_ << "("
        << names_and("__builtin_return_address(0)") << ");\n  return " << called() << "(" << arguments(false)
        << ");\n}\n";
    if (has_spellings) {
      for (const auto& spelling : spellings(name_))
        out << "#undef " << spelling << "\nVMPI_FORTRAN_SPELLING(" << spelling << ", " << name_ << ", " << wrapper
            << ")\n";
    }
    if (function_.special_fortran) write_twin(out, type, has_spellings);
  }

  // The same routine under another name, for example with a TYPE(C_PTR) argument.
  void rename(const std::string& suffix, bool f08) {
    const bool describes =
        is_mpich_ && f08 && std::any_of(function_.kinds.begin(), function_.kinds.end(), is_choice_buffer);
    const auto name = function_.lower_name();
    const auto end = suffix + (f08 ? "_f08" : "") + (describes ? "ts" : "") + (function_.large ? "_large_" : "_");
    name_ = name + end;
    real_ = "p" + name_;
    if (!is_mpich_ || !f08) return;
    const auto family = name.find('_');  // of mpi_ or mpix_
    real_ = "p" + name.substr(0, family) + "r" + name.substr(family) + end;
  }

 private:
  // For calls of the pmpi_ name by programs and by the library.
  void write_twin(std::ostream& out, const std::string& type, bool has_spellings) const {
    const std::string slot = "real_" + real_;
    out << "static " << type << " (*" << slot << ")(" << parameters() << ") = nullptr;\nVMPI_EXPORT " << type << " "
        << real_ << "(" << parameters() << ") {\n  static constexpr const char* kName = \"" << real_
        << "\";\n  const auto routine = fortran_function(" << slot
        << ", kName, kName, __builtin_return_address(0));\n  return " << called() << "(" << arguments(false)
        << ");\n}\n";
    if (!has_spellings) return;
    for (const auto& spelling : spellings(real_)) {
      if (spelling != real_)
        out << "#undef " << spelling << "\nVMPI_FORTRAN_ALIAS(" << spelling << ", " << real_ << ")\n";
    }
  }

  [[nodiscard]] std::string name_of(int i) const { return prototype_.parameters[static_cast<std::size_t>(i)].name; }
  [[nodiscard]] std::string length_of(int i) const { return name_of(i) + "_length"; }

  // each(i) for every parameter that Fortran has, then `ierror`, then each_length(i) for every hidden length.
  [[nodiscard]] std::string list_of(const auto& each, const std::string& ierror, const auto& each_length) const {
    std::string list;
    std::string lengths;
    for (std::size_t i = 0; i < function_.kinds.size(); ++i) {
      if (is_c_parameter_only(function_.kinds[i])) continue;
      list += (list.empty() ? "" : ", ") + each(static_cast<int>(i));
      if (is_fortran_string(function_.kinds[i])) lengths += ", " + each_length(static_cast<int>(i));
    }
    if (returns_code_) list += (list.empty() ? "" : ", ") + ierror;
    return list + lengths;
  }

  [[nodiscard]] std::string parameters() const {
    const auto each = [this](int i) {
      return fortran_type(function_.kinds[static_cast<std::size_t>(i)], function_.large) + " " + name_of(i);
    };
    const auto list = list_of(each, "MPI_Fint* ierror", [this](int i) { return "std::size_t " + length_of(i); });
    return list.empty() ? "void" : list;
  }

  [[nodiscard]] std::string parameters_and(const std::string& last) const {
    const auto list = parameters();
    return list == "void" ? last : list + ", " + last;
  }

  [[nodiscard]] std::string names_and(const std::string& last) const {
    const auto list = arguments(false, "");
    return list.empty() ? last : list + ", " + last;
  }

  [[nodiscard]] std::string arguments(bool observed) const {
    return arguments(observed, function_.special_fortran ? "routine" : "");
  }
  [[nodiscard]] std::string arguments(bool observed, const std::string& first) const {
    const NameOf names = [&](int i) { return name_of(i); };
    const auto list = list_of([&](int i) { return observed ? passed_argument(function_, names, i) : name_of(i); },
                              observed ? "error.pass" : "ierror", [this](int i) { return length_of(i); });
    return first + (first.empty() || list.empty() ? "" : ", ") + list;
  }

  [[nodiscard]] std::string called() const {
    return function_.special_fortran ? "special::fortran_" + function_.bare_name() : "routine";
  }

  void write_observed(std::ostream& out) const {
    const NameOf names = [&](int i) { return name_of(i); };
    const NameOf lengths = [&](int i) { return length_of(i); };
    const auto text = observe(function_, names, lengths);
    out << "  ObservedCall observed(*watching, FunctionId::" << function_.enumerator()
        << ", caller);\n  [[maybe_unused]] Call& call = observed.call;\n"
        << text.before;
    if (has_ierror_) {
      out << "  arguments::ErrorArgument error(ierror);\n  observed.enter();\n  " << called() << "(" << arguments(true)
          << ");\n  [[maybe_unused]] const int code = *error.pass;\n"
          << text.after << argument_text(function_, names, true) << "  observed.exit(code);\n";
    } else if (returns_code_) {
      out << "  observed.enter();\n  " << called() << "(" << arguments(false) << ");\n  observed.exit(MPI_SUCCESS);\n";
    } else {
      out << "  observed.enter();\n  const auto value = " << called() << "(" << arguments(true)
          << ");\n  observed.exit(MPI_SUCCESS);\n  return value;\n";
    }
  }

  void write_controlled(std::ostream& out) const {
    const NameOf names = [&](int i) { return name_of(i); };
    const auto text = observe(function_, names, [&](int i) { return length_of(i); });
    const auto control = call_control_text(function_, names);
    const std::string call = "    " + called() + "(" + arguments(true) + ");\n";
    out << "[[gnu::noinline]] static void controlled_" << name_ << "(" << parameters_and("const void* caller")
        << ", const Observer* watching, void (*routine)(" << parameters()
        << ")) {\n  ObservedCall observed(*watching, FunctionId::" << function_.enumerator()
        << ", caller);\n  Call& call = observed.call;\n"
        << text.before << "  arguments::ErrorArgument error(ierror);\n  observed.enter();\n"
        << control.before << "  if (changes.skips) {\n    *error.pass = changes.code;\n"
        << control.skipped << "  } else {\n"
        << call;
    if (!control.condition.empty()) {
      out << "    while (changes.until_true && *error.pass == MPI_SUCCESS && " << control.condition
          << ") {\n      watching->control->again();\n  " << call << "    }\n";
    }
    out << "  }\n  const int code = *error.pass;\n"
        << text.after << "  call.result = code;\n"
        << control.after << "  watching->control->after(call, changes);\n"
        << argument_text(function_, names, true) << "  observed.exit(code);\n}\n";
  }

  // The spellings of Fortran compilers: one underscore, none, two, capitals.
  static std::vector<std::string> spellings(const std::string& name) {
    const auto base = name.substr(0, name.size() - 1);
    std::string capitals = base;
    for (char& c : capitals) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return {name, base, name + "_", capitals};
  }

  const Function& function_;
  const Prototype& prototype_;
  bool is_mpich_;
  bool returns_code_;  // in C
  // False for MPI_PCONTROL(LEVEL), by the standard. A library may still have the argument, so it is passed on unread.
  bool has_ierror_;
  std::string name_;
  std::string real_;
};

}  // namespace

std::string emit_fortran_wrappers(const std::vector<Wrapped>& wrapped, Library library, bool f08, std::size_t part,
                                  std::size_t parts) {
  const bool has_descriptors = f08 && library == Library::kMpich;
  std::ostringstream out;
  out << "// Generated by vmpi/generator from vmpi/wrappers/mpi_functions.table and the installed mpi.h.\n// Fortran "
         "wrappers "
         "for "
      << (f08 ? "use mpi_f08" : "mpif.h and use mpi") << ", part " << part + 1 << " of " << parts << ".\n"
      << R"(#include "vmpi/export.hpp"
#include "vmpi/wrappers/call_arguments.hpp"
#include "vmpi/wrappers/fortran_arguments.hpp"
#include "vmpi/loader/fortran_function.hpp"
#include "vmpi/wrappers/fortran_spelling.hpp"
#include "vmpi/wrappers/neighbourhood.hpp"
#include "vmpi/wrappers/observed_call.hpp"
#include "vmpi/wrappers/special.hpp"
#include "vmpi/wrappers/call_control.hpp"
#include "vmpi/wrappers/volumes.hpp"

using namespace ardoise::vmpi;
)"
      << "namespace arguments = ardoise::vmpi::"
      << (has_descriptors ? "fortran_descriptor_arguments" : "fortran_arguments") << ";\n";
  std::size_t number = 0;
  for (const auto& each : wrapped) {
    if (number++ % parts != part || each.function.c_only || (f08 && each.function.no_f08)) continue;
    if (!f08 && each.function.large) continue;
    // mpi_f08 of Open MPI uses mpi_wtime_ itself.
    if (f08 && library == Library::kOpenMpi && each.prototype.return_type != "int") continue;
    Routine routine(each, library, f08);
    routine.write(out, !f08);
    if (each.function.cptr && !f08) {
      routine.rename("_cptr", f08);
      routine.write(out, true);
    }
  }
  return out.str();
}

}  // namespace ardoise::generator

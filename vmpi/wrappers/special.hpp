// Functions that need more than a translated communicator in a virtual world. The generated wrapper of a function
// marked !special in the table calls these, with the program's arguments, instead of the library's; so does its PMPI_
// twin, whose arguments may come from inside the library and be translated already. `next` is the table of the
// functions behind: real for MPI_ names, library for PMPI_ names. docs/reference/mpi_functions.md says what is special
// about each.
#pragma once

#include "vmpi/real_functions.hpp"

namespace ardoise::vmpi::special {

// Fortran routines of MPICH call C functions, which are ours: callbacks already translated as Fortran's must be left
// alone there.
class InsideFortran {
 public:
  InsideFortran() { ++depth_; }
  ~InsideFortran() { --depth_; }
  InsideFortran(const InsideFortran&) = delete;
  InsideFortran& operator=(const InsideFortran&) = delete;
  [[nodiscard]] static bool is_true() { return depth_ != 0; }

 private:
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local int depth_ = 0;
};

// init_finalize.cpp
int Init(const RealFunctions& next, int* argc, char*** argv);
int Init_thread(const RealFunctions& next, int* argc, char*** argv, int required, int* provided);
int T_init_thread(const RealFunctions& next, int required, int* provided);
int Finalize(const RealFunctions& next);
int Initialized(const RealFunctions& next, int* flag);
// Creates the world of a program that has opened a session without MPI_Init, unnoticed by the program.
void make_hidden_world() noexcept;
int Abort(const RealFunctions& next, MPI_Comm comm, int code);

// special_attributes.cpp
int Comm_get_attr(const RealFunctions& next, MPI_Comm comm, int keyval, void* value, int* flag);
int Attr_get(const RealFunctions& next, MPI_Comm comm, int keyval, void* value, int* flag);
using FortranGetAttr = void (*)(MPI_Fint* comm, void* keyval, void* value, void* flag, MPI_Fint* ierror);
void fortran_Comm_get_attr(FortranGetAttr real, MPI_Fint* comm, void* keyval, void* value, void* flag,
                           MPI_Fint* ierror);
void fortran_Attr_get(FortranGetAttr real, MPI_Fint* comm, void* keyval, void* value, void* flag, MPI_Fint* ierror);
using FortranSetAttr = void (*)(MPI_Fint* comm, void* keyval, void* value, MPI_Fint* ierror);
void fortran_Comm_set_attr(FortranSetAttr real, MPI_Fint* comm, void* keyval, void* value, MPI_Fint* ierror);
inline constexpr auto fortran_Attr_put = fortran_Comm_set_attr;
int Comm_create_keyval(const RealFunctions& next, MPI_Comm_copy_attr_function* copy,
                       MPI_Comm_delete_attr_function* remove, int* keyval, void* extra_state);
int Keyval_create(const RealFunctions& next, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                  int* keyval, void* extra_state);
using FortranCreateKeyval = void (*)(void* copy, void* remove, void* keyval, void* extra_state, MPI_Fint* ierror);
void fortran_Comm_create_keyval(FortranCreateKeyval real, void* copy, void* remove, void* keyval, void* extra_state,
                                MPI_Fint* ierror);
inline constexpr auto fortran_Keyval_create = fortran_Comm_create_keyval;

// special_errors.cpp
int Comm_set_errhandler(const RealFunctions& next, MPI_Comm comm, MPI_Errhandler handler);
int Errhandler_set(const RealFunctions& next, MPI_Comm comm, MPI_Errhandler handler);
int Comm_create_errhandler(const RealFunctions& next, MPI_Comm_errhandler_function* function, MPI_Errhandler* handler);
int Errhandler_create(const RealFunctions& next, MPI_Comm_errhandler_function* function, MPI_Errhandler* handler);
using FortranCreateErrhandler = void (*)(void* procedure, void* handler, MPI_Fint* ierror);
void fortran_Comm_create_errhandler(FortranCreateErrhandler real, void* procedure, void* handler, MPI_Fint* ierror);
inline constexpr auto fortran_Errhandler_create = fortran_Comm_create_errhandler;

// special_handles.cpp
#ifdef OPEN_MPI  // macros in MPICH
MPI_Comm Comm_f2c(const RealFunctions& next, MPI_Fint comm);
MPI_Fint Comm_c2f(const RealFunctions& next, MPI_Comm comm);
#endif
int Comm_free(const RealFunctions& next, MPI_Comm* comm);
int Comm_disconnect(const RealFunctions& next, MPI_Comm* comm);
int T_cvar_handle_alloc(const RealFunctions& next, int index, void* object, MPI_T_cvar_handle* handle, int* count);
int T_pvar_handle_alloc(const RealFunctions& next, MPI_T_pvar_session session, int index, void* object,
                        MPI_T_pvar_handle* handle, int* count);
int Pcontrol(const RealFunctions& next, int level);

#if MPI_VERSION >= 4
int T_event_handle_alloc(const RealFunctions& next, int index, void* object, MPI_Info info,
                         MPI_T_event_registration* registration);

// special_sessions.cpp
int Session_init(const RealFunctions& next, MPI_Info info, MPI_Errhandler handler, MPI_Session* session);
int Session_get_pset_info(const RealFunctions& next, MPI_Session session, const char* name, MPI_Info* info);
int Group_from_session_pset(const RealFunctions& next, MPI_Session session, const char* name, MPI_Group* group);
#endif

}  // namespace ardoise::vmpi::special

// Functions that need more than a translated communicator under a virtual world. The generated wrapper of a function
// marked !special in the table calls these, with the program's own arguments, where it would call the library's.
// docs/mpi_functions.md says what is special about each.
#pragma once

#include "vmpi/mpi_headers.hpp"

namespace ardoise::vmpi::special {

// life.cpp
int Init(int* argc, char*** argv);
int Init_thread(int* argc, char*** argv, int required, int* provided);
int Finalize();
using FortranInit = void (*)(MPI_Fint* ierror);
using FortranInitThread = void (*)(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror);
void fortran_Init(FortranInit real, MPI_Fint* ierror);
void fortran_Init_thread(void (*real)(void*, void*, MPI_Fint*), void* required, void* provided, MPI_Fint* ierror);
void fortran_Finalize(FortranInit real, MPI_Fint* ierror);

// special_attributes.cpp
int Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag);
int Attr_get(MPI_Comm comm, int keyval, void* value, int* flag);
using FortranGetAttr = void (*)(MPI_Fint* comm, void* keyval, void* value, void* flag, MPI_Fint* ierror);
void fortran_Comm_get_attr(FortranGetAttr real, MPI_Fint* comm, void* keyval, void* value, void* flag,
                           MPI_Fint* ierror);
void fortran_Attr_get(FortranGetAttr real, MPI_Fint* comm, void* keyval, void* value, void* flag, MPI_Fint* ierror);
int Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                       void* extra_state);
int Keyval_create(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                  void* extra_state);
using FortranCreateKeyval = void (*)(void* copy, void* remove, void* keyval, void* extra_state, MPI_Fint* ierror);
void fortran_Comm_create_keyval(FortranCreateKeyval real, void* copy, void* remove, void* keyval, void* extra_state,
                                MPI_Fint* ierror);
void fortran_Keyval_create(FortranCreateKeyval real, void* copy, void* remove, void* keyval, void* extra_state,
                           MPI_Fint* ierror);

// special_errors.cpp
int Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
int Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler);
int Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler);
using FortranSetErrhandler = void (*)(MPI_Fint* comm, void* handler, MPI_Fint* ierror);
void fortran_Comm_set_errhandler(FortranSetErrhandler real, MPI_Fint* comm, void* handler, MPI_Fint* ierror);
void fortran_Errhandler_set(FortranSetErrhandler real, MPI_Fint* comm, void* handler, MPI_Fint* ierror);
using FortranCreateErrhandler = void (*)(void* procedure, void* handler, MPI_Fint* ierror);
void fortran_Comm_create_errhandler(FortranCreateErrhandler real, void* procedure, void* handler, MPI_Fint* ierror);
void fortran_Errhandler_create(FortranCreateErrhandler real, void* procedure, void* handler, MPI_Fint* ierror);

// special_handles.cpp
MPI_Comm Comm_f2c(MPI_Fint comm);
MPI_Fint Comm_c2f(MPI_Comm comm);
using FortranFree = void (*)(MPI_Fint* comm, MPI_Fint* ierror);
void fortran_Comm_free(FortranFree real, MPI_Fint* comm, MPI_Fint* ierror);
void fortran_Comm_disconnect(FortranFree real, MPI_Fint* comm, MPI_Fint* ierror);
int T_cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count);
int T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object, MPI_T_pvar_handle* handle, int* count);
int Pcontrol(int level);

}  // namespace ardoise::vmpi::special

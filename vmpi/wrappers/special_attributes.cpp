// Attributes of the world. The predefined ones (MPI_TAG_UB ...) exist on the real MPI_COMM_WORLD and its duplicates
// only, not on the partition's communicator. A marker attribute of ours, copied in the same way, identifies the
// communicators that have them in the program's eyes.
#include "vmpi/world/world.hpp"
#include "vmpi/wrappers/callbacks.hpp"
#include "vmpi/wrappers/fortran_arguments.hpp"
#include "vmpi/wrappers/fortran_handles.hpp"
#include "vmpi/wrappers/special.hpp"

namespace ardoise::vmpi::special {
namespace {

bool is_predefined(int keyval) {
  return keyval == MPI_TAG_UB || keyval == MPI_HOST || keyval == MPI_IO || keyval == MPI_WTIME_IS_GLOBAL ||
         keyval == MPI_APPNUM || keyval == MPI_UNIVERSE_SIZE || keyval == MPI_LASTUSEDCODE;
}

// MPICH numbers the predefined attributes differently where it returns a value and not its address.
int key_of_fortran(int keyval) {
#ifndef OPEN_MPI
  if (is_predefined(keyval - 1)) return keyval - 1;
#endif
  return keyval;
}

bool carries(MPI_Comm comm, int keyval) {
#ifdef OPEN_MPI
  // Every attribute but this one is copied to a duplicate of the world.
  if (keyval == MPI_LASTUSEDCODE) return comm == MPI_COMM_WORLD;
#else
  (void)keyval;
#endif
  return has_world_attributes(comm);
}

int get_attribute(decltype(&PMPI_Comm_get_attr) get, MPI_Comm comm, int keyval, void* value, int* flag) {
  if (!is_virtual() || !is_predefined(keyval) || !carries(comm, keyval))
    return get(to_library(comm), keyval, value, flag);
  const int code = get(MPI_COMM_WORLD, keyval, value, flag);
  if (code == MPI_SUCCESS && *flag != 0 && keyval == MPI_APPNUM) *static_cast<int**>(value) = application_number();
  return code;
}

// Value: the integer type through which this routine returns an attribute.
template <class Value>
void get_fortran_attribute(FortranGetAttr real, MPI_Fint* comm, void* keyval, void* value, void* flag,
                           MPI_Fint* ierror) {
  const int key = key_of_fortran(*static_cast<const MPI_Fint*>(keyval));
  if (!is_virtual() || !is_predefined(key) || !(*comm == fortran_world() || carries(comm_from_fortran(*comm), key))) {
    real(fortran_arguments::PassedComm(comm).pass, keyval, value, flag, ierror);
    return;
  }
#ifdef OPEN_MPI
  int* found = nullptr;
  int is_set = 0;
  const int code = get_attribute(library.Comm_get_attr, MPI_COMM_WORLD, key, &found, &is_set);
  if (code == MPI_SUCCESS && is_set != 0) *static_cast<Value*>(value) = *found;
  *static_cast<MPI_Fint*>(flag) = is_set != 0 ? 1 : 0;
#else  // the routine does not call our C functions, so it may query the real world
  MPI_Fint code = MPI_SUCCESS;
  MPI_Fint real_world = fortran_world();
  real(&real_world, keyval, value, flag, &code);
  if (code == MPI_SUCCESS && *static_cast<MPI_Fint*>(flag) != 0 && key == MPI_APPNUM && application_number() != nullptr)
    *static_cast<Value*>(value) = *application_number();
#endif
  if (ierror != nullptr) *ierror = code;
}

}  // namespace

int Comm_get_attr(const RealFunctions& next, MPI_Comm comm, int keyval, void* value, int* flag) {
  return get_attribute(next.Comm_get_attr, comm, keyval, value, flag);
}

int Attr_get(const RealFunctions& next, MPI_Comm comm, int keyval, void* value, int* flag) {
  return get_attribute(next.Attr_get, comm, keyval, value, flag);
}

void fortran_Comm_get_attr(FortranGetAttr real, MPI_Fint* comm, void* keyval, void* value, void* flag,
                           MPI_Fint* ierror) {
  get_fortran_attribute<MPI_Aint>(real, comm, keyval, value, flag, ierror);
}

void fortran_Attr_get(FortranGetAttr real, MPI_Fint* comm, void* keyval, void* value, void* flag, MPI_Fint* ierror) {
  get_fortran_attribute<MPI_Fint>(real, comm, keyval, value, flag, ierror);
}

int Comm_create_keyval(const RealFunctions& next, MPI_Comm_copy_attr_function* copy,
                       MPI_Comm_delete_attr_function* remove, int* keyval, void* extra_state) {
  if (InsideFortran::is_true()) return next.Comm_create_keyval(copy, remove, keyval, extra_state);
  return next.Comm_create_keyval(translated_copy(copy), translated_delete(remove), keyval, extra_state);
}

int Keyval_create(const RealFunctions& next, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                  int* keyval, void* extra_state) {
  if (InsideFortran::is_true()) return next.Keyval_create(copy, remove, keyval, extra_state);
  return next.Keyval_create(translated_copy(copy), translated_delete(remove), keyval, extra_state);
}

void fortran_Comm_set_attr(FortranSetAttr real, MPI_Fint* comm, void* keyval, void* value, MPI_Fint* ierror) {
  real(fortran_arguments::PassedComm(comm).pass, keyval, value, ierror);
}

void fortran_Comm_create_keyval(FortranCreateKeyval real, void* copy, void* remove, void* keyval, void* extra_state,
                                MPI_Fint* ierror) {
  const InsideFortran inside;
  real(translated_fortran_copy(copy), translated_fortran_delete(remove), keyval, extra_state, ierror);
}

}  // namespace ardoise::vmpi::special

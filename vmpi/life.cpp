// MPI_Init, MPI_Init_thread and MPI_Finalize in both languages: the library's call, with the making and the end of the
// virtual world around it.
#include "vmpi/fortran_handles.hpp"
#include "vmpi/real_functions.hpp"
#include "vmpi/special.hpp"
#include "vmpi/world.hpp"

namespace ardoise::vmpi::special {
namespace {

// A second MPI_Init, or one after MPI_Finalize, is the library's business alone.
bool comes_first() {
  int initialised = 0;
  PMPI_Initialized(&initialised);
  return initialised == 0;
}

bool is_running() {
  int initialised = 0;
  int finalised = 0;
  PMPI_Initialized(&initialised);
  PMPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

void initialise_fortran(auto&& call, MPI_Fint* ierror) {
  const bool first = comes_first();
  if (first) before_init();
  MPI_Fint code = MPI_SUCCESS;
  call(&code);
  if (first && code == MPI_SUCCESS) after_init(0, nullptr);
  if (ierror != nullptr) *ierror = code;
}

}  // namespace

int Init(int* argc, char*** argv) {
  const bool first = comes_first();
  if (first) before_init();
  const int code = real.Init(argc, argv);
  if (first && code == MPI_SUCCESS) after_init(argc != nullptr ? *argc : 0, argv != nullptr ? *argv : nullptr);
  return code;
}

int Init_thread(int* argc, char*** argv, int required, int* provided) {
  const bool first = comes_first();
  if (first) before_init();
  const int code = real.Init_thread(argc, argv, required, provided);
  if (first && code == MPI_SUCCESS) after_init(argc != nullptr ? *argc : 0, argv != nullptr ? *argv : nullptr);
  return code;
}

int Finalize() {
  if (is_running()) before_finalize();
  return real.Finalize();
}

void fortran_Init(FortranInit real, MPI_Fint* ierror) { initialise_fortran(real, ierror); }

void fortran_Init_thread(void (*real)(void*, void*, MPI_Fint*), void* required, void* provided, MPI_Fint* ierror) {
  initialise_fortran([&](MPI_Fint* code) { real(required, provided, code); }, ierror);
}

void fortran_Finalize(FortranInit real, MPI_Fint* ierror) {
  if (is_running()) before_finalize();
  real(ierror);
}

}  // namespace ardoise::vmpi::special

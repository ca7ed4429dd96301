/* A program with functions of its own whose names are also the C library's: its linker puts them before that library's
 * for all libraries of the process. MPI calls none of these. Each ends the program, as a call by mistake may. */
#include <mpi.h>

#define OWN(name) \
  void name(void) { __builtin_trap(); }

OWN(arc4random)
OWN(bindtextdomain)
OWN(btowc)
OWN(clone)
OWN(dgettext)
OWN(exp2)
OWN(fchmodat)
OWN(fegetround)
OWN(fesetround)
OWN(fmod)
OWN(getcontext)
OWN(getentropy)
OWN(gettext)
OWN(iconv)
OWN(iconv_close)
OWN(iconv_open)
OWN(link)
OWN(llround)
OWN(on_exit)
OWN(remove)
OWN(truncate)
OWN(utimensat)
OWN(wctob)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 1000; ++i) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

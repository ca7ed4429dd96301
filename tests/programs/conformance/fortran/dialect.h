! The three dialects of Fortran in which every chapter is built: DIALECT_MPIF (mpif.h), DIALECT_MPI (use mpi),
! DIALECT_F08 (use mpi_f08). USE_MPI and INCLUDE_MPI go where `use` and `include` belong; HANDLE declares an MPI object,
! STATUS a status. END_OF_CALL ends an argument list: mpi_f08 alone lets ierror be left out.
#if defined(DIALECT_F08)
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define USE_HANDLES use mpi_f08
#define HANDLE(name) type(name)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name,n) type(MPI_Status) :: name(n)
#define STATUS_AT(name,i) name(i)
#define SOURCE_OF(status) status%MPI_SOURCE
#define TAG_OF(status) status%MPI_TAG
#define END_OF_CALL )
#elif defined(DIALECT_MPI)
#define USE_MPI use mpi
#define INCLUDE_MPI
#define USE_HANDLES
#define HANDLE(name) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name,n) integer :: name(MPI_STATUS_SIZE, n)
#define STATUS_AT(name,i) name(:, i)
#define SOURCE_OF(status) status(MPI_SOURCE)
#define TAG_OF(status) status(MPI_TAG)
#define END_OF_CALL , ierror)
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#define USE_HANDLES
#define HANDLE(name) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name,n) integer :: name(MPI_STATUS_SIZE, n)
#define STATUS_AT(name,i) name(:, i)
#define SOURCE_OF(status) status(MPI_SOURCE)
#define TAG_OF(status) status(MPI_TAG)
#define END_OF_CALL , ierror)
#endif

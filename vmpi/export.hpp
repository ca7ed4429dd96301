// Everything in the libraries is hidden except what MPI programs call: MPI functions, their Fortran spellings, VMPI_*.
#pragma once

#define VMPI_EXPORT extern "C" __attribute__((visibility("default")))

// Under a C name, for assembly and aliases in this library.
#define VMPI_INTERNAL extern "C" __attribute__((visibility("hidden"), used))

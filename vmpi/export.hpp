// The libraries export only what MPI programs call: MPI functions, their Fortran spellings, VMPI_*. All else is hidden.
#pragma once

#define VMPI_EXPORT extern "C" __attribute__((visibility("default")))

// A hidden symbol with a C name, for assembly and aliases in this library.
#define VMPI_INTERNAL extern "C" __attribute__((visibility("hidden"), used))

/* Where the Fortran part puts its result. */
void truth_opaque(long* x);
void truth_opaque(long* x) { __asm__ volatile("" : "+m"(*x)); }

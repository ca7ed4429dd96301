/* Takes the result of the Fortran part. */
void truth_opaque(long* x);
void truth_opaque(long* x) { __asm__ volatile("" : "+m"(*x)); }

/* A program's library with functions of its own that have names of the C library's, other parameters and results. */
#include <stdlib.h>

int own_functions_called;

void dprintf(const char* format, ...) { own_functions_called += format != NULL; }
int printf(const char* format, ...) { return (own_functions_called += format != NULL); }
void* dup(void* value) { return ++own_functions_called, value; }
void* unshare(void* value) { return ++own_functions_called, value; }
int getline(char* line, int room) { return ++own_functions_called, line[0] + room; }
double creat(double x, double y) { return ++own_functions_called, x + y; }

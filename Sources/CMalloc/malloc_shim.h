// glibc's own functions beside malloc, which Swift's Glibc leaves out.
#include <malloc.h>

#include <stddef.h>

/// Returns the bytes of the heap in use, by all threads.
size_t heap_in_use(void);

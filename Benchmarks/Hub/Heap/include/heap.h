#include <stddef.h>

/// Bytes of the heap in use, of all threads.
size_t heap_in_use(void);

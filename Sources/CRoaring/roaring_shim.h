// Debian's libroaring, as it is.
#include <roaring/roaring.h>

// Debian's libexpat, as it is.
#include <expat.h>

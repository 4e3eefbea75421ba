// Debian's libnghttp2, as it is.
#include <nghttp2/nghttp2.h>

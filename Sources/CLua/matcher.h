#ifndef CLUA_MATCHER_H
#define CLUA_MATCHER_H

#include "internal.h"

// Lua patterns as in the manual, with every step charged to the run.

typedef unsigned char byte;

enum { MAX_CAPTURES = 32, MAX_DEPTH = 200, CAPTURE_OPEN = -1, CAPTURE_POSITION = -2 };

typedef struct matcher {
    lua_State *L;
    const byte *start, *end;  // the subject; a NUL follows
    const byte *pattern_end;  // a NUL follows
    int64_t *credit;          // the run's credit, or `unmetered`
    int64_t unmetered;
    int depth;                // remaining recursion depth
    int level;                // number of captures
    struct {
        const byte *start;
        ptrdiff_t count;  // or CAPTURE_...
    } captures[MAX_CAPTURES];
} matcher;

static inline void matcher_spend(matcher *m, int64_t units) {
    if ((*m->credit -= units) < 0) clua_settle(m->L);
}

void matcher_prepare(matcher *m, lua_State *L, const byte *subject, size_t count, const byte *pattern_end);
// The end of the match of the whole pattern at `s`, or NULL.
const byte *matcher_match(matcher *m, const byte *s, const byte *pattern);
// The first position from `s` on where the pattern may match. Skips positions that its first item excludes.
const byte *matcher_candidate(matcher *m, const byte *s, const byte *pattern);

#endif

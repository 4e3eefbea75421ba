#ifndef CLUA_MATCHER_H
#define CLUA_MATCHER_H

#include "internal.h"

// Lua's patterns, by the manual, with every step charged to the run.

typedef unsigned char byte;

enum { MAX_CAPTURES = 32, MAX_DEPTH = 200, CAPTURE_OPEN = -1, CAPTURE_POSITION = -2 };

typedef struct matcher {
    lua_State *L;
    const byte *start, *end;  // of the subject; a NUL follows
    const byte *pattern_end;  // a NUL follows
    int64_t *credit;          // the run's, or `unmetered`
    int64_t unmetered;
    int depth;                // how deep the recursion may still go
    int level;                // how many captures there are
    struct {
        const byte *start;
        ptrdiff_t count;  // or CAPTURE_...
    } captures[MAX_CAPTURES];
} matcher;

static inline void matcher_spend(matcher *m, int64_t units) {
    if ((*m->credit -= units) < 0) clua_settle(m->L);
}

void matcher_prepare(matcher *m, lua_State *L, const byte *subject, size_t count, const byte *pattern_end);
// The end of the match of the whole pattern that begins at `s`, or NULL.
const byte *matcher_match(matcher *m, const byte *s, const byte *pattern);
// The first place from `s` on where the pattern may match: passes over those that its first character rules out.
const byte *matcher_candidate(matcher *m, const byte *s, const byte *pattern);

#endif

// The pattern matcher. Recursion, the order of attempts and errors follow the manual. Recursion depth is counted as in stock Lua, so that
// the same patterns are too complex.

#include "matcher.h"

#include <string.h>

enum { UPPER = 1, LOWER = 2, DIGIT = 4, SPACE = 8, CONTROL = 16, PUNCTUATION = 32, HEX = 64, BLOCK = 4096 };

// Character classes of the C locale, regardless of the process's locale. Bytes from 128 on belong to no class.
static const byte classes[256] = {
     16,  16,  16,  16,  16,  16,  16,  16,  16,  24,  24,  24,  24,  24,  16,  16,
     16,  16,  16,  16,  16,  16,  16,  16,  16,  16,  16,  16,  16,  16,  16,  16,
      8,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,
     68,  68,  68,  68,  68,  68,  68,  68,  68,  68,  32,  32,  32,  32,  32,  32,
     32,  65,  65,  65,  65,  65,  65,   1,   1,   1,   1,   1,   1,   1,   1,   1,
      1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   1,  32,  32,  32,  32,  32,
     32,  66,  66,  66,  66,  66,  66,   2,   2,   2,   2,   2,   2,   2,   2,   2,
      2,   2,   2,   2,   2,   2,   2,   2,   2,   2,   2,  32,  32,  32,  32,  16,
};

void matcher_prepare(matcher *m, lua_State *L, const byte *subject, size_t count, const byte *pattern_end) {
    clua_run *run = clua_get(L)->run;
    m->L = L;
    m->start = subject;
    m->end = subject + count;
    m->pattern_end = pattern_end;
    m->unmetered = INT64_MAX;
    m->credit = run ? &run->credit : &m->unmetered;
    m->depth = MAX_DEPTH;
    m->level = 0;
}

// -- Single characters

// The members of a class by its lower-case letter; 0 if there is no such class.
static int members_of(int letter) {
    switch (letter) {
        case 'a': return UPPER | LOWER;
        case 'c': return CONTROL;
        case 'd': return DIGIT;
        case 'g': return UPPER | LOWER | DIGIT | PUNCTUATION;
        case 'l': return LOWER;
        case 'p': return PUNCTUATION;
        case 's': return SPACE;
        case 'u': return UPPER;
        case 'w': return UPPER | LOWER | DIGIT;
        case 'x': return HEX;
        default: return 0;
    }
}

static bool in_class(byte c, byte letter) {
    if (!(classes[letter] & (UPPER | LOWER))) return c == letter;
    int lower = letter | 32, members = members_of(lower);
    if (!members && lower != 'z') return c == letter;
    bool is_member = members ? (classes[c] & members) != 0 : c == 0;  // %z is the deprecated class of NUL
    return is_member == (letter == lower);
}

// Returns the position after the item at `p`.
static const byte *item_end(matcher *m, const byte *p) {
    byte first = *p++;
    if (first == '%') {
        if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (ends with '%%')");
        return p + 1;
    }
    if (first != '[') return p;
    if (*p == '^') p++;
    unsigned passed = 0;
    do {  // a ']' in first position is a member
        if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (missing ']')");
        if (*p++ == '%' && p < m->pattern_end) p++;
        if ((++passed & 31) == 0) matcher_spend(m, 16);
    } while (*p != ']');
    return p + 1;
}

// `p` points to the '[', `close` to the ']'.
static bool in_set(matcher *m, byte c, const byte *p, const byte *close) {
    bool found = true;
    unsigned passed = 0;
    if (p[1] == '^') {
        found = false;
        p++;
    }
    while (++p < close) {
        if (*p == '%') {
            p++;
            if (in_class(c, *p)) return found;
        } else if (p[1] == '-' && p + 2 < close) {
            if (*p <= c && c <= p[2]) return found;
            p += 2;
        } else if (*p == c) {
            return found;
        }
        if ((++passed & 31) == 0) matcher_spend(m, 16);
    }
    return !found;
}

static inline bool matches_one(matcher *m, const byte *s, const byte *p, const byte *end) {
    if (s >= m->end) return false;
    switch (*p) {
        case '.': return true;
        case '%': return in_class(*s, p[1]);
        case '[': return in_set(m, *s, p, end - 1);
        default: return *p == *s;
    }
}

// The end of the longest run of characters from `s` on that match the item.
static const byte *run_end(matcher *m, const byte *s, const byte *p, const byte *end) {
    if (*p == '.') return m->end;
    while (s < m->end) {
        const byte *block = s, *stop = m->end - s > BLOCK ? s + BLOCK : m->end;
        if (*p == '%')
            while (s < stop && in_class(*s, p[1])) s++;
        else if (*p == '[')
            while (s < stop && in_set(m, *s, p, end - 1)) s++;
        else
            while (s < stop && *s == *p) s++;
        matcher_spend(m, (s - block) / 2);
        if (s < stop) break;
    }
    return s;
}

// -- Items

static const byte *match(matcher *m, const byte *s, const byte *p);

static const byte *match_longest(matcher *m, const byte *s, const byte *least, const byte *p, const byte *end) {
    for (const byte *stop = run_end(m, s, p, end); stop >= least; stop--) {
        const byte *result = match(m, stop, end + 1);
        if (result) return result;
        if (stop == m->start) break;
    }
    return NULL;
}

static const byte *match_shortest(matcher *m, const byte *s, const byte *p, const byte *end) {
    for (;; s++) {
        const byte *result = match(m, s, end + 1);
        if (result || !matches_one(m, s, p, end)) return result;
    }
}

static const byte *match_balanced(matcher *m, const byte *s, const byte *p) {  // `p` is after the "%b"
    if (p >= m->pattern_end - 1) luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    if (s >= m->end || *s != *p) return NULL;
    int64_t depth = 1;
    while (++s < m->end) {
        if (*s == p[1]) {
            if (--depth == 0) return s + 1;
        } else if (*s == *p) {
            depth++;
        }
        if (((m->end - s) & 31) == 0) matcher_spend(m, 16);
    }
    return NULL;
}

static const byte *open_capture(matcher *m, const byte *s, const byte *p, ptrdiff_t kind) {
    if (m->level >= MAX_CAPTURES) luaL_error(m->L, "too many captures");
    m->captures[m->level].start = s;
    m->captures[m->level++].count = kind;
    const byte *result = match(m, s, p);
    if (!result) m->level--;
    return result;
}

static const byte *close_capture(matcher *m, const byte *s, const byte *p) {
    int i = m->level - 1;
    while (i >= 0 && m->captures[i].count != CAPTURE_OPEN) i--;
    if (i < 0) luaL_error(m->L, "invalid pattern capture");
    m->captures[i].count = s - m->captures[i].start;
    const byte *result = match(m, s, p);
    if (!result) m->captures[i].count = CAPTURE_OPEN;
    return result;
}

static const byte *match_again(matcher *m, const byte *s, byte digit) {
    int i = digit - '1';
    if (i < 0 || i >= m->level || m->captures[i].count == CAPTURE_OPEN)
        luaL_error(m->L, "invalid capture index %%%d", i + 1);
    ptrdiff_t count = m->captures[i].count;
    if (count < 0 || m->end - s < count) return NULL;  // a position capture cannot be repeated
    matcher_spend(m, count / 16);
    return memcmp(m->captures[i].start, s, (size_t)count) == 0 ? s + count : NULL;
}

static const byte *match(matcher *m, const byte *s, const byte *p) {
    if (m->depth-- == 0) luaL_error(m->L, "pattern too complex");
    while (s && p != m->pattern_end) {
        matcher_spend(m, 1);
        if (*p == '(') {
            s = p[1] == ')' ? open_capture(m, s, p + 2, CAPTURE_POSITION) : open_capture(m, s, p + 1, CAPTURE_OPEN);
            break;
        }
        if (*p == ')') {
            s = close_capture(m, s, p + 1);
            break;
        }
        if (*p == '$' && p + 1 == m->pattern_end) {
            if (s != m->end) s = NULL;
            break;
        }
        if (*p == '%') {
            byte what = p[1];
            if (what == 'b') {
                s = match_balanced(m, s, p + 2);
                p += 4;
                continue;
            }
            if (what == 'f') {
                p += 2;
                if (*p != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
                const byte *end = item_end(m, p);
                byte before = s == m->start ? 0 : s[-1];  // a NUL follows the text
                if (in_set(m, before, p, end - 1) || !in_set(m, *s, p, end - 1)) s = NULL;
                p = end;
                continue;
            }
            if (classes[what] & DIGIT) {
                s = match_again(m, s, what);
                p += 2;
                continue;
            }
        }
        const byte *end = item_end(m, p);
        byte suffix = *end;
        if (!matches_one(m, s, p, end)) {
            if (suffix != '*' && suffix != '?' && suffix != '-') s = NULL;
            p = end + 1;
        } else if (suffix == '?') {
            const byte *result = match(m, s + 1, end + 1);
            if (result) {
                s = result;
                break;
            }
            p = end + 1;
        } else if (suffix == '*' || suffix == '+') {
            s = match_longest(m, s, suffix == '+' ? s + 1 : s, p, end);
            break;
        } else if (suffix == '-') {
            s = match_shortest(m, s, p, end);
            break;
        } else {
            s++;
            p = end;
        }
    }
    m->depth++;
    return s;
}

const byte *matcher_match(matcher *m, const byte *s, const byte *pattern) {
    m->level = 0;
    return match(m, s, pattern);
}

// Skips characters that a class or a set excludes.
static const byte *find_member(matcher *m, const byte *s, const byte *pattern) {
    const byte *end = item_end(m, pattern);
    if (*end == '*' || *end == '?' || *end == '-') return s;
    while (s < m->end) {
        const byte *block = s, *stop = m->end - s > BLOCK ? s + BLOCK : m->end;
        if (*pattern == '[')
            while (s < stop && !in_set(m, *s, pattern, end - 1)) s++;
        else
            while (s < stop && !in_class(*s, pattern[1])) s++;
        matcher_spend(m, (s - block) / 2);
        if (s < stop) break;
    }
    return s;
}

const byte *matcher_candidate(matcher *m, const byte *s, const byte *pattern) {
    if (pattern == m->pattern_end) return s;
    switch (*pattern) {
        case '.': case '(': case ')': case '$': return s;
        case '[': return find_member(m, s, pattern);
        case '%':
            if (pattern[1] == 'b' || pattern[1] == 'f' || (classes[pattern[1]] & DIGIT)) return s;
            return find_member(m, s, pattern);
        default: break;
    }
    if (pattern[1] == '*' || pattern[1] == '?' || pattern[1] == '-') return s;
    while (s < m->end) {
        size_t count = m->end - s > BLOCK * 4 ? BLOCK * 4 : (size_t)(m->end - s);
        const byte *found = memchr(s, *pattern, count);
        matcher_spend(m, (found ? found - s : (ptrdiff_t)count) / 32);
        if (found) return found;
        s += count;
    }
    return s;
}

// string.find, match, gmatch and gsub, based on the metered matcher.

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "matcher.h"

enum { WINDOW = 64 * 1024, LONG_NEEDLE = 256 * 1024, WASTE = 16 * 1024 };

size_t clua_string_start(lua_Integer position, size_t count) {
    if (position > 0) return (size_t)position;
    if (position == 0 || position < -(lua_Integer)count) return 1;
    return count + (size_t)position + 1;
}

static const byte *check_text(lua_State *L, int argument, size_t *count) {
    return (const byte *)luaL_checklstring(L, argument, count);
}

// -- Plain search

static const byte *find_linear(lua_State *L, const byte *s, size_t count, const byte *needle, size_t length) {
    size_t window = WINDOW + 4 * length;  // windows overlap by the maximum length of a match
    while (count >= length) {
        size_t size = count < window ? count : window;
        clua_charge(L, (int64_t)size / 8);
        const byte *found = memmem(s, size, needle, length);
        if (found || size == count) return found;
        s += size - length + 1;
        count -= size - length + 1;
    }
    return NULL;
}

// Searches for the first character, then compares the rest. That is fast in common cases. If many comparisons fail late, a linear search
// takes over, unless the needle is too long for its windows.
static const byte *find_plain(lua_State *L, const byte *s, size_t count, const byte *needle, size_t length) {
    if (length == 0) return s;
    if (count < length) return NULL;
    const byte *last = s + (count - length);
    size_t wasted = 0;
    while (s <= last) {
        size_t size = (size_t)(last - s) + 1 < WINDOW ? (size_t)(last - s) + 1 : WINDOW;
        const byte *found = memchr(s, *needle, size);
        clua_charge(L, (found ? found - s : (ptrdiff_t)size) / 32 + 1);
        if (!found) {
            s += size;
            continue;
        }
        if (length == 1 || (found[1] == needle[1] && memcmp(found + 1, needle + 1, length - 1) == 0)) return found;
        s = found + 1;
        if (*s != needle[1]) continue;
        size_t compared = 0;
        while (s[compared] == needle[compared + 1] && compared < 64) compared++;
        if (compared < 64) {
            wasted += compared;
        } else {
            wasted += length;
            clua_charge(L, (int64_t)length / 32);
        }
        if (wasted > WASTE && length <= LONG_NEEDLE) return find_linear(L, s, (size_t)(last - s) + length, needle, length);
    }
    return NULL;
}

static bool is_plain(lua_State *L, const byte *pattern, size_t count) {
    for (size_t i = 0; i < count; i++) {
        switch (pattern[i]) {
            case '^': case '$': case '*': case '+': case '?': case '.': case '(': case '[': case '%': case '-': return false;
            default: break;
        }
        if ((i & 1023) == 1023) clua_charge(L, 512);
    }
    return true;
}

// -- Captures

static void push_capture(matcher *m, int i, const byte *s, const byte *e) {
    if (i >= m->level) {
        if (i != 0) luaL_error(m->L, "invalid capture index %%%d", i + 1);
        lua_pushlstring(m->L, (const char *)s, (size_t)(e - s));
    } else if (m->captures[i].count == CAPTURE_POSITION) {
        lua_pushinteger(m->L, m->captures[i].start - m->start + 1);
    } else if (m->captures[i].count == CAPTURE_OPEN) {
        luaL_error(m->L, "unfinished capture");
    } else {
        lua_pushlstring(m->L, (const char *)m->captures[i].start, (size_t)m->captures[i].count);
    }
}

// All captures; the whole match if there are none and `s` is given.
static int push_captures(matcher *m, const byte *s, const byte *e) {
    int count = m->level == 0 && s ? 1 : m->level;
    luaL_checkstack(m->L, count, "too many captures");
    for (int i = 0; i < count; i++) push_capture(m, i, s, e);
    return count;
}

// -- find and match

static int find_or_match(lua_State *L, bool is_find) {
    size_t count, length;
    const byte *text = check_text(L, 1, &count), *pattern = check_text(L, 2, &length);
    size_t begin = clua_string_start(luaL_optinteger(L, 3, 1), count) - 1;
    if (begin > count) {
        luaL_pushfail(L);
        return 1;
    }
    if (is_find && (lua_toboolean(L, 4) || is_plain(L, pattern, length))) {
        const byte *found = find_plain(L, text + begin, count - begin, pattern, length);
        if (found) {
            lua_pushinteger(L, found - text + 1);
            lua_pushinteger(L, found - text + (lua_Integer)length);
            return 2;
        }
        luaL_pushfail(L);
        return 1;
    }
    matcher m;
    matcher_prepare(&m, L, text, count, pattern + length);
    bool is_anchored = *pattern == '^';
    if (is_anchored) pattern++;
    for (const byte *s = text + begin; s <= m.end; s++) {
        if (!is_anchored) s = matcher_candidate(&m, s, pattern);
        const byte *e = matcher_match(&m, s, pattern);
        if (e) {
            if (!is_find) return push_captures(&m, s, e);
            lua_pushinteger(L, s - text + 1);
            lua_pushinteger(L, e - text);
            return push_captures(&m, NULL, NULL) + 2;
        }
        if (is_anchored) break;
    }
    luaL_pushfail(L);
    return 1;
}

static int string_find(lua_State *L) { return find_or_match(L, true); }
static int string_match(lua_State *L) { return find_or_match(L, false); }

// -- gmatch

typedef struct progress {
    size_t next;       // where to continue
    ptrdiff_t latest;  // the end of the latest match, which an empty match must not repeat
} progress;

static int next_match(lua_State *L) {  // upvalues: text, pattern, progress
    size_t count, length;
    const byte *text = (const byte *)lua_tolstring(L, lua_upvalueindex(1), &count);
    const byte *pattern = (const byte *)lua_tolstring(L, lua_upvalueindex(2), &length);
    progress *p = lua_touserdata(L, lua_upvalueindex(3));
    matcher m;
    matcher_prepare(&m, L, text, count, pattern + length);
    if (p->next > count) return 0;
    for (const byte *s = text + p->next; s <= m.end; s++) {
        s = matcher_candidate(&m, s, pattern);
        const byte *e = matcher_match(&m, s, pattern);
        if (!e || e - text == p->latest) continue;
        p->next = (size_t)(e - text);
        p->latest = e - text;
        return push_captures(&m, s, e);
    }
    return 0;
}

static int string_gmatch(lua_State *L) {
    size_t count, length;
    check_text(L, 1, &count);
    check_text(L, 2, &length);
    size_t begin = clua_string_start(luaL_optinteger(L, 3, 1), count) - 1;
    lua_settop(L, 2);
    progress *p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = (progress){begin > count ? count + 1 : begin, -1};
    lua_pushcclosure(L, next_match, 3);
    return 1;
}

// -- gsub

static void add_bytes(matcher *m, luaL_Buffer *out, const byte *s, size_t count) {
    matcher_spend(m, (int64_t)count / 32);
    luaL_addlstring(out, (const char *)s, count);
}

static void add_text(matcher *m, luaL_Buffer *out, const byte *s, const byte *e) {  // the replacement, with %0 to %9 expanded
    size_t count;
    const byte *next = (const byte *)lua_tolstring(m->L, 3, &count), *end = next + count, *escape;
    while ((escape = memchr(next, '%', (size_t)(end - next)))) {
        add_bytes(m, out, next, (size_t)(escape - next));
        byte what = escape[1];
        next = escape + 2;
        matcher_spend(m, 1);
        if (what == '%') {
            luaL_addchar(out, '%');
        } else if (what == '0') {
            add_bytes(m, out, s, (size_t)(e - s));
        } else if (what >= '1' && what <= '9') {
            int i = what - '1';
            if (i >= m->level && i != 0) luaL_error(m->L, "invalid capture index %%%d", i + 1);
            if (i < m->level && m->captures[i].count >= 0) {
                add_bytes(m, out, m->captures[i].start, (size_t)m->captures[i].count);
            } else if (i >= m->level) {
                add_bytes(m, out, s, (size_t)(e - s));
            } else {
                push_capture(m, i, s, e);
                luaL_addvalue(out);
            }
        } else {
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        }
    }
    add_bytes(m, out, next, (size_t)(end - next));
}

// Returns whether the match was replaced.
static bool add_replacement(matcher *m, luaL_Buffer *out, const byte *s, const byte *e, int type) {
    lua_State *L = m->L;
    if (type == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        lua_call(L, push_captures(m, s, e), 1);
    } else if (type == LUA_TTABLE) {
        push_capture(m, 0, s, e);
        lua_gettable(L, 3);
    } else {
        add_text(m, out, s, e);
        return true;
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        add_bytes(m, out, s, (size_t)(e - s));
        return false;
    }
    if (!lua_isstring(L, -1)) luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    luaL_addvalue(out);
    return true;
}

static int string_gsub(lua_State *L) {
    size_t count, length;
    const byte *text = check_text(L, 1, &count), *pattern = check_text(L, 2, &length), *latest = NULL;
    int type = lua_type(L, 3);
    lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)count + 1), replaced = 0;
    luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                     "string/function/table");
    matcher m;
    matcher_prepare(&m, L, text, count, pattern + length);
    bool is_anchored = *pattern == '^', is_changed = false;
    if (is_anchored) pattern++;
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    const byte *s = text;
    while (replaced < most) {
        if (!is_anchored) {
            const byte *candidate = matcher_candidate(&m, s, pattern);
            if (candidate > s) luaL_addlstring(&out, (const char *)s, (size_t)(candidate - s));
            s = candidate;
        }
        const byte *e = matcher_match(&m, s, pattern);
        if (e && e != latest) {
            replaced++;
            is_changed |= add_replacement(&m, &out, s, e, type);
            s = latest = e;
        } else if (s < m.end) {
            luaL_addchar(&out, (char)*s++);
        } else {
            break;
        }
        if (is_anchored) break;
    }
    if (is_changed) {
        add_bytes(&m, &out, s, (size_t)(m.end - s));
        luaL_pushresult(&out);
    } else {
        lua_pushvalue(L, 1);
    }
    lua_pushinteger(L, replaced);
    return 2;
}

void clua_open_patterns(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"find", string_find}, {"match", string_match}, {"gmatch", string_gmatch}, {"gsub", string_gsub}, {NULL, NULL}};
    clua_set_functions(L, LUA_STRLIBNAME, functions);
}

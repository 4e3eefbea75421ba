// The utf8 library as in the manual, with every character charged.

#include <limits.h>

#include "internal.h"

enum { CHARACTERS = 32, LAST_STRICT = 0x10FFFF, LAST_LAX = 0x7FFFFFFF };

static bool is_continuation(unsigned char c) { return (c & 0xC0) == 0x80; }

static lua_Integer relative(lua_Integer position, size_t count) {
    if (position >= 0) return position;
    return 0u - (size_t)position > count ? 0 : (lua_Integer)count + position + 1;
}

// The position after the character at `s`, or NULL if it is invalid. A NUL follows the text, so no sequence extends beyond it.
static const unsigned char *decode(const unsigned char *s, uint32_t *code, bool is_lax) {
    static const uint32_t least[] = {UINT32_MAX, 0x80, 0x800, 0x10000, 0x200000, 0x4000000};
    uint32_t first = *s, result = first;
    if (first >= 0x80) {
        int more = 0;
        result = 0;
        for (; first & 0x40; first <<= 1) {
            unsigned char next = s[++more];
            if (!is_continuation(next)) return NULL;
            result = result << 6 | (next & 0x3F);
        }
        if (more > 5) return NULL;
        result |= (first & 0x7F) << (more * 5);
        if (result > LAST_LAX || result < least[more]) return NULL;
        s += more;
    }
    if (!is_lax && (result > LAST_STRICT || (result >= 0xD800 && result <= 0xDFFF))) return NULL;
    if (code) *code = result;
    return s + 1;
}

static const unsigned char *check_text(lua_State *L, size_t *count) {
    return (const unsigned char *)luaL_checklstring(L, 1, count);
}

static inline void step(lua_State *L, unsigned *steps) {
    if (++*steps % CHARACTERS == 0) clua_charge(L, CHARACTERS);
}

static int utf8_len(lua_State *L) {
    size_t count;
    const unsigned char *text = check_text(L, &count);
    lua_Integer first = relative(luaL_optinteger(L, 2, 1), count), last = relative(luaL_optinteger(L, 3, -1), count);
    bool is_lax = lua_toboolean(L, 4);
    luaL_argcheck(L, 1 <= first && --first <= (lua_Integer)count, 2, "initial position out of bounds");
    luaL_argcheck(L, --last < (lua_Integer)count, 3, "final position out of bounds");
    lua_Integer characters = 0;
    unsigned steps = 0;
    for (; first <= last; characters++) {
        const unsigned char *next = decode(text + first, NULL, is_lax);
        if (!next) {
            luaL_pushfail(L);
            lua_pushinteger(L, first + 1);
            return 2;
        }
        first = next - text;
        step(L, &steps);
    }
    lua_pushinteger(L, characters);
    return 1;
}

static int utf8_codepoint(lua_State *L) {
    size_t count;
    const unsigned char *text = check_text(L, &count);
    lua_Integer first = relative(luaL_optinteger(L, 2, 1), count), last = relative(luaL_optinteger(L, 3, first), count);
    bool is_lax = lua_toboolean(L, 4);
    luaL_argcheck(L, first >= 1, 2, "out of bounds");
    luaL_argcheck(L, last <= (lua_Integer)count, 3, "out of bounds");
    if (first > last) return 0;
    if (last - first >= INT_MAX) return luaL_error(L, "string slice too long");
    luaL_checkstack(L, (int)(last - first) + 1, "string slice too long");
    int found = 0;
    unsigned steps = 0;
    for (const unsigned char *s = text + first - 1; s < text + last; found++) {
        uint32_t code;
        s = decode(s, &code, is_lax);
        if (!s) return luaL_error(L, "invalid UTF-8 code");
        lua_pushinteger(L, code);
        step(L, &steps);
    }
    return found;
}

static int utf8_offset(lua_State *L) {
    size_t count;
    const unsigned char *text = check_text(L, &count);
    lua_Integer n = luaL_checkinteger(L, 2), usual = n >= 0 ? 1 : (lua_Integer)count + 1;
    lua_Integer i = relative(luaL_optinteger(L, 3, usual), count);
    luaL_argcheck(L, 1 <= i && --i <= (lua_Integer)count, 3, "position out of bounds");
    unsigned steps = 0;
    if (n == 0) {
        for (; i > 0 && is_continuation(text[i]); i--) step(L, &steps);
    } else {
        if (is_continuation(text[i])) return luaL_error(L, "initial position is a continuation byte");
        for (; n < 0 && i > 0; n++) {
            do {
                i--;
                step(L, &steps);
            } while (i > 0 && is_continuation(text[i]));
        }
        if (n > 0) {
            for (n--; n > 0 && i < (lua_Integer)count; n--) {
                do {
                    i++;
                    step(L, &steps);
                } while (is_continuation(text[i]));
            }
        }
    }
    if (n == 0)
        lua_pushinteger(L, i + 1);
    else
        luaL_pushfail(L);
    return 1;
}

static void push_character(lua_State *L, int argument) {
    lua_Unsigned code = (lua_Unsigned)luaL_checkinteger(L, argument);
    luaL_argcheck(L, code <= LAST_LAX, argument, "value out of range");
    lua_pushfstring(L, "%U", (long)code);
}

static int utf8_char(lua_State *L) {
    int count = lua_gettop(L);
    if (count == 1) {
        push_character(L, 1);
        return 1;
    }
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    for (int i = 1; i <= count; i++) {
        push_character(L, i);
        luaL_addvalue(&out);
        clua_charge(L, CHARACTERS / 2);
    }
    luaL_pushresult(&out);
    return 1;
}

static int next_character(lua_State *L, bool is_lax) {
    size_t count;
    const unsigned char *text = check_text(L, &count);
    lua_Unsigned i = (lua_Unsigned)lua_tointeger(L, 2);
    unsigned steps = 0;
    if (i < count)
        for (; is_continuation(text[i]); i++) step(L, &steps);
    if (i >= count) return 0;
    uint32_t code;
    if (!decode(text + i, &code, is_lax)) return luaL_error(L, "invalid UTF-8 code");
    lua_pushinteger(L, (lua_Integer)i + 1);
    lua_pushinteger(L, code);
    return 2;
}

static int next_strict(lua_State *L) { return next_character(L, false); }
static int next_lax(lua_State *L) { return next_character(L, true); }

static int utf8_codes(lua_State *L) {
    bool is_lax = lua_toboolean(L, 2);
    luaL_checkstring(L, 1);
    lua_pushcfunction(L, is_lax ? next_lax : next_strict);
    lua_pushvalue(L, 1);
    lua_pushinteger(L, 0);
    return 3;
}

void clua_open_unicode(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"len", utf8_len},   {"codepoint", utf8_codepoint}, {"offset", utf8_offset},
        {"char", utf8_char}, {"codes", utf8_codes},         {NULL, NULL}};
    clua_set_functions(L, LUA_UTF8LIBNAME, functions);
}

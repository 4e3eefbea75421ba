// String functions whose time grows with the length of a text. They work in pieces, each of which is charged.

#include <limits.h>
#include <string.h>

#include "internal.h"

enum { PIECE = 64 * 1024, BYTES_PER_UNIT = 32, FEW = 32 };

static int64_t cost_of(size_t bytes) { return (int64_t)(bytes / BYTES_PER_UNIT); }

// -- rep

static int string_rep(lua_State *L) {
    size_t count, separator_count;
    const char *text = luaL_checklstring(L, 1, &count);
    lua_Integer times = luaL_checkinteger(L, 2);
    const char *separator = luaL_optlstring(L, 3, "", &separator_count);
    size_t unit = count + separator_count;
    if (times <= 0 || unit == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if (unit > INT_MAX / (lua_Unsigned)times) return luaL_error(L, "resulting string too large");
    size_t total = unit * (size_t)times - separator_count, filled = unit < total ? unit : total;
    luaL_Buffer out;
    char *bytes = luaL_buffinitsize(L, &out, total);
    memcpy(bytes, text, count);
    if (filled > count) memcpy(bytes + count, separator, separator_count);
    while (filled < total) {  // repeats what has been written so far
        size_t offset = filled % unit, size = filled - offset;
        if (size > PIECE) size = PIECE;
        if (size > total - filled) size = total - filled;
        clua_charge(L, cost_of(size));
        memcpy(bytes + filled, bytes + offset, size);
        filled += size;
    }
    luaL_pushresultsize(&out, total);
    return 1;
}

// -- lower, upper, reverse

typedef void (*piece_writer)(char *out, const char *text, size_t count);

static void write_lower(char *out, const char *text, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = (char)(text[i] + (text[i] >= 'A' && text[i] <= 'Z' ? 'a' - 'A' : 0));
}

static void write_upper(char *out, const char *text, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = (char)(text[i] - (text[i] >= 'a' && text[i] <= 'z' ? 'a' - 'A' : 0));
}

static void write_reversed(char *out, const char *text, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = text[count - 1 - i];
}

static int rewrite(lua_State *L, piece_writer write, bool is_backward) {
    size_t count;
    const char *text = luaL_checklstring(L, 1, &count);
    luaL_Buffer out;
    char *bytes = luaL_buffinitsize(L, &out, count);
    for (size_t done = 0; done < count;) {
        size_t size = count - done < PIECE ? count - done : PIECE;
        clua_charge(L, cost_of(size));
        write(bytes + done, is_backward ? text + (count - done - size) : text + done, size);
        done += size;
    }
    luaL_pushresultsize(&out, count);
    return 1;
}

static int string_lower(lua_State *L) { return rewrite(L, write_lower, false); }
static int string_upper(lua_State *L) { return rewrite(L, write_upper, false); }
static int string_reverse(lua_State *L) { return rewrite(L, write_reversed, true); }

// -- byte and char

static int string_byte(lua_State *L) {
    size_t count;
    const unsigned char *text = (const unsigned char *)luaL_checklstring(L, 1, &count);
    lua_Integer first = luaL_optinteger(L, 2, 1), last = luaL_optinteger(L, 3, first);
    size_t begin = clua_string_start(first, count), end;
    if (last > (lua_Integer)count)
        end = count;
    else if (last >= 0)
        end = (size_t)last;
    else
        end = last < -(lua_Integer)count ? 0 : count + (size_t)last + 1;
    if (begin > end) return 0;
    if (end - begin >= (size_t)INT_MAX) return luaL_error(L, "string slice too long");
    int n = (int)(end - begin) + 1;
    luaL_checkstack(L, n, "string slice too long");
    for (int i = 0; i < n; i++) {
        if (i % FEW == FEW - 1) clua_charge(L, FEW / 2);
        lua_pushinteger(L, text[begin + (size_t)i - 1]);
    }
    return n;
}

static int string_char(lua_State *L) {
    int count = lua_gettop(L);
    luaL_Buffer out;
    char *bytes = luaL_buffinitsize(L, &out, (size_t)count);
    for (int i = 1; i <= count; i++) {
        if (i % FEW == 0) clua_charge(L, FEW / 2);
        lua_Unsigned code = (lua_Unsigned)luaL_checkinteger(L, i);
        luaL_argcheck(L, code <= UCHAR_MAX, i, "value out of range");
        bytes[i - 1] = (char)(unsigned char)code;
    }
    luaL_pushresultsize(&out, (size_t)count);
    return 1;
}

// -- tonumber

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    return INT_MAX;
}

static size_t skip_spaces(lua_State *L, const char *text, size_t i) {
    for (; text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r'); i++)
        if (i % FEW == FEW - 1) clua_charge(L, FEW / 2);
    return i;
}

// Parses a number in the base and pushes it. Returns false if the text is not a number.
static bool push_number(lua_State *L, const char *text, size_t count, lua_Unsigned base) {
    size_t i = skip_spaces(L, text, 0);
    bool is_negative = text[i] == '-';
    if (is_negative || text[i] == '+') i++;
    lua_Unsigned number = 0;
    size_t begin = i;
    for (; (lua_Unsigned)digit_of(text[i]) < base; i++) {
        number = number * base + (lua_Unsigned)digit_of(text[i]);
        if (i % FEW == FEW - 1) clua_charge(L, FEW / 2);
    }
    if (i == begin || skip_spaces(L, text, i) != count) return false;
    lua_pushinteger(L, (lua_Integer)(is_negative ? 0 - number : number));
    return true;
}

static int base_tonumber(lua_State *L) {
    size_t count;
    if (lua_isnoneornil(L, 2)) {
        if (lua_type(L, 1) == LUA_TNUMBER) {
            lua_settop(L, 1);
            return 1;
        }
        const char *text = lua_tolstring(L, 1, &count);
        if (text) {
            if (count >= FEW) clua_charge(L, (int64_t)count / 2);
            if (lua_stringtonumber(L, text) == count + 1) return 1;
        }
        luaL_checkany(L, 1);
    } else {
        lua_Integer base = luaL_checkinteger(L, 2);
        luaL_checktype(L, 1, LUA_TSTRING);
        const char *text = lua_tolstring(L, 1, &count);
        luaL_argcheck(L, 2 <= base && base <= 36, 2, "base out of range");
        if (push_number(L, text, count, (lua_Unsigned)base)) return 1;
    }
    luaL_pushfail(L);
    return 1;
}

void clua_open_strings(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"rep", string_rep},   {"lower", string_lower}, {"upper", string_upper}, {"reverse", string_reverse},
        {"byte", string_byte}, {"char", string_char},   {NULL, NULL}};
    clua_set_functions(L, LUA_STRLIBNAME, functions);
    lua_register(L, "tonumber", base_tonumber);
}

// string.format as in the manual, but without addresses and with every piece charged. Limits the formats of pack.

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

enum { MAX_ITEM = 120, MAX_FLOAT = 110 + 308, MAX_SPECIFICATION = 32, PIECE = 64 * 1024, LONG_TEXT = 100 };
enum { MAX_PACK_FORMAT = 16 * 1024 };

static void add_bytes(lua_State *L, luaL_Buffer *out, const char *text, size_t count) {
    while (count > 0) {
        size_t size = count < PIECE ? count : PIECE;
        clua_charge(L, (int64_t)size / 32);
        luaL_addlstring(out, text, size);
        text += size;
        count -= size;
    }
}

// -- Specifications

typedef struct specification {
    char text[MAX_SPECIFICATION];  // "%-5.2d"
    size_t count;
} specification;

// Parses the specification whose '%' precedes `format`. Returns the position after it.
static const char *read_specification(lua_State *L, const char *format, specification *out) {
    size_t count = strspn(format, "-+#0 123456789.") + 1;
    if (count >= MAX_SPECIFICATION - 10) luaL_error(L, "invalid format (too long)");
    out->text[0] = '%';
    memcpy(out->text + 1, format, count);
    out->text[count + 1] = 0;
    out->count = count + 1;
    return format + count;
}

static const char *skip_two_digits(const char *s) {
    for (int i = 0; i < 2 && *s >= '0' && *s <= '9'; i++) s++;
    return s;
}

static void check(lua_State *L, const specification *given, const char *flags, bool has_precision) {
    const char *s = given->text + 1;
    s += strspn(s, flags);
    if (*s != '0') {
        s = skip_two_digits(s);
        if (*s == '.' && has_precision) s = skip_two_digits(s + 1);
    }
    if (!isalpha((unsigned char)*s)) luaL_error(L, "invalid conversion specification: '%s'", given->text);
}

static void set_long_long(specification *s) {  // %d becomes %lld
    char conversion = s->text[s->count - 1];
    memcpy(s->text + s->count - 1, "ll", 2);
    s->text[s->count + 1] = conversion;
    s->text[s->count + 2] = 0;
}

// -- %q

static void add_quoted(lua_State *L, luaL_Buffer *out, const char *text, size_t count) {
    luaL_addchar(out, '"');
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\' || c == '\n') {
            luaL_addchar(out, '\\');
            luaL_addchar(out, (char)c);
        } else if (iscntrl(c)) {
            char escape[8];
            snprintf(escape, sizeof escape, isdigit((unsigned char)text[i + 1]) ? "\\%03d" : "\\%d", c);
            luaL_addstring(out, escape);
        } else {
            luaL_addchar(out, (char)c);
        }
        if (i % 32 == 31) clua_charge(L, 16);
    }
    luaL_addchar(out, '"');
}

static void add_literal(lua_State *L, luaL_Buffer *out, int argument) {
    char text[MAX_ITEM];
    switch (lua_type(L, argument)) {
        case LUA_TSTRING: {
            size_t count;
            const char *quoted = lua_tolstring(L, argument, &count);
            add_quoted(L, out, quoted, count);
            return;
        }
        case LUA_TNUMBER: {
            lua_Integer integer = lua_tointeger(L, argument);
            lua_Number number = lua_tonumber(L, argument);
            if (lua_isinteger(L, argument))
                snprintf(text, sizeof text, integer == LUA_MININTEGER ? "0x%llx" : "%lld", (long long)integer);
            else if (isinf(number))
                snprintf(text, sizeof text, number > 0 ? "1e9999" : "-1e9999");
            else
                snprintf(text, sizeof text, isnan(number) ? "(0/0)" : "%a", number);
            luaL_addstring(out, text);
            return;
        }
        case LUA_TNIL: luaL_addstring(out, "nil"); return;
        case LUA_TBOOLEAN: luaL_addstring(out, lua_toboolean(L, argument) ? "true" : "false"); return;
        default: luaL_argerror(L, argument, "value has no literal form");
    }
}

// -- The conversions

static void add_text(lua_State *L, luaL_Buffer *out, int argument, const specification *s) {
    clua_push_text(L, argument);
    size_t count;
    const char *text = lua_tolstring(L, -1, &count);
    clua_charge(L, (int64_t)count / 32);
    if (s->count == 2) {
        luaL_addvalue(out);
        return;
    }
    luaL_argcheck(L, memchr(text, 0, count) == NULL, argument, "string contains zeros");
    check(L, s, "-", true);
    if (!strchr(s->text, '.') && count >= LONG_TEXT) {
        luaL_addvalue(out);
        return;
    }
    char item[MAX_ITEM];
    int size = snprintf(item, sizeof item, s->text, text);
    lua_pop(L, 1);
    luaL_addlstring(out, item, (size_t)size);
}

static void add_item(lua_State *L, luaL_Buffer *out, int argument, specification *s) {
    char item[MAX_FLOAT];
    int size = 0;
    switch (s->text[s->count - 1]) {
        case 'c':
            check(L, s, "-", false);
            size = snprintf(item, sizeof item, s->text, (int)luaL_checkinteger(L, argument));
            break;
        case 'd': case 'i': case 'u': case 'o': case 'x': case 'X': {
            char conversion = s->text[s->count - 1];
            lua_Integer number = luaL_checkinteger(L, argument);
            check(L, s, conversion == 'u' ? "-0" : conversion == 'd' || conversion == 'i' ? "-+0 " : "-#0", true);
            set_long_long(s);
            size = snprintf(item, sizeof item, s->text, (long long)number);
            break;
        }
        case 'a': case 'A':
            check(L, s, "-+#0 ", true);
            size = snprintf(item, sizeof item, s->text, luaL_checknumber(L, argument));
            break;
        case 'f': case 'e': case 'E': case 'g': case 'G': {
            lua_Number number = luaL_checknumber(L, argument);
            check(L, s, "-+#0 ", true);
            size = snprintf(item, sizeof item, s->text, number);
            break;
        }
        case 'p':
            clua_raise(L, "misuse", "sandbox.absent", NULL, "the format %%p is not available to scripts");
            break;
        case 'q':
            if (s->count != 2) luaL_error(L, "specifier '%%q' cannot have modifiers");
            add_literal(L, out, argument);
            return;
        case 's': add_text(L, out, argument, s); return;
        default: luaL_error(L, "invalid conversion '%s' to 'format'", s->text);
    }
    luaL_addlstring(out, item, (size_t)size);
}

static int string_format(lua_State *L) {
    int top = lua_gettop(L), argument = 1;
    size_t count;
    const char *format = luaL_checklstring(L, 1, &count), *end = format + count;
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    while (format < end) {
        const char *percent = memchr(format, '%', (size_t)(end - format));
        if (!percent) percent = end;
        add_bytes(L, &out, format, (size_t)(percent - format));
        if (percent == end) break;
        format = percent + 1;
        clua_charge(L, 1);
        if (*format == '%') {
            luaL_addchar(&out, *format++);
            continue;
        }
        if (++argument > top) return luaL_argerror(L, argument, "no value");
        specification s;
        format = read_specification(L, format, &s);
        clua_charge(L, 16);
        add_item(L, &out, argument, &s);
    }
    luaL_pushresult(&out);
    return 1;
}

// -- pack, unpack, packsize
//
// The stock functions, which cannot be interrupted. Therefore their formats are limited, and what a format may need is charged in advance.

static void charge_format(lua_State *L) {
    size_t count;
    const char *format = luaL_checklstring(L, 1, &count);
    luaL_argcheck(L, count <= MAX_PACK_FORMAT, 1, "format longer than 16384 bytes");
    int64_t cost = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        if (format[i] != 'c') continue;
        int64_t size = 0;
        while (i + 1 < count && format[i + 1] >= '0' && format[i + 1] <= '9' && size < (int64_t)1 << 40)
            size = size * 10 + (format[++i] - '0');
        cost += size / 2;
    }
    clua_charge(L, cost);
}

static int metered_pack(lua_State *L) {
    charge_format(L);
    return clua_call_original(L);
}

void clua_open_formats(lua_State *L) {
    static const luaL_Reg functions[] = {{"format", string_format}, {NULL, NULL}};
    clua_set_functions(L, LUA_STRLIBNAME, functions);
    clua_guard(L, LUA_STRLIBNAME, "pack", metered_pack);
    clua_guard(L, LUA_STRLIBNAME, "unpack", metered_pack);
    clua_guard(L, LUA_STRLIBNAME, "packsize", metered_pack);
}

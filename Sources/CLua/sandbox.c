// The library that scripts see: a whitelist of the standard libraries, guards for a few functions, and clear errors for absent names.

#include <string.h>

#include "internal.h"

int clua_call_original(lua_State *L) {
    // Same frame: a stock function that yields or raises behaves as if called directly.
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

// -- Guards

static int guarded_setmetatable(lua_State *L) {
    if (lua_type(L, 2) == LUA_TTABLE) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL)  // finalizers run with hooks disabled, so they could not be stopped
            return clua_raise(L, "misuse", "sandbox.absent", "use a to-be-closed variable: local x <close> = ...",
                              "__gc is not available to scripts");
        lua_pop(L, 1);
    }
    if ((lua_isnil(L, 2) || lua_istable(L, 2)) && clua_is_list(L, 1)) {  // the script's metatable replaces the list mark
        lua_pushnil(L);
        lua_setmetatable(L, 1);
    }
    return clua_call_original(L);
}

// A message handler called for an error raised in a hook runs with hooks disabled, so it could not be stopped.
static int guarded_handler(lua_State *L) {
    if (clua_stopped(clua_get(L))) return 1;
    if (clua_is_error(L, 1)) {
        lua_getfield(L, 1, "kind");
        bool cancelled = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "cancelled") == 0;
        lua_pop(L, 1);
        if (cancelled) return 1;
    }
    clua_explain_absent(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int guarded_xpcall(lua_State *L) {
    static const char handler[] = "traceback";  // the usual handler
    if (lua_type(L, 2) == LUA_TNIL && clua_is_read_absent(L, handler)) return clua_raise_absent(L, "debug", handler);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guarded_handler, 1);
    lua_replace(L, 2);
    return clua_call_original(L);
}

static int memory_count(lua_State *L) {
    const char *option = luaL_optstring(L, 1, "collect");
    if (strcmp(option, "count") != 0)
        return clua_raise(L, "misuse", "sandbox.absent", "memory is collected automatically",
                          "collectgarbage(\"%s\") is not available to scripts, only collectgarbage(\"count\")", option);
    lua_pushnumber(L, (lua_Number)clua_get(L)->used / 1024.0);
    return 1;
}

// A small size, because some compiler steps take longer the more has been read, and stops are handled only between pieces.
enum { TEXT_PIECE = 64, COST_OF_COMPILING = 10 };

const char *clua_read_text(lua_State *L, void *user, size_t *count) {
    clua_text_reader *reader = user;
    const char *piece = reader->next;
    *count = reader->count < TEXT_PIECE ? reader->count : TEXT_PIECE;
    reader->next += *count;
    reader->count -= *count;
    reader->was_stopped = true;
    clua_charge(L, (int64_t)*count * COST_OF_COMPILING);
    reader->was_stopped = false;
    clua_watch_progress();
    return piece;
}

enum { MAX_NAME = 255 };
enum { HELD_PIECE = 5 };  // a stack index above the arguments: the compiler reads this string, so it must not be collected

// Calls the function at 1 for the next piece when the previous one has been read.
static const char *read_pieces(lua_State *L, void *user, size_t *count) {
    clua_text_reader *reader = user;
    if (reader->count == 0) {
        luaL_checkstack(L, 2, "too many nested functions");
        lua_pushvalue(L, 1);
        lua_call(L, 0, 1);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            *count = 0;
            return NULL;
        }
        if (!lua_isstring(L, -1)) luaL_error(L, "reader function must return a string");
        lua_replace(L, HELD_PIECE);
        reader->next = lua_tolstring(L, HELD_PIECE, &reader->count);
    }
    return clua_read_text(L, reader, count);
}

static bool is_inside_of_character(const char *text) { return ((unsigned char)*text & 0xC0) == 0x80; }

// Shortens names like Lua does in messages: of a file name, the end is kept.
static const char *shorten_name(const char *name, char room[MAX_NAME + 1]) {
    if (name[0] == '@') {
        static const char beginning[] = "@...";
        const char *end = name + strlen(name) - (MAX_NAME - strlen(beginning));
        while (is_inside_of_character(end)) end++;
        memcpy(room, beginning, sizeof beginning);
        return strcat(room, end);
    }
    size_t count = MAX_NAME;
    while (count && is_inside_of_character(name + count)) count--;
    memcpy(room, name, count);
    room[count] = 0;
    return room;
}

// load: without bytecode, and with the run's globals unless an environment is given.
static int guarded_load(lua_State *L) {
    size_t count = 0;
    const char *source = lua_tolstring(L, 1, &count);
    const char *name = luaL_optstring(L, 2, source ? source : "=(load)");
    const char *asked = luaL_optstring(L, 3, "bt");
    bool wants_text = strchr(asked, 't'), wants_bytecode = strchr(asked, 'b');
    const char *mode = !wants_bytecode ? asked : wants_text ? "t" : "";  // never contains 'b'
    if (!source) luaL_checktype(L, 1, LUA_TFUNCTION);
    if (name[0] == '=' && name[1] == '[') name++;  // such names are reserved for host chunks
    char short_name[MAX_NAME + 1];  // each error of the chunk contains its name
    if (strnlen(name, sizeof short_name) > MAX_NAME) name = shorten_name(name, short_name);
    bool has_environment = !lua_isnone(L, 4);
    lua_settop(L, HELD_PIECE);
    clua_text_reader reader = {.next = source, .count = count};
    int status = lua_load(L, source ? clua_read_text : read_pieces, &reader, name, mode);
    if (reader.was_stopped) return lua_error(L);  // a stop or a cancellation, not a compiler error
    // With an empty mode nothing is compiled: the kind of chunk was rejected.
    if (status == LUA_ERRSYNTAX && mode[0] == 0 && wants_bytecode)
        lua_pushfstring(L, strstr(lua_tostring(L, -1), "a text") ? "attempt to load a text chunk (mode is '%s')"
                                                               : "attempt to load a binary chunk (mode is 't')", asked);
    if (status != LUA_OK) {
        luaL_pushfail(L);
        lua_insert(L, -2);
        return 2;
    }
    clua_run *run = clua_get(L)->run;
    if (has_environment) {
        lua_pushvalue(L, 4);
        if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
    } else if (run && run->environment != LUA_NOREF) {
        static const char any_text[] = "_ENV";  // pieces are not searched for the name
        clua_bind_globals(L, run, source ? source : any_text, source ? count : strlen(any_text));
    }
    return 1;
}

void clua_push_hints(lua_State *L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_key_hints); }
void clua_push_globals(lua_State *L) { lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS); }

// -- Installation

void clua_set_functions(lua_State *L, const char *library, const luaL_Reg *functions) {
    lua_getglobal(L, library);
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}

void clua_guard(lua_State *L, const char *library, const char *name, lua_CFunction function) {
    lua_getglobal(L, library);
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

static bool is_among(const char *name, const char *const *names) {
    while (*names && (name[0] != **names || strcmp(name, *names) != 0)) names++;
    return *names;
}

static void keep_only(lua_State *L, const char *const *names) {  // removes other functions of the base library
    lua_pushglobaltable(L);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING && is_among(lua_tostring(L, -1), names)) continue;
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, -4);  // assigning to an existing field keeps the traversal valid
    }
    lua_pop(L, 1);
}

void clua_open_sandbox(lua_State *L) {
    static const luaL_Reg libraries[] = {
        {LUA_GNAME, luaopen_base},         {LUA_STRLIBNAME, luaopen_string}, {LUA_TABLIBNAME, luaopen_table},
        {LUA_MATHLIBNAME, luaopen_math},   {LUA_UTF8LIBNAME, luaopen_utf8},
    };
    static const char *const allowed[] = {
        "_G",     "_VERSION", "assert", "error",  "getmetatable", "ipairs", "next",   "pairs",     "pcall",
        "rawequal", "rawget", "rawlen", "rawset", "select", "setmetatable", "tonumber", "tostring", "type",
        "xpcall", "string",   "table",  "math",   "utf8",         NULL,
    };
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);  // error messages find function names in it; `require` does not use it
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        lua_pushcfunction(L, libraries[i].func);
        lua_call(L, 0, 1);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, libraries[i].name);
        lua_setglobal(L, libraries[i].name);
    }
    lua_pop(L, 1);
    keep_only(L, allowed);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_key_hints);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_key_modules);

    clua_guard(L, "_G", "setmetatable", guarded_setmetatable);
    clua_guard(L, "_G", "xpcall", guarded_xpcall);
    lua_register(L, "load", guarded_load);
    lua_register(L, "collectgarbage", memory_count);
    lua_register(L, "require", clua_require);
    clua_open_absent(L);
}

// Method lookups on strings use a private copy of the library, which scripts can neither reach nor change.
void clua_lock_strings(lua_State *L) {
    lua_createtable(L, 0, 20);
    lua_getglobal(L, "string");
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -5);
    }
    lua_pop(L, 1);
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 3);
}

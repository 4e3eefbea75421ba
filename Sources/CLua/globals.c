// The globals of a run: assignments are private to the run, reads fall back to the state's globals.
//
// Most runs read only a few of about forty globals. So a run begins with an empty table, and each global is copied on first read. Scripts
// must not notice. When a script can access the table itself, through `_G` or `_ENV`, all globals are copied and the table becomes an
// ordinary one. A global that was copied or assigned once is never copied again, because the script may have cleared it since.

#define _GNU_SOURCE
#include <string.h>

#include "internal.h"

enum { MAX_NUMBERED = 62 };

// Registry keys: the metatable of incomplete globals, and the number of each global that was copied. A key within these globals: the set of
// settled numbers.
static const char key_metatable, key_numbers, key_settled;

static void copy_missing(lua_State *L, int globals, lua_Integer settled) {
    clua_push_globals(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &key_numbers);
    int shared = lua_gettop(L) - 1, numbers = shared + 1;
    lua_pushnil(L);
    while (lua_next(L, shared)) {
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -3);
        bool is_settled = lua_rawget(L, numbers) == LUA_TNUMBER && (settled >> lua_tointeger(L, -1) & 1);
        lua_pop(L, 1);
        lua_rotate(L, -2, 1);  // key, key, value
        if (is_settled)
            lua_pop(L, 2);
        else
            lua_rawset(L, globals);
    }
    lua_settop(L, shared - 1);
}

// Copies the remaining globals and makes the table an ordinary one.
static void complete(lua_State *L, int globals) {
    lua_Integer settled = lua_rawgetp(L, globals, &key_settled) == LUA_TNUMBER ? lua_tointeger(L, -1) : 0;
    lua_pop(L, 1);
    copy_missing(L, globals, settled);
    lua_pushliteral(L, "_G");
    lua_pushvalue(L, globals);
    lua_rawset(L, globals);
    lua_pushnil(L);
    lua_rawsetp(L, globals, &key_settled);
    lua_pushnil(L);
    lua_setmetatable(L, globals);
}

// Returns whether the global at `key` becomes settled by this call. Also false if there are too many globals to number; then the table was
// completed.
static bool settle(lua_State *L, int globals, int key) {
    lua_Integer settled = lua_rawgetp(L, globals, &key_settled) == LUA_TNUMBER ? lua_tointeger(L, -1) : 0;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &key_numbers);
    lua_pushvalue(L, key);
    lua_Integer number;
    if (lua_rawget(L, -2) == LUA_TNUMBER) {
        number = lua_tointeger(L, -1);
    } else {
        number = lua_rawgeti(L, -2, 0) == LUA_TNUMBER ? lua_tointeger(L, -1) : 0;
        if (number >= MAX_NUMBERED) {
            complete(L, globals);
            return false;
        }
        lua_pushvalue(L, key);
        lua_pushinteger(L, number);
        lua_rawset(L, -5);
        lua_pushinteger(L, number + 1);
        lua_rawseti(L, -4, 0);
    }
    if (settled >> number & 1) return false;
    lua_pushinteger(L, settled | (lua_Integer)1 << number);
    lua_rawsetp(L, globals, &key_settled);
    return true;
}

static int read_global(lua_State *L) {  // __index: table, key
    lua_settop(L, 2);
    clua_push_globals(L);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 3) == LUA_TNIL) return 1;
    if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "_G") == 0) {
        complete(L, 1);
    } else if (settle(L, 1, 2)) {
        lua_pushvalue(L, 2);
        lua_pushvalue(L, 4);
        lua_rawset(L, 1);
        lua_pushvalue(L, 4);
        return 1;
    }
    lua_pushvalue(L, 2);
    lua_rawget(L, 1);
    return 1;
}

static int assign_global(lua_State *L) {  // __newindex: table, key, value
    lua_settop(L, 3);
    clua_push_globals(L);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 4) != LUA_TNIL) {
        if (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "_G") == 0)
            complete(L, 1);
        else
            settle(L, 1, 2);
    }
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 0;
}

void clua_open_globals(lua_State *L) {
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_numbers);
    lua_createtable(L, 0, 3);
    lua_pushcfunction(L, read_global);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, assign_global);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_metatable);
}

void clua_push_run_globals(lua_State *L) {
    lua_newtable(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &key_metatable);
    lua_setmetatable(L, -2);
}

void clua_bind_globals(lua_State *L, const clua_run *run, const char *source, size_t count) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->environment);
    // Only a chunk that contains the name can access the table without looking up "_G".
    if (memmem(source, count, "_ENV", 4) && lua_getmetatable(L, -1)) {
        lua_rawgetp(L, LUA_REGISTRYINDEX, &key_metatable);
        bool is_incomplete = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
        if (is_incomplete) complete(L, lua_absindex(L, -1));
    }
    if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
}

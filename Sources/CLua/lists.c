// Lists: tables with a mark, which distinguishes an empty list from an empty table.
//
// The mark is a metatable without metamethods. Scripts cannot access it, because it is shared and they could add finalizers to it.

#include "internal.h"

static const char key_list;  // registry key: the metatable

void clua_open_lists(lua_State *L) {
    lua_createtable(L, 0, 1);
    if (!clua_get(L)->is_standard) {
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_list);
}

bool clua_is_list(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &key_list);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

void clua_mark_list(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &key_list);
    lua_setmetatable(L, -2);
}

// list(t): marks the table and returns it, or nil if it has a metatable of its own.
static int host_list(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    if (clua_is_list(L, 1)) return 1;
    if (lua_getmetatable(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    clua_mark_list(L);
    return 1;
}

void clua_push_list(lua_State *L) { lua_pushcfunction(L, host_list); }

static int host_is_list(lua_State *L) {
    lua_pushboolean(L, clua_is_list(L, 1));
    return 1;
}

void clua_push_is_list(lua_State *L) { lua_pushcfunction(L, host_is_list); }

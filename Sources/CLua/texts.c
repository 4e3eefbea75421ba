// Texts of error values.
//
// An error can be an object of the script whose `__tostring` returns its text. The host cannot call that. Therefore the lowest frame of a
// task does, within the run's budgets, and records the text by error value.

#include "internal.h"

enum { MAX_TEXTS = 16 };

static int text_of_error(lua_State *L) {
    luaL_tolstring(L, 1, NULL);
    return 1;
}

void clua_record_text(lua_State *L) {
    clua_run *run = clua_get(L)->run;
    int error = lua_gettop(L), type = lua_type(L, error);
    if (!run || run->stop || (type != LUA_TTABLE && type != LUA_TUSERDATA)) return;
    if (!lua_checkstack(L, 8) || clua_is_error(L, error)) return;
    if (luaL_getmetafield(L, error, "__tostring") == LUA_TNIL) return;
    lua_settop(L, error);
    lua_pushcfunction(L, text_of_error);
    lua_pushvalue(L, error);
    bool has_text = lua_pcall(L, 1, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING;
    if (has_text && !run->stop) {
        if (run->texts == LUA_NOREF) {
            lua_newtable(L);
            run->texts = luaL_ref(L, LUA_REGISTRYINDEX);
        }
        lua_rawgeti(L, LUA_REGISTRYINDEX, run->texts);
        lua_Integer count = lua_rawgeti(L, -1, 0) == LUA_TNUMBER ? lua_tointeger(L, -1) : 0;
        lua_pop(L, 1);
        if (count >= MAX_TEXTS) {  // bounded like the origins
            lua_newtable(L);
            lua_replace(L, -2);
            lua_pushvalue(L, -1);
            lua_rawseti(L, LUA_REGISTRYINDEX, run->texts);
            count = 0;
        }
        lua_pushvalue(L, error);
        lua_pushvalue(L, error + 1);
        lua_rawset(L, -3);
        lua_pushinteger(L, count + 1);
        lua_rawseti(L, -2, 0);
    }
    lua_settop(L, error);
}

void clua_push_recorded_text(lua_State *L, clua_run *run, int index) {
    index = lua_absindex(L, index);
    if (run->texts == LUA_NOREF) {
        lua_pushnil(L);
        return;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->texts);
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    lua_remove(L, -2);
}

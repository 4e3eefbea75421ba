// The whole standard library, for scripts that are trusted like the program itself.

#include "internal.h"

void clua_open_standard(lua_State *L) {
    luaL_openlibs(L);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_key_hints);
    // The stock `require` finds host modules among the loaded ones.
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_key_modules);
}

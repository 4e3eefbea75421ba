#define _GNU_SOURCE
#include "stock.h"

#include <lua5.4/lauxlib.h>
#include <lua5.4/lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int64_t stock_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int now(lua_State *L) {
    lua_pushinteger(L, stock_now_ns());
    return 1;
}

static int successor(lua_State *L) {
    lua_pushinteger(L, luaL_checkinteger(L, 1) + 1);
    return 1;
}

// (name, {topic, priority, urgent}) -> {id, seq, ok}
static int record(lua_State *L) {
    size_t count;
    luaL_checklstring(L, 1, &count);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_getfield(L, 2, "topic");
    luaL_checkstring(L, -1);
    lua_getfield(L, 2, "priority");
    lua_Integer priority = luaL_checkinteger(L, -1);
    lua_getfield(L, 2, "urgent");
    int urgent = lua_toboolean(L, -1);
    lua_createtable(L, 0, 3);
    lua_pushvalue(L, -4);
    lua_setfield(L, -2, "id");
    lua_pushinteger(L, priority + (lua_Integer)count);
    lua_setfield(L, -2, "seq");
    lua_pushboolean(L, urgent);
    lua_setfield(L, -2, "ok");
    return 1;
}

lua_State *stock_open(void) {
    static const luaL_Reg functions[] = {
        {"now", now}, {"successor", successor}, {"record", record}, {NULL, NULL},
    };
    lua_State *L = luaL_newstate();
    if (!L) abort();
    luaL_openlibs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    luaL_newlib(L, functions);
    lua_setfield(L, -2, "host");
    lua_settop(L, 0);
    return L;
}

double stock_run(lua_State *L, const char *source, int64_t count) {
    if (luaL_loadstring(L, source) == LUA_OK) {
        lua_pushinteger(L, count);
        if (lua_pcall(L, 1, 1, 0) == LUA_OK) {
            double result = lua_tonumber(L, -1);
            lua_settop(L, 0);
            return result;
        }
    }
    fprintf(stderr, "stock Lua failed: %s\n", lua_tostring(L, -1));
    exit(1);
}

void stock_open_and_close(void) {
    lua_State *L = luaL_newstate();
    if (!L) abort();
    luaL_openlibs(L);
    lua_close(L);
}

// require: modules of the host, modules that the run has already loaded, and modules that the host finds.
//
// The host tracks which modules are being loaded, so that it can reject cycles and let other tasks wait for a load. This file contains what
// must execute as Lua: the chunk, with the run's globals, suspendable.

#include <string.h>

#include "internal.h"

void clua_push_modules(lua_State *L) { lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_key_modules); }

// Made on demand: most states require no files.
static void push_loader(lua_State *L, int64_t function) { clua_push_function(L, function, "require", false); }

static bool push_loaded(lua_State *L, int name) {  // pushes the module if the run has loaded it
    clua_run *run = clua_get(L)->run;
    if (!run || run->loaded == LUA_NOREF) return false;
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->loaded);
    lua_pushvalue(L, name);
    bool is_loaded = lua_rawget(L, -2) != LUA_TNIL;
    lua_remove(L, -2);
    if (!is_loaded) lua_pop(L, 1);
    return is_loaded;
}

static void store_loaded(lua_State *L, int name, int value) {
    clua_run *run = clua_get(L)->run;
    if (run->loaded == LUA_NOREF) {
        lua_newtable(L);
        run->loaded = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->loaded);
    lua_pushvalue(L, name);
    lua_pushvalue(L, value);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

// -- The protected body: if it fails, the host is notified that the load has ended

static int body_done(lua_State *L, int status, lua_KContext context) {  // stack: name, path, module
    (void)status, (void)context;
    if (lua_isnil(L, 3)) {
        lua_pushboolean(L, 1);
        lua_replace(L, 3);
    }
    // Runs of one program share loaded modules. If two load the same module at once, both use the result of the first.
    if (push_loaded(L, 1)) lua_replace(L, 3);
    else store_loaded(L, 1, 3);
    lua_insert(L, 2);
    return 2;
}

static int load_body(lua_State *L) {  // stack: name
    push_loader(L, CLUA_LOADER_OPEN);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 2);  // stack: name, chunk, path
    lua_insert(L, 2);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);  // stack: name, path, chunk, name, path
    lua_callk(L, 2, 1, 0, body_done);
    return body_done(L, LUA_OK, 0);
}

static int load_ended(lua_State *L, int status, lua_KContext context) {  // stack: name, handler, then the results or the error
    (void)context;
    push_loader(L, CLUA_LOADER_FINISH);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 0);
    if (status == LUA_OK || status == LUA_YIELD) return 2;
    return lua_error(L);
}

// -- The function

static int look(lua_State *L);

static int found(lua_State *L, int status, lua_KContext context) {  // stack: name, true to load it
    (void)status, (void)context;
    bool is_ours = lua_toboolean(L, 2);
    lua_settop(L, 1);
    if (!is_ours) return look(L);  // another task has loaded it, or has failed
    lua_pushcfunction(L, clua_record_origin);
    lua_pushcfunction(L, load_body);
    lua_pushvalue(L, 1);
    return load_ended(L, lua_pcallk(L, 1, 2, 2, 0, load_ended), 0);
}

static int look(lua_State *L) {  // stack: name
    if (push_loaded(L, 1)) return 1;
    push_loader(L, CLUA_LOADER_FIND);
    lua_pushvalue(L, 1);
    lua_callk(L, 1, 1, 0, found);
    return found(L, LUA_OK, 0);
}

// Stock `require` returns the libraries too. For absent ones, an error explains what to use.
static bool is_library(const char *name) {
    static const char *const names[] = {"_G",   "string", "table", "math",  "utf8",
                                        "coroutine", "io",     "os",    "debug", "package"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

int clua_require(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    clua_push_modules(L);
    lua_pushvalue(L, 1);
    if (lua_rawget(L, 2) != LUA_TNIL) return 1;
    lua_settop(L, 1);
    if (is_library(name)) {
        clua_run *run = clua_get(L)->run;
        lua_rawgeti(L, LUA_REGISTRYINDEX, run && run->environment != LUA_NOREF ? run->environment : LUA_RIDX_GLOBALS);
        lua_pushvalue(L, 1);
        if (lua_gettable(L, 2) != LUA_TNIL) return 1;
        lua_settop(L, 1);
    }
    return look(L);
}

// Host functions and objects as scripts see them.

#include "internal.h"

// -- The trampoline

int clua_cannot_wait(lua_State *L, const char *name) {
    if (!clua_get(L)->run)
        return clua_raise(L, "misuse", "lua.cannot_wait", "wait in a function that scripts call",
                          "%s cannot wait here: a prelude cannot wait while it is being loaded", name);
    return clua_raise(L, "misuse", "lua.cannot_wait",
                      "wait in the body of the script, in a function, a coroutine, a loop or a pcall; collect the "
                      "values before calling the library function",
                      "%s cannot wait here: inside of table.sort, string.gsub, a metamethod or a message handler a script "
                      "cannot be suspended",
                      name);
}

void clua_check_memory(lua_State *L) {
    clua_context *context = clua_get(L);
    if (context->used <= context->limit || !context->protects_host) return;
    lua_gc(L, LUA_GCCOLLECT);
    if (context->used > context->limit) clua_raise_memory(L);
}

// The driver has resumed the task with values or with an error.
static int finish_wait(lua_State *L, int status, lua_KContext base) {
    (void)status;
    clua_context *context = clua_get(L);
    int32_t kind = context->resume_kind;
    context->resume_kind = CLUA_RESUME_VALUES;
    clua_check_memory(L);
    if (kind == CLUA_RESUME_ERROR) return clua_finish_error(L);
    if (kind == CLUA_RESUME_RERAISE) return lua_error(L);
    if (kind == CLUA_RESUME_SLOTS) {
        clua_end_results(context);
        if (context->is_standard) clua_hold_collector(L);
        int count = clua_push_results(L, context, lua_touserdata(L, lua_upvalueindex(1)));
        clua_release_collector(L);
        return count;
    }
    return lua_gettop(L) - (int)base;
}

int clua_finish_call(lua_State *L, int32_t answer) {
    clua_release_collector(L);
    if (answer == CLUA_PENDING) {
        lua_settop(L, 0);  // the arguments have been read
        clua_get(L)->host_yield = 1;
        return lua_yieldk(L, 0, 0, finish_wait);
    }
    clua_check_memory(L);
    if (answer == CLUA_ERROR) return clua_finish_error(L);
    if (answer == CLUA_RERAISE) return lua_error(L);
    return answer;
}

int clua_run_in_host(lua_State *L, int64_t function) {
    clua_context *context = clua_get(L);
    clua_enter_host(context);
    int32_t answer = context->dispatch(context->host, L, function);
    clua_leave_host(context);
    // Swift has returned: raising is safe from here on.
    if (context->is_abandoned) clua_exit_take();  // set by a nested entry; continue the exit
    return clua_finish_call(L, answer);
}

static int trampoline(lua_State *L) {  // upvalues: function, waits, name
    if (lua_toboolean(L, lua_upvalueindex(2)) && (clua_get(L)->no_yield || !lua_isyieldable(L)))
        return clua_cannot_wait(L, lua_tostring(L, lua_upvalueindex(3)));
    return clua_run_in_host(L, lua_tointeger(L, lua_upvalueindex(1)));
}

void clua_push_function(lua_State *L, int64_t function, const char *name, bool waits) {
    lua_pushinteger(L, function);
    lua_pushboolean(L, waits);
    lua_pushstring(L, name);
    lua_pushcclosure(L, trampoline, 3);
}

// -- Objects
//
// A userdata contains a pointer to a host object. Scripts cannot create its metatable's mark, so a pointer is read only from blocks made
// here.

static int object_collected(lua_State *L) {
    void **block = lua_touserdata(L, 1);
    void *object = *block;
    *block = NULL;
    clua_context *context = clua_get(L);
    clua_enter_host(context);
    if (object) context->release(object);
    clua_leave_host(context);
    return 0;
}

static int object_index(lua_State *L) {  // upvalues: methods, property function
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    lua_settop(L, 2);
    return clua_run_in_host(L, lua_tointeger(L, lua_upvalueindex(2)));
}

static int object_newindex(lua_State *L) {
    const char *name = luaL_getmetafield(L, 1, "__name") == LUA_TSTRING ? lua_tostring(L, -1) : "object";
    return clua_raise(L, "misuse", "script.read_only", NULL, "a %s cannot be changed by assigning to its fields", name);
}

static int object_tostring(lua_State *L) { return clua_run_in_host(L, lua_tointeger(L, lua_upvalueindex(1))); }

static int object_equal(lua_State *L) {
    void *left = clua_to_object(L, 1);
    lua_pushboolean(L, left && left == clua_to_object(L, 2));
    return 1;
}

void clua_push_object_type(lua_State *L, const char *name, int methods, int64_t property, int64_t describe) {
    methods = lua_absindex(L, methods);
    lua_createtable(L, 0, 8);
    lua_pushboolean(L, 1);
    lua_rawsetp(L, -2, &clua_key_object_marker);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pushcfunction(L, object_collected);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, object_equal);
    lua_setfield(L, -2, "__eq");
    lua_pushcfunction(L, object_newindex);
    lua_setfield(L, -2, "__newindex");
    lua_pushvalue(L, methods);
    lua_pushinteger(L, property);
    lua_pushcclosure(L, object_index, 2);
    lua_setfield(L, -2, "__index");
    if (describe >= 0) {
        lua_pushinteger(L, describe);
        lua_pushcclosure(L, object_tostring, 1);
        lua_setfield(L, -2, "__tostring");
    }
}

typedef struct object_block {
    void *object;    // first, because clua_to_object reads it
    int64_t serial;  // creation order
} object_block;

bool clua_push_object(lua_State *L, void *object) {
    int metatable = lua_gettop(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_key_objects);
    if (lua_rawgetp(L, -1, object) != LUA_TNIL) {
        lua_replace(L, metatable);
        lua_settop(L, metatable);
        return true;
    }
    lua_pop(L, 1);
    object_block *block = lua_newuserdatauv(L, sizeof *block, 1);
    *block = (object_block){object, ++clua_get(L)->last_object};
    lua_pushvalue(L, metatable);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, metatable + 1, object);
    lua_replace(L, metatable);
    lua_settop(L, metatable);
    return false;
}

void *clua_to_object(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return NULL;
    bool ours = lua_rawgetp(L, -1, &clua_key_object_marker) != LUA_TNIL;
    lua_pop(L, 2);
    return ours ? *(void **)lua_touserdata(L, index) : NULL;
}

int64_t clua_object_serial(lua_State *L, int index) {
    return clua_to_object(L, index) ? ((object_block *)lua_touserdata(L, index))->serial : 0;
}

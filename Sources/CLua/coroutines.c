// Coroutines of scripts that pass on suspensions by the host.
//
// A task that waits yields to the driver. Within a script's coroutine that yield would reach the script's own resume. Therefore `resume`
// and `wrap` are replaced: when they see a yield meant for the driver, they yield too, with a continuation that later passes the driver's
// values inward.

#include "internal.h"

// -- The lowest frame of every coroutine
//
// It protects the body, so that an error unwinds (and closes variables) inside the coroutine, where hooks work again. An error raised by a
// hook leaves hooks disabled until it is caught, and a `__close` handler could not be stopped without hooks.

static int body_done(lua_State *L, int status, lua_KContext context) {
    (void)context;
    if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - 1;
    if (clua_has_mark(L, CLUA_MARK_TASK)) clua_record_text(L);
    return lua_error(L);
}

int clua_protected_body(lua_State *L) {
    lua_pushcfunction(L, clua_record_origin);
    lua_insert(L, 1);
    int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 1, 0, body_done);
    return body_done(L, status, 0);
}

static lua_State *new_coroutine(lua_State *L) {  // pushes a coroutine for the function at 1
    luaL_checktype(L, 1, LUA_TFUNCTION);
    clua_charge_coroutine(L);
    lua_State *coroutine = lua_newthread(L);
    lua_pushcfunction(coroutine, clua_protected_body);
    lua_pushvalue(L, 1);
    lua_xmove(L, coroutine, 1);
    return coroutine;
}

static int coroutine_create(lua_State *L) {
    new_coroutine(L);
    return 1;
}

// -- resume and wrap

static lua_State *coroutine_at(lua_State *L, int index) {
    lua_State *coroutine = lua_tothread(L, index);
    luaL_argexpected(L, coroutine, index, "thread");
    return coroutine;
}

static const char *status_of(lua_State *L, lua_State *coroutine) {
    if (L == coroutine) return "running";
    if (clua_has_mark(coroutine, CLUA_MARK_WAITING)) return "normal";  // it waits, together with the coroutine that resumed it
    switch (lua_status(coroutine)) {
        case LUA_YIELD: return clua_has_mark(coroutine, CLUA_MARK_TASK) ? "normal" : "suspended";
        case LUA_OK: {
            lua_Debug frame;
            if (lua_getstack(coroutine, 0, &frame)) return "normal";
            if (clua_has_mark(coroutine, CLUA_MARK_TASK)) return "dead";  // its results are on its stack
            return lua_gettop(coroutine) == 0 ? "dead" : "suspended";
        }
        default: return "dead";
    }
}

static void close_coroutine(lua_State *L, lua_State *coroutine);

// Closing a coroutine uses the depth of its latest resume, not the depth of the closer. A chain of coroutines, each closed by a handler of
// the previous one, would therefore not reach Lua's own limits.
static void check_depth(lua_State *L) {
    if (clua_stack_is_short()) luaL_error(L, "C stack overflow");
}

static int drive(lua_State *L, int arguments, int is_wrap);

static int drive_on(lua_State *L, int status, lua_KContext is_wrap) {
    (void)status;
    clua_clear_mark(lua_tothread(L, 1), CLUA_MARK_WAITING);
    return drive(L, lua_gettop(L) - 1, (int)is_wrap);
}

static int drive_failed(lua_State *L, int is_wrap) {  // the error is on the top
    if (clua_stopped(clua_get(L))) {
        clua_hook_now(L);
        return lua_error(L);
    }
    if (is_wrap) {
        if (clua_get(L)->is_standard && lua_type(L, -1) == LUA_TSTRING) {
            luaL_where(L, 1);
            lua_insert(L, -2);
            lua_concat(L, 2);
        }
        return lua_error(L);
    }
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

static int drive(lua_State *L, int arguments, int is_wrap) {  // stack: coroutine, arguments...
    clua_context *context = clua_get(L);
    lua_State *coroutine = lua_tothread(L, 1);
    if (!lua_checkstack(coroutine, arguments)) {
        lua_pushliteral(L, "too many arguments to resume");
        return drive_failed(L, is_wrap);
    }
    lua_xmove(L, coroutine, arguments);
    // The body is the first argument of the lowest frame.
    if (lua_status(coroutine) == LUA_OK && !clua_get(L)->is_standard) arguments++;
    int32_t no_yield = context->no_yield;
    if (!lua_isyieldable(L)) context->no_yield = 1;
    context->host_yield = 0;
    lua_State *before = clua_watch_switch(coroutine);
    int results;
    int status = lua_resume(coroutine, L, arguments, &results);
    clua_watch_switch(before);
    context->no_yield = no_yield;
    if (status == LUA_YIELD && context->host_yield) {
        clua_set_mark(coroutine, CLUA_MARK_WAITING);
        lua_settop(L, 1);
        return lua_yieldk(L, 0, is_wrap, drive_on);
    }
    if (status == LUA_OK || status == LUA_YIELD) {
        if (!lua_checkstack(L, results + 1)) {
            lua_pop(coroutine, results);
            lua_pushliteral(L, "too many results to resume");
            return drive_failed(L, is_wrap);
        }
        if (!is_wrap) lua_pushboolean(L, 1);
        lua_xmove(coroutine, L, results);
        return results + !is_wrap;
    }
    if (is_wrap && clua_get(L)->is_standard && lua_status(coroutine) > LUA_YIELD) {
        // In sandboxed states the lowest frame has already closed the variables.
        check_depth(L);
        context->no_yield++;
        before = clua_watch_switch(coroutine);
        lua_resetthread(coroutine);
        clua_watch_switch(before);
        context->no_yield--;
    }
    lua_xmove(coroutine, L, 1);
    return drive_failed(L, is_wrap);
}

static int start_drive(lua_State *L, int is_wrap) {
    lua_State *coroutine = lua_tothread(L, 1);
    const char *status = status_of(L, coroutine);
    if (status[0] != 's') {
        lua_pushfstring(L, "cannot resume %s coroutine", status[0] == 'd' ? "dead" : "non-suspended");
        if (is_wrap && !clua_get(L)->is_standard) {
            luaL_where(L, 1);
            lua_insert(L, -2);
            lua_concat(L, 2);
        }
        return drive_failed(L, is_wrap);
    }
    return drive(L, lua_gettop(L) - 1, is_wrap);
}

static int coroutine_resume(lua_State *L) {
    coroutine_at(L, 1);
    return start_drive(L, 0);
}

static int call_wrapped(lua_State *L) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    return start_drive(L, 1);
}

static int coroutine_wrap(lua_State *L) {
    new_coroutine(L);
    lua_pushcclosure(L, call_wrapped, 1);
    return 1;
}

// -- Other functions

static int coroutine_yield(lua_State *L) {
    if (clua_has_mark(L, CLUA_MARK_TASK)) {
        lua_pushliteral(L, "attempt to yield from outside a coroutine");  // without a position, like the stock message
        return lua_error(L);
    }
    return lua_yield(L, lua_gettop(L));
}

static int coroutine_status(lua_State *L) {
    lua_pushstring(L, status_of(L, coroutine_at(L, 1)));
    return 1;
}

static void close_coroutine(lua_State *L, lua_State *coroutine) {  // pushes true, or false and the error
    check_depth(L);
    clua_context *context = clua_get(L);
    int32_t no_yield = context->no_yield;
    context->no_yield = 1;  // Lua cannot suspend the handlers of a coroutine that is being closed
    lua_State *before = clua_watch_switch(coroutine);
    int status = lua_resetthread(coroutine);
    clua_watch_switch(before);
    context->no_yield = no_yield;
    lua_pushboolean(L, status == LUA_OK);
    if (status != LUA_OK) lua_xmove(coroutine, L, 1);
    if (clua_stopped(context)) {
        clua_hook_now(L);
        lua_pushliteral(L, "stopped");
        lua_error(L);
    }
}

static int coroutine_close(lua_State *L) {
    lua_State *coroutine = coroutine_at(L, 1);
    const char *status = status_of(L, coroutine);
    if (status[0] != 's' && status[0] != 'd') return luaL_error(L, "cannot close a %s coroutine", status);
    if (clua_has_mark(coroutine, CLUA_MARK_TASK)) {  // its results or its error belong to the tasks that await it
        lua_pushboolean(L, 1);
        return 1;
    }
    int top = lua_gettop(L);
    close_coroutine(L, coroutine);
    return lua_gettop(L) - top;
}

static int coroutine_running(lua_State *L) {
    lua_pushthread(L);
    lua_pushboolean(L, clua_has_mark(L, CLUA_MARK_TASK));  // to its script, a task is what the main thread is to `lua`
    return 2;
}

static int coroutine_isyieldable(lua_State *L) {
    lua_State *coroutine = lua_isnone(L, 1) ? L : coroutine_at(L, 1);
    lua_pushboolean(L, !clua_has_mark(coroutine, CLUA_MARK_TASK) && lua_isyieldable(coroutine));
    return 1;
}

void clua_open_coroutines(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"create", coroutine_create}, {"resume", coroutine_resume},   {"wrap", coroutine_wrap},
        {"yield", coroutine_yield},   {"status", coroutine_status},   {"close", coroutine_close},
        {"running", coroutine_running}, {"isyieldable", coroutine_isyieldable}, {NULL, NULL},
    };
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);  // error messages find function names in it
    luaL_newlib(L, functions);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, LUA_COLIBNAME);
    lua_setglobal(L, LUA_COLIBNAME);
    lua_pop(L, 1);
}

// -- With the standard library
//
// `create` is the stock one. The others pass on suspensions by the host; otherwise they behave like the stock functions.

static int standard_wrap(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *coroutine = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, coroutine, 1);
    lua_pushcclosure(L, call_wrapped, 1);
    return 1;
}

void clua_open_standard_coroutines(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"resume", coroutine_resume}, {"wrap", standard_wrap},       {"yield", coroutine_yield},
        {"status", coroutine_status}, {"close", coroutine_close},    {"running", coroutine_running},
        {"isyieldable", coroutine_isyieldable}, {NULL, NULL},
    };
    lua_getglobal(L, LUA_COLIBNAME);
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}

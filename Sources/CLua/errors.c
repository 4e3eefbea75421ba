// Structured errors: tables with a private metatable, located at the nearest script frame.

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

const char clua_key_error_metatable, clua_key_hints, clua_key_modules, clua_key_numbers, clua_key_objects,
    clua_key_object_marker;

enum { MAX_FRAMES = 20, SEARCHED_LEVELS = 200, MAX_ORIGINS = 256 };

// -- Frames

// Chunks named "=[...]" belong to the host, like C functions: the script's author cannot read them.
static bool is_script_frame(lua_State *L, lua_Debug *frame) {
    lua_getinfo(L, "Sl", frame);
    return frame->currentline >= 0 && !(frame->source[0] == '=' && frame->source[1] == '[');
}

static const char *shown_chunk(const lua_Debug *frame) {
    // Shows chunk names in full, because `short_src` would truncate long paths. Chunks without a name show their first line.
    return frame->source[0] == '@' || frame->source[0] == '=' ? frame->source + 1 : frame->short_src;
}

bool clua_nearest_frame(lua_State *L, int level, const char **chunk, int *line) {
    static __thread char copy[LUA_IDSIZE];
    lua_Debug frame;
    for (int searched = 0; searched < SEARCHED_LEVELS && lua_getstack(L, level, &frame); searched++, level++) {
        if (!is_script_frame(L, &frame)) continue;
        const char *shown = shown_chunk(&frame);
        if (shown == frame.short_src) {
            memcpy(copy, frame.short_src, sizeof copy);
            shown = copy;
        }
        *chunk = shown;
        *line = frame.currentline;
        return true;
    }
    return false;
}

bool clua_definition(lua_State *L, int index, const char **chunk, int *line) {
    lua_Debug info;
    lua_pushvalue(L, index);
    lua_getinfo(L, ">S", &info);
    bool is_named = info.source[0] == '@' || info.source[0] == '=';
    if (info.linedefined <= 0 || !is_named || (info.source[0] == '=' && info.source[1] == '[')) return false;
    *chunk = info.source + 1;
    *line = info.linedefined;
    return true;
}

// Pushes "file:line" of the script frames from `level` on, one per line.
static void push_frames(lua_State *L, int level) {
    lua_Debug frame;
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    int shown = 0;
    for (int searched = 0; searched < SEARCHED_LEVELS && lua_getstack(L, level, &frame); searched++, level++) {
        if (!is_script_frame(L, &frame)) continue;
        char line[32];
        snprintf(line, sizeof line, ":%d", frame.currentline);
        if (shown) luaL_addchar(&text, '\n');
        luaL_addstring(&text, shown_chunk(&frame));
        luaL_addstring(&text, line);
        if (++shown == MAX_FRAMES) break;
    }
    luaL_pushresult(&text);
}

static void push_where(lua_State *L, int level) {
    const char *chunk;
    int line;
    if (clua_nearest_frame(L, level, &chunk, &line))
        lua_pushfstring(L, "%s:%d", chunk, line);
    else
        lua_pushnil(L);
}

// -- Structured errors

static bool lacks(lua_State *L, int table, const char *key) {
    lua_pushstring(L, key);
    bool absent = lua_rawget(L, table) == LUA_TNIL;
    lua_pop(L, 1);
    return absent;
}

static void set_raw(lua_State *L, int table, const char *key) {  // pops the value
    lua_pushstring(L, key);
    lua_insert(L, -2);
    lua_rawset(L, table);
}

// Completes the table of fields on the top, which becomes an error.
static void complete_error(lua_State *L, int level) {
    luaL_checkstack(L, 8, NULL);
    int table = lua_gettop(L);
    clua_context *context = clua_get(L);
    if (lacks(L, table, "where")) {
        push_where(L, level);
        set_raw(L, table, "where");
    }
    if (lacks(L, table, "traceback")) {
        push_frames(L, level);
        set_raw(L, table, "traceback");
    }
    if (context->run && context->run->annotations != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, context->run->annotations);
        lua_pushnil(L);
        while (lua_next(L, table + 1)) {
            lua_pushvalue(L, -2);
            if (lua_rawget(L, table) == LUA_TNIL) {
                lua_pushvalue(L, -3);
                lua_pushvalue(L, -3);
                lua_rawset(L, table);
            }
            lua_pop(L, 2);
        }
        lua_settop(L, table);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_key_error_metatable);
    lua_setmetatable(L, table);
}

static int finish_error_at(lua_State *L, int level) {
    complete_error(L, level);
    return lua_error(L);
}

int clua_finish_error(lua_State *L) { return finish_error_at(L, 0); }

// Pushes the fields of an error whose message is on the top.
static void push_fields(lua_State *L, const char *kind, const char *code, const char *hint) {
    lua_createtable(L, 0, 8);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "message");
    lua_pushstring(L, kind);
    lua_setfield(L, -2, "kind");
    lua_pushstring(L, code);
    lua_setfield(L, -2, "code");
    if (hint) {
        lua_pushstring(L, hint);
        lua_setfield(L, -2, "hint");
    }
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "retryable");
}

int clua_raise(lua_State *L, const char *kind, const char *code, const char *hint, const char *format, ...) {
    luaL_checkstack(L, 8, NULL);
    va_list arguments;
    va_start(arguments, format);
    lua_pushvfstring(L, format, arguments);
    va_end(arguments);
    push_fields(L, kind, code, hint);
    return clua_finish_error(L);
}

void clua_push_error(lua_State *L, const char *kind, const char *code, const char *hint, const char *message) {
    luaL_checkstack(L, 8, NULL);
    lua_pushstring(L, message);
    push_fields(L, kind, code, hint);
    complete_error(L, 0);
    lua_remove(L, -2);
}

int clua_raise_cancelled(lua_State *L) { return clua_raise(L, "cancelled", "cancelled", NULL, "the run was cancelled"); }

void clua_place_set(clua_place *place, const char *chunk, int line) {
    if (place->chunk && strcmp(place->chunk, chunk) == 0) {
        place->line = line;
        return;
    }
    clua_place_clear(place);
    *place = (clua_place){strdup(chunk), line};
}

void clua_place_clear(clua_place *place) {
    free(place->chunk);
    place->chunk = NULL;
}

// Records the script line of a refused allocation. Lua calls no message handler for memory errors, and the stack is unwound when such an
// error is caught. Inspecting frames here is safe: Lua allocates before it changes them, and the inspection needs no memory.
void clua_record_refusal(clua_context *context) {
    lua_State *L = clua_watch_running();
    if (L && clua_get(L) != context) L = NULL;  // a state created during another state's operation
    const char *chunk;
    int line;
    context->refused = true;
    if (L && clua_nearest_frame(L, 0, &chunk, &line))
        clua_place_set(&context->refused_at, chunk, line);
    else if (!L || L != context->refused_state)  // otherwise a stack shrinks while the recorded frame unwinds
        clua_place_clear(&context->refused_at);
    context->refused_state = L;
}

int clua_raise_memory(lua_State *L) {
    clua_record_refusal(clua_get(L));
    lua_pushliteral(L, "not enough memory");
    return lua_error(L);
}

bool clua_is_error(lua_State *L, int index) {
    if (lua_type(L, index) != LUA_TTABLE || !lua_getmetatable(L, index)) return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_key_error_metatable);
    bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

static const char *text_field(lua_State *L, const char *key) {  // leaves the value on the stack
    lua_pushstring(L, key);
    return lua_rawget(L, 1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
}

static int error_to_string(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    const char *where = text_field(L, "where"), *message = text_field(L, "message"), *code = text_field(L, "code");
    lua_pushfstring(L, "%s%s%s (%s)", where ? where : "", where ? ": " : "", message ? message : "(no message)",
                    code ? code : "no code");
    return 1;
}

static int host_is_error(lua_State *L) {
    lua_pushboolean(L, clua_is_error(L, 1));
    return 1;
}

void clua_push_is_error(lua_State *L) { lua_pushcfunction(L, host_is_error); }

// raise{kind=, code=, message=, ...}: copies the fields, so that the caller can keep its table.
static int host_raise(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_pushliteral(L, "level");
    int level = lua_rawget(L, 1) == LUA_TNUMBER ? (int)lua_tointeger(L, -1) : 1;
    lua_settop(L, 1);
    lua_createtable(L, 0, 8);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, 2);
    }
    lua_pushnil(L);
    set_raw(L, 2, "level");
    static const char *const defaults[][2] = {
        {"kind", "failure"}, {"code", "script.error"}, {"message", "the script failed"}};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        if (!lacks(L, 2, defaults[i][0])) continue;
        lua_pushstring(L, defaults[i][1]);
        set_raw(L, 2, defaults[i][0]);
    }
    if (lacks(L, 2, "retryable")) {
        lua_pushboolean(L, 0);
        set_raw(L, 2, "retryable");
    }
    return finish_error_at(L, level < 0 ? 0 : level);
}

void clua_push_raise(lua_State *L) { lua_pushcfunction(L, host_raise); }

void clua_open_errors(lua_State *L) {
    lua_createtable(L, 0, 3);
    lua_pushcfunction(L, error_to_string);
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "error");
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_key_error_metatable);
}

// -- Origins of other errors
//
// An error that is not a structured error carries no frames. A message handler records them by error value, for the duration of the run. A
// value that is raised again keeps its first frames. Nil and NaN cannot be keys: all of them share one entry, for the latest error.

static bool push_origin_key(lua_State *L, int index) {  // false: the entry is shared with other values
    bool is_key = !lua_isnoneornil(L, index) && lua_rawequal(L, index, index);
    if (is_key)
        lua_pushvalue(L, index);
    else
        lua_pushboolean(L, 0);  // shares the entry of `false`, which is equally rare
    return is_key;
}

int clua_record_origin(lua_State *L) {
    clua_context *context = clua_get(L);
    clua_run *run = context->run;
    if (!run || run->stop) return 1;
    if (clua_is_error(L, 1)) return 1;
    if (!lua_checkstack(L, 16)) return 1;
    lua_settop(L, 1);
    if (clua_explain_absent(L)) return 1;
    if (run->origins == LUA_NOREF) {  // most runs have no error
        lua_newtable(L);
        run->origins = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->origins);
    bool is_key = push_origin_key(L, 1);
    if (lua_rawget(L, 2) == LUA_TNIL || !is_key) {
        // Bounded: a script that keeps failing must not fill the memory with frames.
        lua_Integer count = lua_rawgeti(L, 2, 0) == LUA_TNUMBER ? lua_tointeger(L, -1) : 0;
        if (count >= MAX_ORIGINS) {
            lua_newtable(L);
            lua_replace(L, 2);
            lua_pushvalue(L, 2);
            lua_rawseti(L, LUA_REGISTRYINDEX, run->origins);
            count = 0;
        }
        push_origin_key(L, 1);
        push_frames(L, 0);
        if (lua_rawlen(L, -1) > 0) {  // otherwise this coroutine has no frames left; the resuming one may have some
            lua_rawset(L, 2);
            lua_pushinteger(L, count + 1);
            lua_rawseti(L, 2, 0);
        }
    }
    lua_settop(L, 1);
    return 1;
}

void clua_push_origin(lua_State *L, clua_run *run, int index) {
    index = lua_absindex(L, index);
    if (run->origins == LUA_NOREF) {
        lua_pushnil(L);
        return;
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->origins);
    push_origin_key(L, index);
    lua_rawget(L, -2);
    lua_remove(L, -2);
}

// traced(f, ...): pcall that records the origin of the error.
static int traced_done(lua_State *L, int status, lua_KContext context) {
    (void)context;
    if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - 1;
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

static int host_traced(lua_State *L) {
    luaL_checkany(L, 1);
    lua_pushcfunction(L, clua_record_origin);
    lua_insert(L, 1);
    lua_pushboolean(L, 1);  // below f, so that it precedes the results
    lua_insert(L, 2);
    int status = lua_pcallk(L, lua_gettop(L) - 3, LUA_MULTRET, 1, 0, traced_done);
    return traced_done(L, status, 0);
}

void clua_push_traced(lua_State *L) { lua_pushcfunction(L, host_traced); }

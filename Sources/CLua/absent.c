// Names of the standard libraries that the sandbox lacks.
//
// Reading such a name gives nil, because portable libraries test for names in this way. Using the nil value makes Lua raise an error; the
// message handlers replace it by one that says what to use instead.

#include <string.h>

#include "internal.h"

// Pushes the full name, and the hint or nil.
static const char *push_hint(lua_State *L, const char *library, const char *name) {
    const char *full = library ? lua_pushfstring(L, "%s.%s", library, name) : lua_pushstring(L, name);
    clua_push_hints(L);
    lua_pushvalue(L, -2);
    if (lua_rawget(L, -2) != LUA_TSTRING && library) {  // a whole library may have a hint
        lua_pop(L, 1);
        lua_pushstring(L, library);
        lua_rawget(L, -2);
    }
    lua_remove(L, -2);
    return full;
}

int clua_raise_absent(lua_State *L, const char *library, const char *name) {
    luaL_checkstack(L, 8, NULL);
    const char *full = push_hint(L, library, name);
    const char *hint = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    return clua_raise(L, "misuse", "sandbox.absent", hint, "%s is not available to scripts", full);
}

static const char key_absent;  // registry key: the names of incomplete libraries, by their tables
static const char key_read;    // registry key: absent names that a script has read, with their libraries

enum { MAX_READ_NAME = 64, MAX_READ = 64 };

static void note_read(lua_State *L, int library, int name) {
    if (lua_type(L, name) != LUA_TSTRING || lua_rawlen(L, name) > MAX_READ_NAME || !lua_toboolean(L, library)) return;
    lua_Integer count = 0;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key_read) == LUA_TTABLE) {
        count = lua_rawgeti(L, -1, 0) == LUA_TNUMBER ? lua_tointeger(L, -1) : 0;
        lua_pop(L, 1);
    }
    if (count == 0 || count >= MAX_READ) {  // bounded, because a script can make up names
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &key_read);
        count = 0;
    }
    lua_pushinteger(L, count + 1);
    lua_rawseti(L, -2, 0);
    lua_pushvalue(L, name);
    lua_pushvalue(L, library);
    lua_rawset(L, -3);
}

static void push_library(lua_State *L, int table) {  // pushes the library's name, or nil
    lua_rawgetp(L, LUA_REGISTRYINDEX, &key_absent);
    lua_pushvalue(L, table);
    lua_rawget(L, -2);
    lua_remove(L, -2);
}

static int absent_field(lua_State *L) {  // as __index
    lua_settop(L, 2);
    luaL_checkstack(L, 8, NULL);
    push_library(L, 1);
    note_read(L, 3, 2);
    lua_pushnil(L);
    return 1;
}

static int absent_method(lua_State *L) {  // as __index of `string`, in which only `dump` is absent
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "dump") != 0) return 0;
    return absent_field(L);
}

static int assign_absent(lua_State *L) {  // as __newindex
    lua_settop(L, 2);
    const char *name = lua_type(L, 2) == LUA_TSTRING || lua_type(L, 2) == LUA_TNUMBER ? lua_tostring(L, 2) : "?";
    push_library(L, 1);
    return clua_raise_absent(L, lua_tostring(L, 3), name);
}

static bool push_read(lua_State *L, const char *name) {  // pushes the library's name
    bool is_read = false;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key_read) == LUA_TTABLE) {
        lua_pushstring(L, name);
        is_read = lua_rawget(L, -2) == LUA_TSTRING;
        lua_remove(L, -2);
    }
    if (!is_read) lua_pop(L, 1);
    return is_read;
}

bool clua_is_read_absent(lua_State *L, const char *name) {
    luaL_checkstack(L, 4, NULL);
    bool is_read = push_read(L, name);
    if (is_read) lua_pop(L, 1);
    return is_read;
}

// Finds the name in Lua's "attempt to call a nil value (field 'execute')".
static bool find_nil(const char *message, char name[MAX_READ_NAME + 1], bool *is_global) {
    static const char opening[] = " a nil value (";
    const char *what = strstr(message, "attempt to ");
    what = what ? strstr(what, opening) : NULL;
    if (!what) return false;
    what += strlen(opening);
    const char *start = strchr(what, '\'');
    const char *end = start ? strchr(start + 1, '\'') : NULL;
    if (!end || end[1] != ')' || end - start - 1 > MAX_READ_NAME) return false;
    memcpy(name, start + 1, (size_t)(end - start - 1));
    name[end - start - 1] = 0;
    *is_global = strncmp(what, "global ", 7) == 0;
    return true;
}

static bool is_absent_global(const char *name) { return strcmp(name, "dofile") == 0 || strcmp(name, "loadfile") == 0; }

bool clua_explain_absent(lua_State *L) {
    size_t count = 0;
    if (clua_get(L)->is_standard || lua_type(L, 1) != LUA_TSTRING) return false;
    const char *message = lua_tolstring(L, 1, &count);
    char name[MAX_READ_NAME + 1];
    bool is_global = false;
    if (count > 1000 || !find_nil(message, name, &is_global) || !lua_checkstack(L, 16)) return false;
    int top = lua_gettop(L);
    bool has_library = push_read(L, name);
    if (!has_library && !(is_global && is_absent_global(name))) return false;
    const char *full = push_hint(L, has_library ? lua_tostring(L, -1) : NULL, name);
    const char *hint = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    clua_push_error(L, "misuse", "sandbox.absent", hint, lua_pushfstring(L, "%s is not available to scripts", full));
    lua_replace(L, 1);
    lua_settop(L, top);
    return true;
}

static void set_absent(lua_State *L, lua_CFunction read, lua_CFunction assign) {  // sets the metatable of the table on the top
    lua_createtable(L, 0, 3);
    lua_pushcfunction(L, read);
    lua_setfield(L, -2, "__index");
    if (assign) {
        lua_pushcfunction(L, assign);
        lua_setfield(L, -2, "__newindex");
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
    }
    lua_setmetatable(L, -2);
}

static void note_library(lua_State *L, int names, const char *library) {  // records the table on the top
    lua_pushvalue(L, -1);
    lua_pushstring(L, library);
    lua_rawset(L, names);
}

void clua_open_absent(lua_State *L) {
    static const char *const libraries[] = {"io", "os", "debug", "package"};
    enum { COUNT = sizeof libraries / sizeof *libraries };
    lua_createtable(L, 0, COUNT + 1);
    int names = lua_gettop(L);
    for (size_t i = 0; i < COUNT; i++) {
        lua_newtable(L);
        set_absent(L, absent_field, assign_absent);
        note_library(L, names, libraries[i]);
        lua_setglobal(L, libraries[i]);
    }
    lua_getglobal(L, "string");
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    set_absent(L, absent_method, NULL);
    note_library(L, names, "string");
    lua_pop(L, 1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key_absent);
}

#ifndef CLUA_SLOTS_H
#define CLUA_SLOTS_H

// Typed functions of the host: C reads arguments and writes results by a static schema.
//
// Both travel as a stream of slots, in the order of the schema, depth first: a record, list or map has a slot of its own, then
// come its members. So the host touches neither the Lua stack nor a dictionary.

#include <lua5.4/lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct clua_context;

// Where the host would look for NULL in every call, it is told that there is none.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-completeness"

/// What a node of a schema asks for, and what a slot holds.
enum {
    CLUA_NIL = 0,
    CLUA_BOOLEAN,   ///< `integer` is 0 or 1
    CLUA_INTEGER,   ///< also accepts a float with an integral value
    CLUA_NUMBER,    ///< also accepts an integer
    CLUA_TEXT,      ///< `text` and `count` bytes, which belong to Lua; the host takes nothing but UTF-8
    CLUA_BYTES,     ///< the same, any bytes; only in schemas
    CLUA_SCALAR,    ///< a Boolean, integer, number, text or object; only in schemas
    CLUA_OBJECT,    ///< `object` of the host
    CLUA_FUNCTION,  ///< a function of the script: `count` is its place on the stack
    CLUA_VALUE,     ///< any value: `count` is its place on the stack, or in results its number for `push_value`
    CLUA_RECORD,    ///< a table; its members follow
    CLUA_LIST,      ///< `count` elements follow
    CLUA_MAP,       ///< `count` pairs of a text and an element follow; only in results
    CLUA_COPIED,    ///< `count` bytes at the offset `integer` of the bytes of the results; only in results
    CLUA_END,       ///< stands after the last of the arguments, or results: what follows is of other calls
};

/// How many members may stay on the stack, with the arguments, for it to have room without being asked.
enum { CLUA_PLAIN_MEMBERS = 14 };

typedef struct clua_slot {
    union {
        int64_t integer;
        double number;
        const char *text;
        void *object;
    };
    uint32_t count;
    uint8_t kind;
    uint16_t place;  ///< of a text among arguments: where it stands on the stack, or 0; so that it can be given back as it is
} clua_slot;

/// A node of a schema. Nodes stand in an array, each one followed by its members or its element.
typedef struct clua_shape {
    uint8_t kind;
    bool is_optional;
    bool is_exact;     ///< of a record: other keys do not fit
    bool stays;        ///< something in it is named by its place on the stack
    bool is_plain;     ///< a record whose members have one slot each
    bool has_room;     ///< of a table among results: the stack has room for it without being asked
    uint8_t key;       ///< of a member: the upvalue that holds its name
    uint16_t members;  ///< of a record
    uint16_t size;     ///< nodes of this one with all that belongs to it
    int16_t alone;     ///< of a record: the member that may stand in place of the table, from 1; or 0
} clua_shape;

#pragma clang assume_nonnull begin
/// One call, for the host.
typedef struct clua_invocation {
    struct clua_context *context;
    lua_State *state;
    const clua_slot *arguments;
} clua_invocation;
#pragma clang assume_nonnull end

/// A typed function. Lives as long as its state.
typedef struct clua_signature {
    const char *name;
    const clua_shape *arguments;
    const clua_shape *results;
    const char *const *keys;    ///< the names of the members, of arguments and results
    int32_t key_count;
    int32_t argument_count;
    int32_t result_count;
    bool waits;
    int32_t argument_slots;     ///< how many there are at most, but for elements of lists after the first
    bool is_flat;               ///< no tables among arguments and results, and one result
    bool is_plain;              ///< no tables among the arguments but plain records, with CLUA_PLAIN_MEMBERS together at most
    int64_t fallback;           ///< the function that is called with arguments that do not fit, or -1: they are refused
    /// Answers CLUA_SLOTS, CLUA_MISFIT, CLUA_PENDING or CLUA_ERROR.
    int32_t (*body)(void *_Nonnull box, clua_invocation *_Nonnull call);
    void *box;
} clua_signature;

/// The stream of results, and the bytes of its texts. Filled by the host, emptied by `clua_results_reset`.
typedef struct clua_results {
    clua_slot *_Nonnull slots, *_Nonnull next, *_Nonnull end;  ///< at `end` there is room for one more, the CLUA_END
    char *bytes;
    size_t byte_count, byte_capacity;
    size_t value_count;  ///< values that the host keeps for `push_value`
    bool is_large;       ///< gives its room back before the next call
} clua_results;

/// Whether the bytes are UTF-8 (RFC 3629).
bool clua_is_utf8(const char *text, size_t count);
/// Whether they are ASCII, and at most 15: what Swift keeps without a block of its own.
static inline bool clua_is_short_ascii(const char *text, size_t count) {
    uint64_t first = 0, last = 0;
    if (count >= 8) {
        if (count > 15) return false;
        memcpy(&first, text, 8);
        memcpy(&last, text + count - 8, 8);
    } else if (count >= 4) {
        memcpy(&first, text, 4);
        memcpy(&last, text + count - 4, 4);
    } else {
        for (size_t i = 0; i < count; i++) first |= (unsigned char)text[i];
    }
    return ((first | last) & 0x8080808080808080u) == 0;
}

/// Empties the results, for what the host writes next.
void clua_results_reset(struct clua_context *context);
/// Makes room for one more slot.
void clua_results_grow(clua_results *results);
/// Makes room for bytes, and answers where they go. The place moves with the next call.
char *clua_results_bytes(clua_results *results, size_t count);

/// Which argument of the typed function that is being called a value without a schema is in, by the place of the value on the
/// stack; or 0. Writes the way to it from there (".tags[2]"). Only the arguments stay on the stack.
int clua_find_argument(lua_State *L, int place, char *path, size_t count);

/// Pushes a Lua function that calls a typed function.
void clua_push_typed(lua_State *L, const clua_signature *signature);

#pragma clang diagnostic pop

#endif

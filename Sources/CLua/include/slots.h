#ifndef CLUA_SLOTS_H
#define CLUA_SLOTS_H

// Typed host functions: C reads arguments and writes results by a static schema.
//
// Both are streams of slots in schema order, depth first: a record, list or map has its own slot, followed by its members. So the host uses
// neither the Lua stack nor a dictionary.

#include <lua5.4/lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct clua_context;

// Pointers that are never NULL, so that the host need not check for it in every call.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-completeness"

/// The kind of value that a schema node requires or a slot contains.
enum {
    CLUA_NIL = 0,
    CLUA_BOOLEAN,   ///< `integer` is 0 or 1
    CLUA_INTEGER,   ///< accepts a float with an integral value too
    CLUA_NUMBER,    ///< accepts an integer too
    CLUA_TEXT,      ///< `text` and `count` bytes, owned by Lua; the host rejects what is not UTF-8
    CLUA_BYTES,     ///< like CLUA_TEXT with any bytes; only in schemas
    CLUA_SCALAR,    ///< a Boolean, integer, number, text or object; only in schemas
    CLUA_OBJECT,    ///< a host object in `object`
    CLUA_FUNCTION,  ///< a function of the script; `count` is its stack index
    CLUA_VALUE,     ///< any value; `count` is its stack index or, in results, its number for `push_value`
    CLUA_RECORD,    ///< a table; its members follow
    CLUA_LIST,      ///< `count` elements follow
    CLUA_MAP,       ///< `count` pairs of a text and an element follow; only in results
    CLUA_COPIED,    ///< `count` bytes at offset `integer` of the results' bytes; only in results
    CLUA_END,       ///< follows the last argument or result; later slots belong to other calls
};

/// Maximum number of record members that fit on the stack with the arguments, without a check.
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
    uint16_t place;  ///< stack index of a text argument, so that it can be returned without a copy; or 0
} clua_slot;

/// A node of a schema. Nodes are in an array, each followed by its members or its element.
typedef struct clua_shape {
    uint8_t kind;
    bool is_optional;
    bool is_exact;     ///< records: other keys do not fit
    bool stays;        ///< contains a value that is referred to by its stack index
    bool is_plain;     ///< a record whose members have one slot each
    bool has_room;     ///< tables in results: the stack has room without a check
    uint8_t key;       ///< members: the upvalue that contains the name
    uint16_t members;  ///< number of members of a record
    uint16_t size;     ///< number of nodes of this one with its descendants
    int16_t alone;     ///< records: the member that a value other than a table stands for, from 1; or 0
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
    const char *const *keys;    ///< the names of all members, of arguments and results
    int32_t key_count;
    int32_t argument_count;
    int32_t result_count;
    bool waits;
    int32_t argument_slots;     ///< maximum number, not counting list elements after the first
    bool is_flat;               ///< no tables among arguments and results, and one result
    bool is_plain;              ///< no tables among the arguments except plain records, with at most CLUA_PLAIN_MEMBERS members together
    int64_t fallback;           ///< the function to call with arguments that do not fit; -1: raise an error
    /// Returns CLUA_SLOTS, CLUA_TYPE_MISMATCH, CLUA_PENDING or CLUA_ERROR.
    int32_t (*body)(void *_Nonnull box, clua_invocation *_Nonnull call);
    void *box;
} clua_signature;

/// The stream of results, with the bytes of its texts. The host fills it; `clua_results_reset` empties it.
typedef struct clua_results {
    clua_slot *_Nonnull slots, *_Nonnull next, *_Nonnull end;  ///< at `end` there is room for one more, the CLUA_END
    char *bytes;
    size_t byte_count, byte_capacity;
    size_t value_count;  ///< number of values that the host holds for `push_value`
    bool is_large;       ///< releases its memory before the next call
} clua_results;

/// Whether the bytes are valid UTF-8 (RFC 3629).
bool clua_is_utf8(const char *text, size_t count);
/// Whether the bytes are ASCII and at most 15, which Swift stores inline.
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

/// Empties the results before the host writes new ones.
void clua_results_reset(struct clua_context *context);
/// Makes room for one more slot.
void clua_results_grow(clua_results *results);
/// Reserves bytes and returns their address, which is valid until the next call.
char *clua_results_bytes(clua_results *results, size_t count);

/// Finds the argument of the current typed function that contains a value without a schema, by the value's stack index. Returns its number
/// or 0, and writes the path within it (".tags[2]"). Only the arguments stay on the stack.
int clua_find_argument(lua_State *L, int place, char *path, size_t count);

/// Pushes a Lua function that calls a typed function.
void clua_push_typed(lua_State *L, const clua_signature *signature);

#pragma clang diagnostic pop

#endif

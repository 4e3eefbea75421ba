#ifndef STOCK_H
#define STOCK_H

// The rival: unmodified Lua, with the functions of the benchmark as a C programmer would write them.

#include <lua5.4/lua.h>
#include <stdbool.h>
#include <stdint.h>

int64_t stock_now_ns(void);
/// Opens a state with the standard libraries; `require("host")` has the functions.
lua_State *stock_open(void);
/// Runs a chunk with one argument and returns its number; a failure ends the program.
double stock_run(lua_State *L, const char *source, int64_t count);
/// Opens and closes a state with the standard libraries.
void stock_open_and_close(void);

/// Blocks this thread's ticks, which must not be part of an instruction count.
void stock_block_ticks(void);
/// Fixes the result of `time` in this process.
void stock_fix_time(int64_t seconds);
/// Makes the kernel kill this process after this many seconds of CPU time.
void stock_limit_cpu(unsigned seconds);
/// Returns the resident memory of this process in bytes.
int64_t stock_resident_bytes(void);
/// Starts this program again with its output in a file. Returns the wait status, or -1.
int stock_run_again(const char *const *arguments, const char *output);

#endif

#ifndef STOCK_H
#define STOCK_H

// The rival: Lua as it comes, and the functions of the benchmark as a C programmer would write them.

#include <lua5.4/lua.h>
#include <stdbool.h>
#include <stdint.h>

int64_t stock_now_ns(void);
/// A state with the standard libraries; `require("host")` has the functions.
lua_State *stock_open(void);
/// Runs a chunk with one argument and answers the number that it returns; a failure ends the program.
double stock_run(lua_State *L, const char *source, int64_t count);
/// Opens and closes a state with the standard libraries.
void stock_open_and_close(void);

/// Holds the ticks of this thread back: they are no part of what an instruction count compares.
void stock_block_ticks(void);
/// What `time` answers from now on, in this process.
void stock_fix_time(int64_t seconds);
/// Lets the kernel kill this process when it has used so many seconds of CPU time.
void stock_limit_cpu(unsigned seconds);
/// Memory of this process that is resident, in bytes.
int64_t stock_resident_bytes(void);
/// Starts this program again with its output in a file; answers its wait status, or -1.
int stock_run_again(const char *const *arguments, const char *output);

#endif

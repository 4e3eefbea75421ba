/// The part of Lua's standard library that scripts of a state can use.
public enum LuaLibrary: Sendable {
    /// Only what can do no harm: no files, no processes, no introspection, nothing that cannot be stopped. The same scripts and seed give
    /// the same results in every process, and each run has its own globals.
    case sandboxed
    /// The whole library, as in stock Lua, for scripts that are trusted like the program itself.
    ///
    /// Scripts can read and write files, start processes, end this process (`os.exit`), load bytecode and C libraries, inspect everything
    /// with `debug`, and use finalizers (`__gc`). All runs share their globals. The order of `pairs`, addresses and random seeds differ
    /// between processes. The state's `absent`, `seed` and `searchPath` have no effect.
    ///
    /// Waiting, tasks, structured errors and the memory budget work as in a sandbox. CPU and time budgets stop Lua code, but not a library
    /// function or a finalizer that is already executing. A hook that a script sets with `debug.sethook` disables preemption of the run.
    case standard
}

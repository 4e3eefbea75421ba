/// What of Lua's standard library the scripts of a state find.
public enum LuaLibrary: Sendable {
    /// What can do no harm: no files, no processes, no look inside; nothing that cannot be stopped. The same scripts and seed
    /// give the same results in every process, and the globals of a run are its own.
    case sandboxed
    /// All of it, as stock Lua has it, for scripts that are trusted like the program itself.
    ///
    /// They can read and write files, start processes and end this one (`os.exit`), load bytecode and C libraries, look into
    /// everything with `debug`, and have finalizers (`__gc`). All runs share their globals. The orders of `pairs`, addresses
    /// and random seeds differ from process to process; `absent`, `seed` and `searchPath` of the state have no effect.
    ///
    /// Waiting, tasks, structured errors and the memory budget are as in a sandbox. CPU and time budgets stop Lua code, and
    /// not a function of the library or a finalizer in the middle. A hook that a script sets with `debug.sethook` keeps the run
    /// from being preempted.
    case standard
}

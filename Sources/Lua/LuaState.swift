import CLua

/// A Lua 5.4 state, sandboxed unless asked otherwise, and the scripts that run in it.
///
/// Many runs can be under way at once; they take turns on the state's ``LuaThread`` whenever one waits. Runs share the
/// memory budget and what modules hold, but not their globals. Scripts that must not see each other belong into states
/// of their own.
///
/// ```swift
/// let thread = LuaThread(name: "scripts")
/// let state = try LuaState(thread: thread)
/// try await state.define(LuaModule(name: "clock", functions: [
///     .async("clock.sleep") { call in try await Task.sleep(for: .seconds(1)); return [] }
/// ]))
/// let script = LuaScript(name: "a.lua", source: "require('clock').sleep() return 6 * 7")
/// let results = try await state.run(script, id: LuaRunID(rawValue: 1))
/// ```
public actor LuaState {
    nonisolated let machine: Machine
    nonisolated let thread: LuaThread
    nonisolated let table = RunTable()
    nonisolated let limits: LuaLimits
    /// That of its only run; nil for a state with many.
    nonisolated let account: RunAccount?

    /// The state runs on its Lua thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Makes a state.
    ///
    /// - Parameters:
    ///   - thread: The thread that executes its scripts. Several states may share it.
    ///   - limits: The budgets. The memory budget is for the whole state, the others are for each run.
    ///   - seed: What `math.random` starts from. The same seed and scripts give the same results, in every process.
    ///   - absent: What scripts should use instead of absent parts of Lua's library, by their names: `io`,
    ///     `os.execute`, `dofile`, …
    ///   - searchPath: Where `require` looks for modules that are no ``LuaModule``. `nil`: nowhere. With the standard library
    ///     it is not looked at: there `package.path` says where.
    ///   - library: What of Lua's standard library scripts find.
    public init(
        thread: LuaThread, limits: LuaLimits = LuaLimits(), seed: UInt64 = 0, absent: [String: String] = [:],
        searchPath: LuaSearchPath? = nil, library: LuaLibrary = .sandboxed
    ) throws {
        try self.init(thread, limits, seed, absent, searchPath, library, account: nil)
    }

    /// Makes a state for one run.
    ///
    /// - Parameter account: That of the run. It bounds the memory of the state together with what the host stores for the run, and is
    ///   charged for runs in the state that have no account of their own.
    package init(
        thread: LuaThread, limits: LuaLimits, seed: UInt64, absent: [String: String], searchPath: LuaSearchPath?, account: RunAccount
    ) throws {
        try self.init(thread, limits, seed, absent, searchPath, .sandboxed, account: account)
    }

    private init(
        _ thread: LuaThread, _ limits: LuaLimits, _ seed: UInt64, _ absent: [String: String], _ searchPath: LuaSearchPath?,
        _ library: LuaLibrary, account: RunAccount?
    ) throws {
        self.thread = thread
        self.account = account
        let limits = limits.clamped
        self.limits = limits
        machine = try Machine(
            thread: thread, limits: limits, seed: seed, absent: absent, searchPath: searchPath, library: library, table: table,
            account: account)
    }

    deinit {
        thread.perform { [machine] in machine.close() }
    }

    // MARK: Modules

    /// Makes a module known to scripts that are started from now on.
    ///
    /// When it fails nothing of the module stays, but for what its prelude has changed itself; it can be defined again.
    ///
    /// - Throws: A ``LuaError``: that of the prelude, or one with the code `value.duplicate_type`.
    public func define(_ module: LuaModule) throws {
        try machine.checkOpen()
        try machine.define(module)
    }

    // MARK: Runs

    /// Runs a script to its end and answers what it returns.
    ///
    /// The run waits for the tasks it spawned. Cancelling the Swift task cancels the run.
    ///
    /// - Parameters:
    ///   - script: The script.
    ///   - id: The identity of the run, unique among those under way in this state.
    ///   - arguments: What the script gets as `...`.
    ///   - annotations: Fields that join every error of the run, such as the number of the run in a log.
    ///   - limits: Other budgets than those of the state. Its memory budget is not looked at.
    ///   - attachment: What functions of the host find at each call that comes from this run.
    /// - Throws: A ``LuaError``.
    public nonisolated func run(
        _ script: LuaScript, id: LuaRunID, arguments: [LuaValue] = [], annotations: [String: String] = [:],
        limits: LuaLimits? = nil, attachment: (any AnyObject & Sendable)? = nil
    ) async throws -> [LuaValue] {
        try await run(.script(script), arguments, RunOptions(id: id, annotations: annotations, limits: limits, attachment: attachment))
    }

    /// Runs a script to its end, and keeps its globals and modules for calls of the functions that it returns.
    ///
    /// - Parameters: As those of a run.
    /// - Throws: A ``LuaError``.
    public func load(
        _ script: LuaScript, id: LuaRunID, arguments: [LuaValue] = [], annotations: [String: String] = [:],
        limits: LuaLimits? = nil, attachment: (any AnyObject & Sendable)? = nil
    ) async throws -> LuaProgram {
        try machine.checkOpen(annotations: annotations)
        let globals = machine.makeGlobals()
        let options = RunOptions(id: id, annotations: annotations, limits: limits, attachment: attachment, globals: globals)
        return LuaProgram(state: self, globals: globals, results: try await run(.script(script), arguments, options))
    }

    /// The same, and charges an account for what the run uses.
    package func load(
        _ script: LuaScript, id: LuaRunID, annotations: [String: String], attachment: (any AnyObject & Sendable)?, account: RunAccount
    ) async throws -> LuaProgram {
        try machine.checkOpen(annotations: annotations)
        let globals = machine.makeGlobals()
        let options = RunOptions(id: id, annotations: annotations, attachment: attachment, globals: globals, account: account)
        return LuaProgram(state: self, globals: globals, results: try await run(.script(script), [], options))
    }

    struct RunOptions: Sendable {
        var id: LuaRunID
        var annotations: [String: String]
        var limits: LuaLimits?
        var attachment: (any AnyObject & Sendable)?
        var globals: ProgramGlobals?
        /// Nil: that of the state, or one of its own.
        var account: RunAccount?
    }

    nonisolated func run(_ body: RunBody, _ arguments: [LuaValue], _ options: RunOptions) async throws -> [LuaValue] {
        let id = options.id
        let control = try prepare(body, arguments, options)
        // Counted until the result has left the thread: its last step there must not wait behind a run that spins.
        thread.countRun(1)
        defer { thread.countRun(-1) }
        return try await withTaskCancellationHandler {
            // Not before: where the caller is on the thread, it would get no further once the run computes.
            control.begin()
            return try await control.result()
        } onCancel: {
            control.cancel()
            deliverCancel(id)
        }
    }

    /// Makes what hands a run over to the thread. Apart: what the run needs has no place in the frames that wait for its end.
    @inline(never) private nonisolated func prepare(
        _ body: RunBody, _ arguments: [LuaValue], _ options: RunOptions
    ) throws -> RunControl {
        var limits = options.limits?.clamped ?? self.limits
        limits.memory = self.limits.memory
        let control = RunControl(limits: limits, account: options.account ?? account)
        guard table.add(options.id, control) else {
            throw LuaError.misuse("run.duplicate", "a run with the number \(options.id.rawValue) is under way")
        }
        control.prepare { [thread, machine, limits, unowned control] in
            thread.perform { [control] in
                let run = Run(
                    id: options.id, control: control, limits: limits, annotations: options.annotations,
                    attachment: options.attachment, globals: options.globals)
                machine.start(body, arguments: arguments, run: run)
            }
        }
        return control
    }

    /// Cancels a run: a task that waits gets an error with the code `cancelled`, and so does one that computes.
    /// The script may clean up for a second of CPU time; then it is stopped.
    public nonisolated func cancel(_ run: LuaRunID) {
        if table.cancel(run) { deliverCancel(run) }
    }

    private nonisolated func deliverCancel(_ id: LuaRunID) {
        thread.perform { [machine] in machine.deliverCancel(id) }
    }

    /// Compiles a script without running it.
    public func compile(_ script: LuaScript) throws {
        try machine.check(script)
    }

    // MARK: Figures

    /// Bytes in use.
    public var memoryInUse: Int { machine.context.pointee.used }

    /// The most bytes that were in use at a time.
    public var memoryPeak: Int { machine.context.pointee.peak }

    /// Tasks that have not ended, of all runs; the scripts' bodies count.
    public var liveTasks: Int { machine.runs.values.reduce(0) { $0 + $1.live.count } }

    /// Collects garbage if more than `least` bytes are in use: Lua itself does so only when a script goes on.
    ///
    /// - Returns: how many bytes that freed.
    @discardableResult
    package func collectGarbage(beyond least: Int) -> Int {
        let before = machine.context.pointee.used
        guard !machine.isClosed, before > least else { return 0 }
        machine.collect()
        return max(0, before - machine.context.pointee.used)
    }

    /// For tests of the machine itself.
    func inspect<Result>(_ body: (Machine) throws -> Result) rethrows -> Result {
        try body(machine)
    }
}

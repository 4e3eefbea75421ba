import CLua

/// A Lua 5.4 state, sandboxed by default, and the scripts that run in it.
///
/// Many runs can be in progress at once; they take turns on the state's ``LuaThread`` whenever one waits. Runs share the memory budget and
/// the modules' data, but not their globals. Put scripts that must be isolated from each other into separate states.
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
    /// The account of the state's only run; nil for a state with many runs.
    nonisolated let account: RunAccount?

    /// Executes the actor's methods on the state's Lua thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates a state.
    ///
    /// - Parameters:
    ///   - thread: The thread that executes the scripts. Several states may share it.
    ///   - limits: The budgets. The memory budget applies to the whole state, the others to each run.
    ///   - seed: The seed of `math.random`. The same seed and scripts give the same results in every process.
    ///   - absent: Hints about what to use instead of missing parts of Lua's library, by name: `io`, `os.execute`, `dofile`, …
    ///   - searchPath: Where `require` looks for modules that are not a ``LuaModule``. `nil`: nowhere. Ignored with the standard library,
    ///     where `package.path` applies.
    ///   - library: The part of Lua's standard library that scripts can use.
    public init(
        thread: LuaThread, limits: LuaLimits = LuaLimits(), seed: UInt64 = 0, absent: [String: String] = [:],
        searchPath: LuaSearchPath? = nil, library: LuaLibrary = .sandboxed
    ) throws {
        try self.init(thread, limits, seed, absent, searchPath, library, account: nil)
    }

    /// Creates a state for one run.
    ///
    /// - Parameter account: The run's account. It limits the memory of the state together with the memory that the host uses for the run.
    ///   Runs in the state without an account of their own are charged to it.
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

    /// Makes a module available to scripts that start from now on.
    ///
    /// If it fails, nothing of the module remains except what its prelude has changed itself. It can then be defined again.
    ///
    /// - Throws: A ``LuaError``: the prelude's error, or one with the code `value.duplicate_type`.
    public func define(_ module: LuaModule) throws {
        try machine.checkOpen()
        try machine.define(module)
    }

    // MARK: Runs

    /// Runs a script to its end and returns its results.
    ///
    /// The run waits for the tasks it spawned. Cancelling the Swift task cancels the run.
    ///
    /// - Parameters:
    ///   - script: The script.
    ///   - id: The run's identifier, unique among the state's runs in progress.
    ///   - arguments: The values that the script receives as `...`.
    ///   - annotations: Fields added to every error of the run, such as the run's number in a log.
    ///   - limits: Budgets that replace the state's. The memory budget is ignored.
    ///   - attachment: An object that host functions find in each call made by this run.
    /// - Throws: A ``LuaError``.
    public nonisolated func run(
        _ script: LuaScript, id: LuaRunID, arguments: [LuaValue] = [], annotations: [String: String] = [:],
        limits: LuaLimits? = nil, attachment: (any AnyObject & Sendable)? = nil
    ) async throws -> [LuaValue] {
        try await run(.script(script), arguments, RunOptions(id: id, annotations: annotations, limits: limits, attachment: attachment))
    }

    /// Runs a script to its end and keeps its globals and modules, so that the functions that it returns can be called.
    ///
    /// - Parameters: see ``run(_:id:arguments:annotations:limits:attachment:)``.
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

    /// Loads a program and charges an account for the resources that the run uses.
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
        /// Nil: the state's account or, if it has none, one for this run alone.
        var account: RunAccount?
    }

    nonisolated func run(_ body: RunBody, _ arguments: [LuaValue], _ options: RunOptions) async throws -> [LuaValue] {
        let id = options.id
        let control = try prepare(body, arguments, options)
        // Counted until the result has left the thread, so that the last step there does not wait behind a run that spins.
        thread.countRun(1)
        defer { thread.countRun(-1) }
        return try await withTaskCancellationHandler {
            // Not earlier: a caller on the same thread could not continue once the run computes.
            control.begin()
            return try await control.result()
        } onCancel: {
            control.cancel()
            deliverCancel(id)
        }
    }

    /// Prepares the run's start on the thread. A separate function, so that the frames that wait for the run's end do not hold its data.
    @inline(never) private nonisolated func prepare(
        _ body: RunBody, _ arguments: [LuaValue], _ options: RunOptions
    ) throws -> RunControl {
        var limits = options.limits?.clamped ?? self.limits
        limits.memory = self.limits.memory
        let control = RunControl(limits: limits, account: options.account ?? account)
        guard table.add(options.id, control) else {
            throw LuaError.misuse("run.duplicate", "run number \(options.id.rawValue) is already in progress")
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

    /// Cancels a run. Its waiting tasks, and a task that is computing, receive an error with the code `cancelled`. The script has one
    /// second of CPU time to clean up; then it is stopped.
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

    /// The maximum number of bytes in use so far.
    public var memoryPeak: Int { machine.context.pointee.peak }

    /// Tasks of all runs that have not ended, including the scripts' bodies.
    public var liveTasks: Int { machine.runs.values.reduce(0) { $0 + $1.live.count } }

    /// Collects garbage if more than `least` bytes are in use. Lua itself collects only while a script executes.
    ///
    /// - Returns: The number of bytes freed.
    @discardableResult
    package func collectGarbage(beyond least: Int) -> Int {
        let before = machine.context.pointee.used
        guard !machine.isClosed, before > least else { return 0 }
        machine.collect()
        return max(0, before - machine.context.pointee.used)
    }

    /// Gives tests access to the machine itself.
    func inspect<Result>(_ body: (Machine) throws -> Result) rethrows -> Result {
        try body(machine)
    }
}

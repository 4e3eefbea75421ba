/// A script that has run to its end and whose functions the host can call.
///
/// Each call is a run: it has its own identifier, budgets, tasks and cancellation, and many calls can be in progress at once. They share
/// the script's globals, the modules that it required, and everything its functions refer to.
///
/// ```swift
/// let program = try await state.load(script, id: LuaRunID(rawValue: 1))
/// guard case .function(let greet)? = program.results.first else { return }
/// let answer = try await program.call(greet, [.string("Ana")], id: LuaRunID(rawValue: 2))
/// ```
public final class LuaProgram: Sendable {
    /// The values that the script returned.
    public let results: [LuaValue]
    private let state: LuaState
    private let globals: ProgramGlobals

    init(state: LuaState, globals: ProgramGlobals, results: [LuaValue]) {
        self.state = state
        self.globals = globals
        self.results = results
    }

    /// Calls a function of the program, waits for the tasks that it spawns, and returns its results.
    ///
    /// Cancelling the Swift task cancels the call.
    ///
    /// - Parameters:
    ///   - function: The function; it must belong to this program.
    ///   - arguments: The function's arguments.
    ///   - id: The run's identifier, unique among the state's runs in progress.
    ///   - annotations: Fields added to every error of the call.
    ///   - limits: Budgets that replace the state's. The memory budget is ignored.
    ///   - attachment: An object that host functions find in each call made by this run.
    /// - Throws: A ``LuaError``.
    public func call(
        _ function: LuaFunctionReference, _ arguments: [LuaValue] = [], id: LuaRunID, annotations: [String: String] = [:],
        limits: LuaLimits? = nil, attachment: (any AnyObject & Sendable)? = nil
    ) async throws -> [LuaValue] {
        try await state.run(
            .function(function), arguments,
            LuaState.RunOptions(id: id, annotations: annotations, limits: limits, attachment: attachment, globals: globals))
    }

    /// Calls a function of the program and charges an account for the resources used.
    package func call(
        _ function: LuaFunctionReference, _ arguments: [LuaValue], id: LuaRunID, annotations: [String: String], limits: LuaLimits,
        attachment: (any AnyObject & Sendable)?, account: RunAccount
    ) async throws -> [LuaValue] {
        try await state.run(
            .function(function), arguments,
            LuaState.RunOptions(
                id: id, annotations: annotations, limits: limits, attachment: attachment, globals: globals, account: account))
    }
}

/// A program's globals and loaded modules, as references into the registry.
final class ProgramGlobals: Sendable {
    let environment: Int32
    let loaded: Int32
    private let bin: DiscardedReferences

    init(environment: Int32, loaded: Int32, bin: DiscardedReferences) {
        self.environment = environment
        self.loaded = loaded
        self.bin = bin
    }

    deinit {
        bin.discard(environment)
        bin.discard(loaded)
    }
}

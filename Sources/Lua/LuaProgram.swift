/// A script that has run to its end and whose functions the host calls from then on.
///
/// Each call is a run of its own: with an identity, budgets, tasks and a cancellation of its own, and many can be under way at a time.
/// What they share are the globals of the script, the modules that it required, and whatever its functions hold on to.
///
/// ```swift
/// let program = try await state.load(script, id: LuaRunID(rawValue: 1))
/// guard case .function(let greet)? = program.results.first else { return }
/// let answer = try await program.call(greet, [.string("Ana")], id: LuaRunID(rawValue: 2))
/// ```
public final class LuaProgram: Sendable {
    /// What the script returned.
    public let results: [LuaValue]
    private let state: LuaState
    private let globals: ProgramGlobals

    init(state: LuaState, globals: ProgramGlobals, results: [LuaValue]) {
        self.state = state
        self.globals = globals
        self.results = results
    }

    /// Calls a function of the program, waits for the tasks that it spawns, and answers what it returns.
    ///
    /// Cancelling the Swift task cancels the call.
    ///
    /// - Parameters:
    ///   - function: Of this program.
    ///   - arguments: What the function gets.
    ///   - id: The identity of the run, unique among those under way in the state.
    ///   - annotations: Fields that join every error of the call.
    ///   - limits: Other budgets than those of the state. Its memory budget is not looked at.
    ///   - attachment: What functions of the host find at each call that comes from this run.
    /// - Throws: A ``LuaError``.
    public func call(
        _ function: LuaFunctionReference, _ arguments: [LuaValue] = [], id: LuaRunID, annotations: [String: String] = [:],
        limits: LuaLimits? = nil, attachment: (any AnyObject & Sendable)? = nil
    ) async throws -> [LuaValue] {
        try await state.run(
            .function(function), arguments,
            LuaState.RunOptions(id: id, annotations: annotations, limits: limits, attachment: attachment, globals: globals))
    }

    /// Calls a function of the program, and charges an account for what the call uses.
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

/// The globals and the loaded modules of a program, as references to the registry.
final class ProgramGlobals: Sendable {
    let environment: Int32
    let loaded: Int32
    private let bin: ReferenceBin

    init(environment: Int32, loaded: Int32, bin: ReferenceBin) {
        self.environment = environment
        self.loaded = loaded
        self.bin = bin
    }

    deinit {
        bin.discard(environment)
        bin.discard(loaded)
    }
}

import Synchronization
import Testing

@testable import Lua

/// A session, and Lua functions that tests call in it by name.
final class SessionBench: Sendable {
    let bench: Bench
    let session: LuaSession
    private let failures = Failures()
    /// Runs the given text.
    let evaluate: LuaFunctionReference

    init(limits: LuaLimits = LuaLimits()) async throws {
        bench = try await Bench(limits: limits)
        let handedOver = Mutex<LuaFunctionReference?>(nil)
        try await bench.state.define(
            LuaModule(
                name: "hand",
                functions: [
                    .sync("hand.over") { call in
                        if case .function(let function)? = call.arguments.first { handedOver.withLock { $0 = function } }
                        return []
                    }
                ],
                prelude: LuaScript(
                    name: "=[hand]",
                    source: "local host, load = ..., load host.functions['hand.over'](function(s) return assert(load(s, '=s'))() end)")))
        evaluate = try #require(handedOver.withLock { $0 })
        session = try await bench.state.openSession(id: bench.nextID(), annotations: ["run": "r-1"]) { [failures] error in
            failures.append(error)
        }
        try await call("t = require 't'")
    }

    @discardableResult
    func call(_ source: String) async throws -> [LuaValue] { try await session.call(evaluate, [.string(source)]) }

    func failure(of source: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) async throws -> LuaError {
        do {
            let values = try await call(source)
            Issue.record("did not fail but gave \(values)", sourceLocation: sourceLocation)
        } catch let error as LuaError {
            return error
        }
        return LuaError(kind: .runtime, code: "test.no_failure", message: "")
    }

    /// The messages that the session reported.
    var told: [String] { failures.all.map(\.message) }

    /// The first errors that the session reported, as soon as there are this many.
    func told(_ count: Int) async -> [LuaError] { await failures.first(count) }

    private final class Failures: Sendable {
        private let state = Mutex<(errors: [LuaError], waiting: [(Int, CheckedContinuation<Void, Never>)])>(([], []))

        var all: [LuaError] { state.withLock { $0.errors } }

        func append(_ error: LuaError) {
            let due = state.withLock { state in
                state.errors.append(error)
                let due = state.waiting.filter { $0.0 <= state.errors.count }
                state.waiting.removeAll { $0.0 <= state.errors.count }
                return due
            }
            for (_, continuation) in due { continuation.resume() }
        }

        func first(_ count: Int) async -> [LuaError] {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.errors.count < count { state.waiting.append((count, continuation)) }
                    return state.errors.count >= count
                }
                if isThere { continuation.resume() }
            }
            return Array(all.prefix(count))
        }
    }
}

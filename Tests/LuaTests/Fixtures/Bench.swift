import Synchronization
import Testing

@testable import Lua

/// A state with the functions that the tests call, and shorthands to run scripts in it.
///
/// Nothing sleeps: `gate(name)` waits until a test or another task calls `open(name)`.
final class Bench: Sendable {
    let thread: LuaThread
    let state: LuaState
    let gates = Gates()
    let printed = Printed()
    private let lastRun = Mutex(0)
    /// Lives as long as the bench.
    private let folder: Folder?

    static let prelude = """
        local host = ...
        local f = host.functions
        return {
            spawn = host.spawn, spawn_daemon = host.spawn_daemon, all = host.all, traced = host.traced,
            raise = host.raise, is_error = host.is_error, list = host.list, is_list = host.is_list,
            echo = f["t.echo"], fail = f["t.fail"], later = f["t.later"], at_once = f["t.at_once"], gate = f["t.gate"],
            open = f["t.open"], later_fail = f["t.later_fail"], kinds = f["t.kinds"], log = f["t.log"],
            thing = f["t.thing"], where = f["t.where"], foreign = f["t.foreign"],
            rethrow = function(fn)
                local ok, e = host.traced(fn)
                if not ok then error(e, 0) end
            end,
            checked = function(x)
                if type(x) ~= "number" then
                    host.raise { kind = "misuse", code = "t.bad", message = "a number, please", level = 2 }
                end
                return x
            end,
        }
        """

    init(
        limits: LuaLimits = LuaLimits(cpu: .seconds(600)), seed: UInt64 = 7, thread: LuaThread? = nil, searchPath: LuaSearchPath? = nil,
        folder: Folder? = nil, library: LuaLibrary = .sandboxed
    ) async throws {
        self.thread = thread ?? LuaThread(name: "lua-test")
        self.folder = folder
        state = try LuaState(
            thread: self.thread, limits: limits, seed: seed,
            absent: ["io": "use push.log", "os.execute": "there are no processes", "dofile": "use require"],
            searchPath: searchPath, library: library)
        let printed = self.printed
        let gates = self.gates
        try await state.define(
            LuaModule(
                name: "t",
                functions: [
                    .sync("t.echo") { $0.arguments },
                    .sync("t.fail") { _ in throw Bench.refusal },
                    .sync("t.foreign") { _ in throw Foreign() },
                    .async("t.at_once") { $0.arguments },
                    .async("t.later") { call in
                        await Task.yield()
                        return call.arguments
                    },
                    .async("t.later_fail") { _ in
                        await Task.yield()
                        throw Bench.refusal
                    },
                    .async("t.gate") { call in
                        try await gates.wait(Bench.text(call.arguments.first ?? .nil))
                        return call.arguments
                    },
                    .sync("t.open") { call in
                        gates.open(Bench.text(call.arguments.first ?? .nil))
                        return []
                    },
                    .sync("t.kinds") { call in call.arguments.map { .string($0.typeName) } },
                    .sync("t.log") { call in
                        let text = call.arguments.map(Bench.text).joined(separator: " ")
                        printed.append(text)
                        return []
                    },
                    .sync("t.thing") { call in
                        [.object(LuaObject(type: "thing", payload: Bench.text(call.arguments.first ?? .nil)))]
                    },
                    .sync("t.where") { call in
                        [.string(call.location?.description ?? "nowhere"), .integer(Int64(call.task))]
                    },
                ],
                types: [
                    LuaObjectType(
                        name: "thing",
                        methods: [
                            .sync("thing.shout") { call in
                                guard case .object(let object)? = call.arguments.first else { return [] }
                                return [.string("\(object.payload)!")]
                            }
                        ],
                        describe: { "thing \($0)" },
                        property: { payload, name in name == "name" ? .string("\(payload)") : nil },
                        propertyNames: ["name"])
                ],
                globals: [
                    .sync("print") { call in
                        printed.append(call.arguments.map(Bench.text).joined(separator: "\t"))
                        return []
                    },
                    .sync("os.time") { _ in [.integer(1_000)] },
                ],
                prelude: LuaScript(name: "=[t]", source: Bench.prelude)))
    }

    deinit {
        thread.stop()
    }

    struct Foreign: Error, CustomStringConvertible {
        var description: String { "not one of ours" }
    }

    static let refusal = LuaError(
        kind: .failure, code: "hub.refused", message: "the hub said no", hint: "ask nicely", status: 403,
        isRetryable: true,
        trackingID: "abc-1", details: .table(LuaTable(fields: ["reason": .string("quota")])))

    static func text(_ value: LuaValue) -> String {
        switch value {
        case .nil: "nil"
        case .boolean(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .string(let text): text
        default: value.typeName
        }
    }

    func nextID() -> LuaRunID {
        LuaRunID(
            rawValue: lastRun.withLock {
                $0 += 1
                return $0
            })
    }

    /// Runs a script in which `t` is the test module.
    @discardableResult
    func run(
        _ source: String, id: LuaRunID? = nil, arguments: [LuaValue] = [], annotations: [String: String] = [:],
        limits: LuaLimits? = nil
    ) async throws -> [LuaValue] {
        try await state.run(
            LuaScript(name: "a.lua", source: "local t = require('t'); " + source), id: id ?? nextID(),
            arguments: arguments, annotations: annotations, limits: limits)
    }

    /// Runs a script that must fail.
    func failure(
        of source: String, annotations: [String: String] = [:], limits: LuaLimits? = nil,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async throws -> LuaError {
        do {
            let results = try await run(source, annotations: annotations, limits: limits)
            Issue.record("did not fail but gave \(results)", sourceLocation: sourceLocation)
            return LuaError(kind: .runtime, code: "test.no_failure", message: "")
        } catch let error as LuaError {
            return error
        }
    }

    var log: [String] { printed.lines }
}

/// The logged and printed texts of scripts, line by line.
final class Printed: Sendable {
    private let list = Mutex<[String]>([])

    func append(_ line: String) {
        list.withLock { $0.append(line) }
    }

    var lines: [String] { list.withLock { $0 } }
}

/// Named gates that functions of the test wait at until they are opened.
final class Gates: Sendable {
    private struct Gate {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var arrived: [CheckedContinuation<Void, Never>] = []
    }
    private struct Shared {
        var gates: [String: Gate] = [:]
        var lastWaiter = 0
    }
    private let shared = Mutex(Shared())

    func wait(_ name: String) async throws {
        let waiter = shared.withLock {
            $0.lastWaiter += 1
            return $0.lastWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let arrived = shared.withLock { shared -> [CheckedContinuation<Void, Never>] in
                    if shared.gates[name, default: Gate()].isOpen || Task.isCancelled {
                        continuation.resume()
                    } else {
                        shared.gates[name, default: Gate()].waiting[waiter] = continuation
                    }
                    let arrived = shared.gates[name, default: Gate()].arrived
                    shared.gates[name]?.arrived = []
                    return arrived
                }
                for one in arrived { one.resume() }
            }
        } onCancel: {
            shared.withLock { $0.gates[name]?.waiting.removeValue(forKey: waiter) }?.resume(
                throwing: CancellationError())
        }
    }

    func open(_ name: String) {
        let waiting = shared.withLock { shared -> [CheckedContinuation<Void, any Error>] in
            shared.gates[name, default: Gate()].isOpen = true
            let waiting = shared.gates[name]?.waiting.sorted { $0.key < $1.key }.map(\.value) ?? []
            shared.gates[name]?.waiting = [:]
            return waiting
        }
        for one in waiting { one.resume() }
    }

    func isOpen(_ name: String) -> Bool {
        shared.withLock { $0.gates[name]?.isOpen == true }
    }

    /// Closes gates again.
    func close(_ names: String...) {
        shared.withLock { shared in for name in names { shared.gates[name] = nil } }
    }

    /// Waits until a function waits at the gate.
    func arrival(at name: String) async {
        await withCheckedContinuation { continuation in
            let isThere = shared.withLock { shared -> Bool in
                if shared.gates[name]?.waiting.isEmpty == false { return true }
                shared.gates[name, default: Gate()].arrived.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

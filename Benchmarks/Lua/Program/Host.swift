import Lua
import StockLua
import Synchronization

/// The side of this package: a state with the functions that the loops call.
final class Host: Sendable {
    let thread = LuaThread(name: "bench")
    let state: LuaState
    let gate = Gate()
    private let lastRun = Mutex(0)

    static let limits = LuaLimits(memory: 4 << 30, cpu: .seconds(3_600), tasks: 1_000_000)

    init() async throws {
        state = try LuaState(thread: thread, limits: Self.limits)
        try await state.define(Self.module(gate: gate, elsewhere: Elsewhere()))
    }

    deinit {
        thread.stop()
    }

    func nextID() -> LuaRunID {
        LuaRunID(
            rawValue: lastRun.withLock {
                $0 += 1
                return $0
            })
    }

    /// Runs a loop and returns its nanoseconds.
    func run(_ source: String, count: Int) async throws -> Double {
        let script = LuaScript(name: "bench.lua", source: source)
        guard case .integer(let elapsed)? = try await state.run(script, id: nextID(), arguments: [.integer(Int64(count))]).first
        else { return 0 }
        return Double(elapsed)
    }

    static func module(gate: Gate, elsewhere: Elsewhere) -> LuaModule {
        LuaModule(
            name: "host",
            functions: [
                .sync("host.now") { _ in [.integer(stock_now_ns())] },
                .sync("host.block_ticks") { _ in
                    stock_block_ticks()
                    return []
                },
                LuaFunction("host.successor_strings") { (number: Int) in number + 1 },
                LuaFunction("host.record_strings") { (name: String, order: Order) in
                    Receipt(id: order.topic, seq: order.priority + name.utf8.count, ok: order.urgent)
                },
                LuaFunction("host.record_bytes") { (name: LuaBorrowedBytes, order: BorrowedOrder) in
                    BorrowedReceipt(id: order.topic, seq: order.priority + name.count, ok: order.urgent)
                },
                .sync("host.successor_values") { call in
                    guard case .integer(let number)? = call.arguments.first else { throw BadArgument() }
                    return [.integer(number + 1)]
                },
                .sync("host.record_values") { call in
                    guard call.arguments.count == 2, case .string(let name) = call.arguments[0],
                        case .table(let fields) = call.arguments[1], case .string(let topic)? = fields["topic"],
                        case .integer(let priority)? = fields["priority"], case .boolean(let urgent)? = fields["urgent"]
                    else { throw BadArgument() }
                    return [
                        .table(
                            LuaTable(fields: [
                                "id": .string(topic), "seq": .integer(priority + Int64(name.utf8.count)), "ok": .boolean(urgent),
                            ]))
                    ]
                },
                .async("host.at_once") { _ in [] },
                .async("host.hop") { _ in
                    await Task.yield()
                    return []
                },
                .async("host.away") { _ in
                    await elsewhere.visit()
                    return []
                },
                .async("host.wait") { _ in
                    try await gate.wait()
                    return []
                },
            ],
            prelude: LuaScript(
                name: "=[host]",
                source: """
                    local host, module = ..., {}
                    for name, f in pairs(host.functions) do module[name:match("[^.]+$")] = f end
                    module.spawn = host.spawn
                    return module
                    """))
    }
}

struct BadArgument: Error {}

/// An actor with its own thread, like a connection pool or a database.
actor Elsewhere {
    private let thread = LuaThread(name: "elsewhere")
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private(set) var visits = 0

    func visit() {
        visits += 1
    }

    deinit {
        thread.stop()
    }
}

/// Calls wait here until they are cancelled.
final class Gate: Sendable {
    private struct Shared {
        var waiting: [Int: UnsafeContinuation<Void, any Error>] = [:]
        var last = 0
        var awaited: (count: Int, continuation: UnsafeContinuation<Void, Never>)?
    }
    private let shared = Mutex(Shared())

    func wait() async throws {
        let number = shared.withLock {
            $0.last += 1
            return $0.last
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let arrival = shared.withLock { shared -> UnsafeContinuation<Void, Never>? in
                    shared.waiting[number] = continuation
                    guard let awaited = shared.awaited, shared.waiting.count >= awaited.count else { return nil }
                    shared.awaited = nil
                    return awaited.continuation
                }
                arrival?.resume()
            }
        } onCancel: {
            shared.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    /// Waits until there are this many waiting calls.
    func arrival(of count: Int) async {
        await withUnsafeContinuation { continuation in
            let isComplete = shared.withLock { shared in
                if shared.waiting.count >= count { return true }
                shared.awaited = (count, continuation)
                return false
            }
            if isComplete { continuation.resume() }
        }
    }
}

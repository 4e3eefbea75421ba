import PushModel
import Support
import Synchronization
import Testing

@testable import PushServer

/// The order in which the components of a server are closed.
@Suite struct ComponentStackTests {
    /// Records what was closed.
    private final class Record: Sendable {
        private let names = Mutex<[String]>([])

        var closed: [String] { names.withLock { $0 } }

        func note(_ name: String) { names.withLock { $0.append(name) } }
    }

    private static func failure(_ name: String) -> PushError { PushError("test.failure", "\(name) failed") }

    @Test func `components are closed in reverse order, and only once`() async {
        let (stack, record) = (ComponentStack(), Record())
        for name in ["storage", "hubs", "flows"] { #expect(stack.add(name) { record.note($0) } == name) }
        #expect(record.closed.isEmpty)
        #expect(await stack.close().isEmpty)
        #expect(record.closed == ["flows", "hubs", "storage"])
        #expect(await stack.close().isEmpty)
        #expect(record.closed == ["flows", "hubs", "storage"])
    }

    @Test(.timeLimit(.minutes(5))) func `a second call that closes waits for the first`() async throws {
        let (stack, record) = (ComponentStack(), Record())
        let (steps, step) = AsyncStream.makeStream(of: Void.self)
        stack.add("storage") { record.note($0) }
        stack.add("hubs") { name in
            var waiting = steps.makeAsyncIterator()
            await waiting.next()
            record.note(name)
        }
        async let first = stack.close()
        try await until { stack.isClosing }
        async let second: [String] = {
            _ = await stack.close()
            return record.closed
        }()
        try await until { stack.waitingCount == 1 }
        #expect(record.closed.isEmpty)
        step.yield()
        #expect(await first.isEmpty)
        #expect(await second == ["hubs", "storage"])
    }

    @Test func `a failure closes what was opened before and is thrown, whatever closing does`() async {
        let record = Record()
        let error = await #expect(throws: PushError.self) {
            try await ComponentStack.opening { stack throws(PushError) in
                stack.add("storage") { record.note($0) }
                stack.add("hubs") { name throws(PushError) in
                    record.note(name)
                    throw Self.failure(name)
                }
                throw Self.failure("flows")
            }
        }
        #expect(error?.message == "flows failed")
        #expect(record.closed == ["hubs", "storage"])
    }

    @Test func `what was opened stays open until it is closed`() async throws {
        let record = Record()
        let stack = try await ComponentStack.opening { stack throws(PushError) in
            stack.add("storage") { record.note($0) }
            return stack
        }
        #expect(record.closed.isEmpty)
        _ = await stack.close()
        #expect(record.closed == ["storage"])
    }

    @Test func `a component that cannot be closed does not keep the others open`() async {
        let (stack, record) = (ComponentStack(), Record())
        for name in ["storage", "hubs", "flows"] {
            stack.add(name) { name throws(PushError) in
                record.note(name)
                if name != "hubs" { throw Self.failure(name) }
            }
        }
        #expect(await stack.close().map(\.message) == ["flows failed", "storage failed"])
        #expect(record.closed == ["flows", "hubs", "storage"])
    }

    @Test func `components that are added while others close are closed next`() async {
        let (stack, record) = (ComponentStack(), Record())
        stack.add("storage") { record.note($0) }
        stack.add("hubs") { [stack] name in
            record.note(name)
            stack.add("late") { record.note($0) }
        }
        _ = await stack.close()
        #expect(record.closed == ["hubs", "late", "storage"])
    }
}

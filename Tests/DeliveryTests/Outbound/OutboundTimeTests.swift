import PushModel
import Support
import Testing

@testable import Delivery

/// Time limits of requests, which leave no connection behind.
@Suite struct OutboundTimeTests {
    private static let names = ["service.test": ["127.0.0.1"], "slow.test": ["never"]]
    private let bench = OutboundBench(names)

    /// Starts a request.
    private func start(
        _ url: String, timeout: Duration = .seconds(10)
    ) -> Task<Result<OutboundResponse, PushError>, Never> {
        Task { [bench] in await bench.result(OutboundRequest(url: url, timeout: timeout)) }
    }

    private func code(_ task: Task<Result<OutboundResponse, PushError>, Never>) async -> String? {
        if case .failure(let error) = await task.value { error.code } else { nil }
    }

    /// Runs a request to a server with this behaviour until its time limit.
    private func expectTimeout(_ behaviour: CannedServer.Behaviour) async throws {
        let server = try await CannedServer(behaviour)
        let task = start("http://service.test:\(server.port)/x?hush")
        try await until { !server.requests.isEmpty }
        #expect(bench.clock.nextDeadline == Accounts.start + .seconds(10))
        #expect(bench.clock.advanceToNextDeadline())
        let result = await task.value
        let error = try #require(throws: PushError.self) { try result.get() }
        #expect(error.code == "http.timeout" && error.isRetryable)
        #expect(error.message == "service.test:\(server.port)/x: no complete response within 10 s")
        // The connection closes with the request.
        try await until { server.closed >= 1 }
        #expect(server.accepted == 1 && !bench.clock.hasSleepingTasks)
        try await server.stop()
    }

    @Test func `a server that never answers times out`() async throws { try await expectTimeout(.silent) }

    @Test func `a server that stops within its answer times out`() async throws {
        try await expectTimeout(.answering("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
    }

    @Test func `a server that keeps sending a little more times out`() async throws {
        // None of this is part of a header or a body.
        try await expectTimeout(.dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a"))
        try await OutboundTimeTests().expectTimeout(.dripping("", "HTTP/1.1 102 Processing\r\n\r\n"))
    }

    @Test func `a server that does not complete the TLS handshake times out`() async throws {
        let server = try await CannedServer(.silent)
        let task = start("https://service.test:\(server.port)/", timeout: .milliseconds(1))
        try await until { server.accepted >= 1 }
        #expect(bench.clock.advanceToNextDeadline())
        #expect(await code(task) == "http.timeout")
        try await until { server.closed >= 1 }
        try await server.stop()
    }

    @Test func `a name that is never resolved times out`() async throws {
        let task = start("http://slow.test/")
        try await until { !bench.lookups.isEmpty }
        #expect(bench.clock.advanceToNextDeadline())
        #expect(await code(task) == "http.timeout")
        bench.findNever()
    }

    @Test func `the time limit covers all redirects together`() async throws {
        let silent = try await CannedServer(.silent)
        let server = try await CannedServer(
            .answering("HTTP/1.1 302 Found\r\nLocation: http://service.test:\(silent.port)/end\r\n\r\n"))
        let reach = try OutboundBench.reach(private: ["service.test:\(server.port)", "service.test:\(silent.port)"])
        let task = Task { [bench] in await bench.result(OutboundRequest(url: "http://service.test:\(server.port)/"), within: reach) }
        try await until { !server.requests.isEmpty }
        bench.clock.advance(to: Accounts.start + .seconds(9))
        try await until { !silent.requests.isEmpty }
        #expect(bench.clock.nextDeadline == Accounts.start + .seconds(10))
        #expect(bench.clock.advanceToNextDeadline())
        #expect(await code(task) == "http.timeout")
        try await server.stop()
        try await silent.stop()
    }

    @Test func `a cancelled request returns at once, and its connection is closed`() async throws {
        let server = try await CannedServer(.silent)
        let task = start("http://service.test:\(server.port)/")
        try await until { !server.requests.isEmpty }
        task.cancel()
        #expect(await code(task) == "cancelled")
        try await until { server.closed >= 1 }
        #expect(!bench.clock.hasSleepingTasks)
        try await server.stop()
    }

    @Test func `a request that is cancelled during a lookup returns at once`() async throws {
        let task = start("http://slow.test/")
        try await until { !bench.lookups.isEmpty }
        task.cancel()
        #expect(await code(task) == "cancelled")
        bench.findNever()
    }

    @Test func `a request that was cancelled before its start is not sent`() async throws {
        let server = try await CannedServer(.silent)
        let task = Task { [bench] in
            withUnsafeCurrentTask { $0?.cancel() }
            return await bench.result(OutboundRequest(url: "http://service.test:\(server.port)/"))
        }
        #expect(await code(task) == "cancelled")
        #expect(server.requests.isEmpty)
        try await server.stop()
    }

    @Test func `requests in flight are limited, and waiting counts towards the time limit`() async throws {
        let server = try await CannedServer(.silent)
        let url = "http://service.test:\(server.port)/"
        let tasks = (0..<PublicHTTPClient.maximumCalls).map { _ in start(url) }
        try await until { server.requests.count >= PublicHTTPClient.maximumCalls }
        let late = start(url, timeout: .seconds(5))
        try await until { bench.clock.nextDeadline == Accounts.start + .seconds(5) }
        // Other requests finish in between: an admitted request would have arrived by now.
        let quick = try await CannedServer(.answering("HTTP/1.1 204 No Content\r\n\r\n"))
        let others = OutboundBench(Self.names)
        for _ in 0..<20 { _ = try await others.result(OutboundRequest(url: "http://service.test:\(quick.port)/")).get() }
        try await quick.stop()
        #expect(bench.clock.advanceToNextDeadline())
        #expect(await code(late) == "http.timeout")
        #expect(server.accepted == PublicHTTPClient.maximumCalls)
        // Finished requests free their slots.
        for task in tasks.dropFirst() { task.cancel() }
        let next = start(url)
        try await until { server.requests.count > PublicHTTPClient.maximumCalls }
        for task in [tasks[0], next] { task.cancel() }
        for task in tasks + [next] { #expect(await code(task) == "cancelled") }
        try await server.stop()
    }

    @Test func `lookups of cancelled requests still count towards the limit, so that threads do not run out`() async throws {
        let most = PublicHTTPClient.maximumLookups
        let tasks = (0..<most).map { _ in start("http://slow.test/") }
        try await until { bench.lookups.count >= most }
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await code(task) == "cancelled") }
        let late = start("http://slow.test/")
        try await until { bench.clock.hasSleepingTasks }
        #expect(bench.clock.advanceToNextDeadline())
        #expect(await code(late) == "http.timeout")
        #expect(bench.lookups.count == most)
        bench.findNever()
        let next = start("http://nowhere.test/")
        #expect(await code(next) == "http.unreachable")
    }
}

import NIOCore
import PushModel
import Testing

@testable import Delivery

/// Which hosts and addresses may be reached.
@Suite struct OutboundPermissionTests {
    private static let empty = "HTTP/1.1 204 No Content\r\n\r\n"

    @Test func `a host without a grant is not looked up`() async throws {
        let bench = OutboundBench()
        let server = try await CannedServer(.answering(Self.empty))
        for granted in [
            "other.test:\(server.port)", "service.test", "service.test:\(server.port &+ 1)", "*.service.test:\(server.port)",
            "service.test.evil:\(server.port)",
        ] {
            let reach = try OutboundBench.reach([granted], private: [granted])
            let error = await bench.failure(OutboundRequest(url: "http://service.test:\(server.port)/"), within: reach)
            #expect(error?.code == "http.denied", "\(granted)")
            #expect(error?.hint?.contains("service.test:\(server.port)") == true)
        }
        #expect(bench.lookups.isEmpty && server.accepted == 0)
        try await server.stop()
    }

    @Test(arguments: [
        ["127.0.0.1"], ["::1"], ["169.254.169.254"], ["::ffff:127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["127.0.0.1", "8.8.8.8"],
    ])
    func `a granted name with a non-public address is not reached`(addresses: [String]) async throws {
        let server = try await CannedServer(.answering(Self.empty))
        let bench = OutboundBench(["service.test": addresses])
        let reach = try OutboundBench.reach(["service.test:\(server.port)"], private: ["other.test:\(server.port)"])
        let error = await bench.failure(OutboundRequest(url: "http://service.test:\(server.port)/x?hush"), within: reach)
        #expect(error?.code == "http.private_address")
        #expect(error?.message.contains("service.test:\(server.port)/x:") == true)
        #expect(error?.hint == "grant http.private:service.test to allow it")
        #expect(server.accepted == 0)
        try await server.stop()
    }

    @Test func `every name is looked up for each request, because its addresses may have changed`() async throws {
        let server = try await CannedServer(.answering(Self.empty))
        let bench = OutboundBench()
        for count in 1...3 {
            #expect(try await bench.result(OutboundRequest(url: "http://service.test:\(server.port)/")).get().status == 204)
            #expect(bench.lookups.count == count)
        }
        try await server.stop()
    }

    @Test func `an address instead of a name has the same rules and is not looked up`() async throws {
        let server = try await CannedServer(.answering(Self.empty))
        let bench = OutboundBench()
        let request = OutboundRequest(url: "http://127.0.0.1:\(server.port)/")
        #expect(
            await bench.failure(request, within: try OutboundBench.reach(["127.0.0.1:\(server.port)"]))?.code == "http.private_address")
        #expect(server.accepted == 0)
        #expect(try await bench.result(request).get().status == 204)
        #expect(server.requests.first?.contains("\r\nHost: 127.0.0.1:\(server.port)\r\n") == true)
        #expect(bench.lookups.isEmpty)
        try await server.stop()
    }

    @Test func `a wildcard covers the names below it`() async throws {
        let server = try await CannedServer(.answering(Self.empty))
        let bench = OutboundBench(["a.b.service.test": ["127.0.0.1"], "service.test": ["127.0.0.1"]])
        let reach = try OutboundBench.reach(private: ["*.service.test:\(server.port)"])
        #expect(try await bench.result(OutboundRequest(url: "http://A.b.Service.TEST:\(server.port)/"), within: reach).get().status == 204)
        #expect(server.requests.first?.contains("\r\nHost: a.b.service.test:\(server.port)\r\n") == true)
        #expect(await bench.failure(OutboundRequest(url: "http://service.test:\(server.port)/"), within: reach)?.code == "http.denied")
        try await server.stop()
    }

    @Test func `when one address refuses the connection the next one is tried`() async throws {
        let server = try await CannedServer(.answering(Self.empty))
        // The first two addresses refuse connections.
        let bench = OutboundBench(["service.test": ["::1", "127.0.0.2", "127.0.0.1"]])
        #expect(try await bench.result(OutboundRequest(url: "http://service.test:\(server.port)/")).get().status == 204)
        #expect(server.accepted == 1)
        try await server.stop()
    }

    @Test func `at most a few of many addresses are tried`() async throws {
        let server = try await CannedServer(.answering(Self.empty))
        let others = (2...7).map { "127.0.0.\($0)" }
        let bench = OutboundBench(["service.test": others + ["127.0.0.1"]])
        #expect(await bench.failure(OutboundRequest(url: "http://service.test:\(server.port)/"))?.code == "http.unreachable")
        #expect(server.accepted == 0)
        try await server.stop()
    }

    @Test func `a refused connection and an unknown name are errors`() async throws {
        let bench = OutboundBench()
        let port = ClosedPort()
        let refused = await bench.failure(OutboundRequest(url: "http://service.test:\(port.number)/x?hush"))
        #expect(refused?.code == "http.unreachable" && refused?.isRetryable == true)
        #expect(refused?.message == "service.test:\(port.number)/x: the connection failed: Connection refused")
        withExtendedLifetime(port) {}
        let unknown = await bench.failure(OutboundRequest(url: "https://nowhere.test/"))
        #expect(unknown?.code == "http.unreachable")
        #expect(unknown?.message == "nowhere.test:443/: its name could not be resolved")
    }

    @Test func `a connection from this machine to itself is recognised by its addresses`() throws {
        func address(_ text: String, _ port: Int) throws -> SocketAddress { try SocketAddress(ipAddress: text, port: port) }
        #expect(OutboundDialer.staysHere(from: try address("8.8.8.8", 40_000), to: try address("8.8.8.8", 443)))
        #expect(OutboundDialer.staysHere(from: try address("2606:4700::1", 40_000), to: try address("2606:4700:0::1", 443)))
        #expect(!OutboundDialer.staysHere(from: try address("10.0.0.5", 40_000), to: try address("8.8.8.8", 443)))
        // Unknown addresses count as those of this machine.
        #expect(OutboundDialer.staysHere(from: nil, to: nil))
    }
}

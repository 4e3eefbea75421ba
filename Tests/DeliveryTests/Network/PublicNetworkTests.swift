import HTTPTypes
import NIOCore
import PushModel
import Synchronization
import Testing

@testable import Delivery

@Suite struct PublicNetworkTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func address(_ text: String) throws -> SocketAddress { try SocketAddress(ipAddress: text, port: 443) }

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
        "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::1",
        "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "3fff:fff::1", "5f00::1", "fc00::1",
        "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1",
    ])
    func `a non-public address is refused in any spelling`(_ text: String) throws {
        #expect(try !address(text).isPublic)
    }

    @Test(arguments: [
        "8.8.8.8", "100.63.0.1", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1", "198.20.0.1", "223.255.255.255",
        "2a00:1450:4001:81b::200e", "2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::8.8.8.8", "2002:808:808::1", "3fff:1000::1",
        "3ffe::1",
    ])
    func `an address of the Internet is public`(_ text: String) throws {
        #expect(try address(text).isPublic)
    }

    @Test func `all addresses of a name must be public, and the result is cached for a while`() async throws {
        let asked = Mutex<[String]>([])
        let names = try [
            "public.example": [address("8.8.8.8"), address("2606:4700::1111")], "mixed.example": [address("8.8.8.8"), address("10.0.0.1")],
            "inner.example": [address("::1")], "nowhere.example": [],
        ]
        let network = PublicNetwork(clock: clock) { name in
            asked.withLock { $0.append(name) }
            return names[name] ?? []
        }
        for _ in 0..<2 {
            try await network.check("public.example")
            await #expect(throws: PublicNetwork.Refusal.self) { try await network.check("mixed.example") }
            await #expect(throws: PublicNetwork.Refusal.self) { try await network.check("inner.example") }
            try await network.check("nowhere.example")
        }
        #expect(asked.withLock { $0.count { $0 == "public.example" } } == 1)
        #expect(asked.withLock { $0.count { $0 == "inner.example" } } == 2)
        clock.advance(to: clock.now + .seconds(60))
        try await network.check("public.example")
        #expect(asked.withLock { $0.count { $0 == "public.example" } } == 2)
    }

    private func exchange(_ network: PublicNetwork?, port: Int) async -> Result<PushResponse, TransportError> {
        let transport = HTTPClientTransport(network: network, limits: .init().generous)
        let request = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/x")
        let result: Result<PushResponse, TransportError>
        do throws(TransportError) {
            result = .success(try await transport.exchange(request, body: [1]))
        } catch {
            result = .failure(error)
        }
        await transport.shutdown()
        return result
    }

    private func isForbidden(_ result: Result<PushResponse, TransportError>) -> Bool {
        if case .failure(.forbidden(let why)) = result { why.contains("network.allow_private") } else { false }
    }

    @Test func `a name with private addresses is refused before sending, and again if its addresses have changed`()
        async throws
    {
        let server = try await CannedServer(.answering("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"))
        #expect(isForbidden(await exchange(PublicNetwork(clock: clock), port: server.port)))
        // The name was public when it was checked and has another address when the connection is made.
        let good = try address("8.8.8.8")
        #expect(isForbidden(await exchange(PublicNetwork(clock: clock) { _ in [good] }, port: server.port)))
        #expect(server.requests.isEmpty)
        if case .failure(let error) = await exchange(nil, port: server.port) { Issue.record("\(error)") }
        try await server.stop()
    }
}

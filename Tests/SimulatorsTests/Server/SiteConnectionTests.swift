import Foundation
import HTTPTypes
import Testing

@testable import Simulators

/// All services on one TLS port: which service a request is for, in which protocol, and the addresses in handles and credentials.
@Suite struct SiteConnectionTests {
    private static let all = Set(PhonePlatform.allCases)
    private static let form = "Content-Type: application/x-www-form-urlencoded"
    private static let toast =
        "<toast><visual><binding template=\"ToastGeneric\"><text>Hello</text></binding></visual></toast>"

    /// The host with port, and the path with query.
    private static func parts(of address: String) throws -> (authority: String, path: String) {
        #expect(address.hasPrefix("https://"))
        let parts = WNSBench.parts(of: address)
        return (parts.host, parts.path)
    }

    @Test func `all four services answer on one port, distinguished by path, each with a phone`() async throws {
        let network = try await SimulatorNetwork(serving: Self.all)
        let port = network.listener.port
        let caller = try await HTTP1Caller(network)
        let fcm = try #require(try network.add("bob", "fcm")["handle"]?.string)
        let grant = try await caller.ask(HTTP1Caller.post("/token", network.googleForm(), Self.form))
        #expect(grant.line == "HTTP/1.1 200 OK")
        let sent = try await caller.ask(
            HTTP1Caller.post(
                "/v1/projects/\(SimulatorCredentials.projectID)/messages:send",
                #"{"message":{"token":"\#(fcm)","notification":{"body":"Hello"}}}"#,
                "Authorization: Bearer \(HTTP1Caller.token(grant.text))", "Content-Type: application/json"), answers: 2)
        #expect(sent.line == "HTTP/1.1 200 OK", "\(sent.text)")
        #expect(try network.inbox(of: "bob") == ["Hello"])

        let channel = try Self.parts(of: try #require(try network.add("tom", "wns")["handle"]?.string))
        #expect(channel.authority == "localhost:\(port)")
        let given = try await caller.ask(HTTP1Caller.post("/accesstoken.srf", network.microsoftForm, Self.form), answers: 3)
        #expect(given.line == "HTTP/1.1 200 OK")
        let pushed = try await caller.ask(
            HTTP1Caller.post(
                channel.path, Self.toast, host: "127.0.0.1:\(port)", "Authorization: Bearer \(HTTP1Caller.token(given.text))",
                "X-WNS-Type: wns/toast", "Content-Type: text/xml"), answers: 4)
        #expect(pushed.line == "HTTP/1.1 200 OK" && pushed.text.contains("x-wns-status: received"), "\(pushed.text)")
        #expect(try network.inbox(of: "tom") == ["Hello"])

        let subscription = try #require(try network.add("eve", "browser")["subscription"])
        let endpoint = try Self.parts(of: try #require(subscription["endpoint"]?.string))
        #expect(endpoint.authority == "localhost:\(port)")
        let origin = "https://localhost:\(port)"
        let taken = try await caller.ask(
            HTTP1Caller.post(endpoint.path, "", "Authorization: \(network.vapid(for: origin))", "TTL: 60"), answers: 5)
        #expect(taken.line == "HTTP/1.1 201 Created" && taken.text.contains("location: \(origin)/m/"), "\(taken.text)")
        #expect(try network.inbox(of: "eve").count == 1)
        try await caller.close()

        let ana = try network.phone("ana")
        let apns = try await HTTP2Caller(network)
        #expect(try await apns.send(network.push(to: ana, host: "localhost:\(port)")).verdict == "200")
        // Once used for APNs requests, a connection has the limits of APNs.
        #expect(try await apns.send(network.push(to: "ab", host: "localhost:\(port)")).verdict == "400 BadDeviceToken")
        try await apns.wait { client, _ in client.limits == [100, 1000, 1] }
        try await apns.close()
        let services = network.server.responder.ledger.lines(after: 0, limit: 10).split(separator: 0x0a).map {
            JSONValue(Array($0))?["service"]?.string
        }
        #expect(services == ["fcm", "wns", "browser", "apns", "apns"])
        await network.end()
    }

    @Test func `FCM and Web Push also answer over HTTP2, and the names of the real services are known`() async throws {
        let network = try await SimulatorNetwork(serving: Self.all)
        let caller = try await HTTP2Caller(network)
        func ask(_ host: String, _ path: String, _ body: String, _ fields: [(String, String)]) async throws -> HTTP2Client.Answer {
            try await caller.send(
                [(":method", "POST"), (":scheme", "https"), (":authority", host), (":path", path)] + fields, Array(body.utf8))
        }
        // google-auth uses Google's own endpoint as audience, wherever it sends.
        let form = try network.googleForm(audience: "https://oauth2.googleapis.com/token")
        let grant = try await ask("oauth2.googleapis.com", "/token", form, [("content-type", "application/x-www-form-urlencoded")])
        let token = try #require(JSONValue(grant.body)?["access_token"]?.string)
        let sent = try await ask(
            "fcm.googleapis.com", "/v1/projects/\(SimulatorCredentials.projectID)/messages:send", #"{"message":{"topic":"news"}}"#,
            [("authorization", "Bearer \(token)")])
        #expect(sent.status == 200, "\(sent.text)")
        let endpoint = try #require(try network.add("eve", "webpush")["subscription"]?["endpoint"]?.string)
        let (authority, path) = try Self.parts(of: endpoint)
        let taken = try await ask(authority, path, "", [("authorization", network.vapid(for: "https://\(authority)")), ("ttl", "0")])
        #expect(taken.status == 201, "\(taken.text)")
        // A token for Mozilla's service is invalid for this one.
        let other = try network.vapid(for: "https://updates.push.services.mozilla.com")
        #expect(try await ask(authority, path, "", [("authorization", other), ("ttl", "0")]).status == 401)
        #expect(try await ask("push.example.com", path, "", []).status == 421)
        #expect(try await caller.act { $0.limits } == [100])
        try await caller.close()
        await network.end()
    }

    @Test func `credentials have the port or the external address, and without the service the real one's address`() async throws {
        let network = try await SimulatorNetwork(serving: Self.all, at: "Push.test:9443")
        let credentials = try network.control(.get, "/credentials")
        #expect(credentials["fcm"]?["token_uri"]?.string == "https://Push.test:9443/token")
        #expect(credentials["wns"]?["token_uri"]?.string == "https://Push.test:9443/accesstoken.srf")
        #expect(credentials["wns"]?["channel_hosts"]?.elements?.compactMap(\.string) == ["*.notify.windows.com", "Push.test:9443"])
        #expect(credentials["browser"]?["origin"]?.string == "https://Push.test:9443")
        let channel = try #require(try network.add("tom", "wns")["handle"]?.string)
        #expect(channel.hasPrefix("https://Push.test:9443/?token="))
        let caller = try await HTTP1Caller(network)
        let given = try await caller.ask(HTTP1Caller.post("/accesstoken.srf", network.microsoftForm, host: "push.test:9443", Self.form))
        let pushed = try await caller.ask(
            HTTP1Caller.post(
                Self.parts(of: channel).path, "x", host: "push.test:9443", "Authorization: Bearer \(HTTP1Caller.token(given.text))",
                "X-WNS-Type: wns/raw", "Content-Type: application/octet-stream"), answers: 2)
        #expect(pushed.line == "HTTP/1.1 200 OK", "\(pushed.text)")
        try await caller.close()
        await network.end()

        let alone = try await SimulatorNetwork(serving: [.fcm])
        let real = try alone.control(.get, "/credentials")
        #expect(real["fcm"]?["token_uri"]?.string == "https://localhost:\(alone.listener.port)/token")
        #expect(real["wns"]?["token_uri"]?.string == "https://login.live.com/accesstoken.srf")
        #expect(real["browser"]?["origin"]?.string == "https://updates.push.services.mozilla.com")
        #expect(try alone.add("tom", "wns")["handle"]?.string?.hasPrefix("https://wns2-db5p.notify.windows.com/?token=") == true)
        await alone.end()
    }

    @Test func `handles with any host are adopted when all of them are allowed`() async throws {
        let network = try await SimulatorNetwork(serving: Self.all, adopts: true)
        let caller = try await HTTP1Caller(network)
        let given = try await caller.ask(HTTP1Caller.post("/accesstoken.srf", network.microsoftForm, Self.form))
        let token = try HTTP1Caller.token(given.text)
        let fields = ["Authorization: Bearer \(token)", "X-WNS-Type: wns/raw", "Content-Type: application/octet-stream"]
        for (count, host) in [(2, "localhost:1"), (3, "db5.notify.windows.com")] {
            let pushed = try await caller.ask(
                HTTP1Caller.post("/?token=made-up", "x", host: host, fields[0], fields[1], fields[2]), answers: count)
            #expect(pushed.line == "HTTP/1.1 200 OK", "\(pushed.text)")
        }
        let origin = "https://localhost:\(network.listener.port)"
        let taken = try await caller.ask(
            HTTP1Caller.post("/wpush/v1/made-up", "", "Authorization: \(network.vapid(for: origin))", "TTL: 0"), answers: 4)
        #expect(taken.line == "HTTP/1.1 201 Created", "\(taken.text)")
        #expect(
            try network.control(.get, "/phones")["phones"]?.elements?.map { $0["handle"]?.string } == [
                "\(origin)/?token=made-up", "https://db5.notify.windows.com/?token=made-up", "\(origin)/wpush/v1/made-up",
            ])
        try await caller.close()
        await network.end()
    }

    @Test func `a service that runs alone has its own paths, and those of the control plane`() async throws {
        let network = try await SimulatorNetwork(serving: [.browser])
        let caller = try await HTTP1Caller(network)
        #expect(try await caller.ask(HTTP1Caller.post("/token", "")).line == "HTTP/1.1 404 Not Found")
        #expect(try await caller.ask("GET /health/live HTTP/1.1\nHost: localhost\n\n", answers: 2).text.hasSuffix(#"{"status":"live"}"#))
        for (count, host) in [(3, "fcm.googleapis.com"), (4, "login.live.com"), (5, "api.push.apple.com")] {
            let answer = try await caller.ask(HTTP1Caller.post("/", "", host: host), answers: count)
            #expect(answer.line == "HTTP/1.1 421 Misdirected Request")
            #expect(answer.text.contains("Host: updates.push.services.mozilla.com\""))
        }
        try await caller.close()
        await network.end()
    }

    @Test func `APNs refuses HTTP1 with a message`() async throws {
        let network = try await SimulatorNetwork(serving: Self.all)
        let caller = try await HTTP1Caller(network)
        let answer = try await caller.ask(HTTP1Caller.post("/3/device/00", "{}"))
        #expect(answer.line == "HTTP/1.1 505 HTTP Version Not Supported" && answer.text.contains("simulator.protocol"))
        try await caller.hear { _, isClosed in isClosed }
        await network.end()
    }

    @Test func `clients that name no protocol are recognised by their first bytes`() async throws {
        let network = try await SimulatorNetwork(serving: Self.all)
        let plain = try await HTTP1Caller(network, protocols: [])
        // Byte by byte.
        for letter in "P" + "OST /phones/nobody" { try await plain.write(String(letter)) }
        #expect(try await plain.ask(" HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n").line == "HTTP/1.1 404 Not Found")
        try await plain.close()
        let ana = try network.phone("ana")
        let multiplexed = try await HTTP2Caller(network, protocols: [])
        #expect(try await multiplexed.send(network.push(to: ana)).verdict == "200")
        try await multiplexed.close()
        await network.end()
    }

    @Test func `WNS alone does not support HTTP2`() async throws {
        let network = try await SimulatorNetwork(serving: [.wns])
        let caller = try await HTTP2Caller(network)
        let request = [(":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", "/")]
        #expect(try await caller.send(request, []).status == 0)
        try await caller.wait { _, isClosed in isClosed }
        await network.end()
    }
}

import HTTPTypes
import Simulators
import Testing

/// Checks of WNS, each with a valid request and one change that only this check refuses.
@Suite struct WNSCheckTests {
    let bench = WNSBench()

    @Test func `an access token of another package is 403`() async throws {
        let token = try await bench.accessToken()
        bench.simulator.update { $0.packageSID = "ms-app://s-1-15-2-2" }
        let request = { @Sendable (request: inout HTTPRequest) in request.set("authorization", "Bearer \(token)") }
        let (host, path) = WNSBench.parts(of: bench.lab.pushHandle(of: bench.phone) ?? "")
        var push = HTTPRequest(
            host: host, path: path, [("x-wns-type", "wns/raw"), ("content-type", "application/octet-stream"), ("content-length", "1")])
        request(&push)
        #expect(Reply(await bench.simulator.handle(push, body: [0x78])).status == 403)
        bench.simulator.update { $0.packageSID = "ms-app://s-1-15-2-1" }
        #expect(Reply(await bench.simulator.handle(push, body: [0x78])).status == 200)
    }

    @Test func `a handle of another service is not a channel`() async throws {
        let phone = bench.lab.addPhone(PhoneDescription(name: "eve", platform: .browser, app: PhoneApp("Example.News")))
        let endpoint = try #require(bench.lab.pushHandle(of: phone)?.split(separator: "\"").first { $0.hasPrefix("https") })
        #expect(try await bench.send(to: String(endpoint)).status == 404)
    }

    @Test func `the token endpoint requires POST`() async {
        let request = HTTPRequest(.get, host: "login.live.com", path: "/accesstoken.srf", [])
        #expect(Reply(await bench.simulator.handle(request, body: [])).status == 405)
    }

    @Test(arguments: [
        ("x-wns-cache-policy", "cache"), ("x-wns-requestforstatus", "TRUE"), ("x-wns-tag", "1234567890123456"), ("x-wns-group", "a"),
        ("x-wns-ttl", "2592000"), ("x-wns-priority", "1"), ("x-wns-priority", "4"),
        ("x-wns-priority", "High"), ("x-wns-priority", "VeryLow"),
    ])
    func `a header with a valid value is accepted`(name: String, value: String) async throws {
        #expect(try await bench.send { $0.set(name, value) }["x-wns-status"] == "received")
    }

    @Test func `requested refusals of access tokens and notifications have the requested wait`() async throws {
        #expect(bench.simulator.failGrants("invalid_client", count: 1))
        #expect(await bench.grant().status == 401)
        #expect(bench.simulator.fail("Throttled", count: 1, retryAfter: 3))
        #expect(try await bench.send()["retry-after"] == "3")
        #expect(bench.simulator.fail("ServiceUnavailable", count: 1))
        #expect(try await bench.send()["retry-after"] == "60")
        #expect(try await bench.send().status == 200)
    }
}

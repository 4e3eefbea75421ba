import HTTPTypes
import Testing

@testable import Simulators

@Suite struct ControlPlaneTests {
    @Test func `the active faults of a service are listed with their remaining counts until they are cleared`() async throws {
        let network = try await SimulatorNetwork()
        func faults(_ service: String) throws -> [String] {
            let list = try network.control(.get, "/faults/\(service)")
            #expect(list["service"]?.string == service)
            return try #require(list["faults"]?.elements).map(\.text)
        }
        #expect(try faults("fcm").isEmpty)
        let orders = [
            #"{"reason":"UNAVAILABLE","count":2,"retry_after":7}"#, #"{"reason":"INTERNAL","share":0.25}"#,
            #"{"reason":"UNREGISTERED","handle":"h"}"#, #"{"reason":"invalid_grant","at":"token","count":1}"#,
        ]
        for order in orders { _ = try network.control(.post, "/faults/fcm", order) }
        let ordered = [
            #"{"reason":"UNAVAILABLE","count":2,"handle":null,"share":null,"retry_after":7,"at":"send"}"#,
            #"{"reason":"INTERNAL","count":null,"handle":null,"share":0.25,"retry_after":null,"at":"send"}"#,
            #"{"reason":"UNREGISTERED","count":null,"handle":"h","share":null,"retry_after":null,"at":"send"}"#,
            #"{"reason":"invalid_grant","count":1,"handle":null,"share":null,"retry_after":null,"at":"token"}"#,
        ]
        #expect(try faults("fcm") == ordered)
        #expect(try faults("wns").isEmpty)
        // APNs has no token endpoint to refuse, and one of its faults is used up.
        let ana = try network.phone("ana")
        _ = try network.control(.post, "/faults/apns", #"{"reason":"TooManyRequests","count":2}"#)
        let caller = try await HTTP2Caller(network)
        #expect(try await caller.send(network.push(to: ana)).verdict == "429 TooManyRequests")
        #expect(
            try faults("apns") == [#"{"reason":"TooManyRequests","count":1,"handle":null,"share":null,"retry_after":null,"at":"send"}"#])
        #expect(try await caller.send(network.push(to: ana)).verdict == "429 TooManyRequests")
        #expect(try faults("apns").isEmpty)
        _ = try network.control(.delete, "/faults/fcm")
        #expect(try faults("fcm").isEmpty)
        try await caller.close()
        await network.end()
    }

    @Test func `a name is free again once the app is removed, for a new app with a new handle`() async throws {
        let network = try await SimulatorNetwork()
        func add(_ fields: String) throws -> (status: Int, body: JSONValue) { try Self.ask(network, .post, "/phones", fields) }
        let old = try #require(try add(#"{"name":"ana","platform":"fcm"}"#).body["handle"]?.string)
        #expect(try add(#"{"name":"ana","platform":"fcm"}"#).status == 409)
        _ = try network.control(.delete, "/phones/ana")
        #expect(try network.control(.get, "/phones/ana")["handle"] == .null)
        let new = try #require(try add(#"{"name":"ana","platform":"fcm","user":"Ana"}"#).body["handle"]?.string)
        #expect(new != old)
        let phones = try #require(try network.control(.get, "/phones")["phones"]?.elements)
        #expect(phones.map { $0["handle"]?.string } == [new] && phones.map { $0["user"]?.string } == ["Ana"])
        // The old handle stays dead.
        #expect(network.server.phones.record(of: old, adoptingAs: .init(name: "", platform: .fcm, app: PhoneApp("")))?.retiredAt != nil)
        // A chosen device token cannot be used again, as with Apple, and the phone stays.
        let token = String(repeating: "ab", count: 32)
        let chosen = #"{"name":"eve","platform":"apns","handle":"\#(token)"}"#
        #expect(try add(chosen).status == 201)
        _ = try network.control(.delete, "/phones/eve")
        #expect(try add(chosen).status == 409)
        #expect(try network.control(.get, "/phones/eve")["handle"] == .null)
        #expect(try add(chosen.replacing("abab", with: "abcd")).status == 201)
        await network.end()
    }

    @Test func `the ledger accepts its two parameters and no others`() async throws {
        let network = try await SimulatorNetwork()
        #expect(try Self.ask(network, .get, "/ledger?after=0&limit=1").status == 200)
        let refused = try Self.ask(network, .get, "/ledger?limit=1&foo=1")
        #expect(refused.status == 400 && refused.body["code"]?.string == "simulator.request")
        #expect(refused.body["message"]?.string == "unknown parameter \"foo\"")
        await network.end()
    }

    @Test func `an unknown path is answered with the existing paths`() async throws {
        let network = try await SimulatorNetwork()
        let hint = try #require(try Self.ask(network, .get, "/phones/ana/actions").body["hint"]?.string)
        let post = try #require(hint.split(separator: "POST ").last?.split(separator: "; DELETE").first)
        for path in ["/phones/{name}/actions", "/phones/{name}/channels", "/keys", "/connections"] { #expect(post.contains(path)) }
        #expect(hint.split(separator: ";").first?.contains("/faults/{service}") == true)
        await network.end()
    }

    /// The ledger contains empty objects as lines here.
    private static func ask(
        _ network: SimulatorNetwork, _ method: HTTPRequest.Method, _ path: String, _ body: String = ""
    ) throws -> (status: Int, body: JSONValue) {
        let request = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        let answer = network.server.responder.controlPlane.handle(request, body: Array(body.utf8))
        return (answer.response.status.code, JSONValue(answer.body) ?? .object([]))
    }
}

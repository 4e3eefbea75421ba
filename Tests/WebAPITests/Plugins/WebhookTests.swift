import Crypto
import Foundation
import HubWire
import PushModel
import Storage
import Support
import Synchronization
import Testing

@testable import WebAPI

/// Signed requests to plugins.
@Suite(.timeLimit(.minutes(5))) struct WebhookTests {
    private static let startTime = HubBench.startTime.seconds
    fileprivate static let target = "/plugins/greet/hook"
    fileprivate static let body = Array(#"{"paid": true, "text": "größer"}"#.utf8)

    /// The headers of a message as its sender creates them.
    private static func headers(
        _ scheme: WebhookScheme, secret: String = "s3cret", id: String = "m-1", at seconds: Int64 = Self.startTime,
        _ body: [UInt8] = Self.body
    ) -> [(String, String)] {
        func code(_ head: String) -> [UInt8] {
            Array(HMAC<SHA256>.authenticationCode(for: Array(head.utf8) + body, using: SymmetricKey(data: Array(secret.utf8))))
        }
        func hexadecimal(_ head: String) -> String { code(head).map { String(format: "%02x", $0) }.joined() }
        return switch scheme {
        case .pushhost: [("PushHost-Signature", "t=\(seconds),v1=\(hexadecimal("\(seconds)."))")]
        case .standard:
            [
                ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
                ("webhook-signature", "v1,\(Data(code("\(id).\(seconds).")).base64EncodedString())"),
            ]
        case .github: [("X-GitHub-Delivery", id), ("X-Hub-Signature-256", "sha256=\(hexadecimal(""))")]
        }
    }

    private static func route(
        _ scheme: WebhookScheme, at name: String = "hook", plugin: String = "greet", secret: Secret? = Secret("s3cret"),
        _ answering: @escaping ScriptedRoute.Answering = { ScriptedRoute.echo($0) }
    ) -> ScriptedRoute {
        var route = ScriptedRoute(
            plugin: plugin, method: "POST", pattern: [name], authentication: .webhook(secret: "hook_secret", scheme: scheme), answering)
        route.secret = { secret }
        return route
    }

    // MARK: - Signatures

    @Test(arguments: WebhookScheme.allCases)
    func `A signed message is accepted once, and recognised after a restart`(scheme: WebhookScheme) async throws {
        let (routing, spaces) = (ScriptedPlugins([Self.route(scheme)]), MemoryKeyValueSpaces())
        try await ServedPlugins.serving(routing, spaces: spaces) { served async throws in
            let answer = try await served.post(Self.headers(scheme))
            #expect(answer.status == 200 && answer.json["body"] == .string(String(decoding: Self.body, as: UTF8.self)))
            #expect(answer.json["delivery"] == (scheme == .pushhost ? .null : "m-1"))
            let again = try await served.post(Self.headers(scheme))
            #expect(again.status == 409 && again.code == "webhook.replayed")
        }
        try await ServedPlugins.serving(routing, spaces: spaces) { served async throws in
            #expect(try await served.post(Self.headers(scheme)).status == 409)
        }
        #expect(await spaces.names() == ["webhook:greet"])
    }

    @Test(arguments: WebhookScheme.allCases)
    func `A wrong or missing signature always has the same error, and the route does not run`(scheme: WebhookScheme) async throws {
        let (runs, spaces) = (Happenings(), MemoryKeyValueSpaces())
        let route = Self.route(scheme) { _ in
            runs.note("run")
            return PluginResponse(status: 200)
        }
        let right = Self.headers(scheme)
        let wrong: [([(String, String)], [UInt8])] = [
            ([], Self.body), (right, Self.body + [0x0A]), (right, []), (Self.headers(scheme, secret: "other"), Self.body),
            (Self.headers(scheme, secret: ""), Self.body), (right.map { ($0.0, "") }, Self.body),
            (right.map { ($0.0, String($0.1.dropLast())) }, Self.body), (right + right, Self.body),
            (right.map { ($0.0, $0.1.replacing("v1", with: "v2").replacing("sha256", with: "sha1")) }, Self.body),
        ]
        try await ServedPlugins.serving(ScriptedPlugins([route]), spaces: spaces) { served async throws in
            var details: Set<String> = []
            for (headers, body) in wrong {
                let answer = try await served.ask("POST", Self.target, headers, body)
                #expect(answer.status == 401 && answer.code == "webhook.signature", "\(headers)")
                details.insert(answer.json["detail"]?.string ?? "")
            }
            #expect(details.count == 1)
            // Nothing is stored, so that forged messages cannot block real ones.
            #expect(await spaces.names().isEmpty)
            #expect(try await served.post(right).status == 200)
        }
        #expect(runs.count == 1)
    }

    @Test(arguments: [WebhookScheme.pushhost, .standard])
    func `A signature that is too old or in the future is stale, which only its signer learns`(scheme: WebhookScheme) async throws {
        try await ServedPlugins.serving(ScriptedPlugins([Self.route(scheme)])) { served async throws in
            for (number, seconds) in [Self.startTime - 300, Self.startTime + 300].enumerated() {
                let headers = Self.headers(scheme, id: "m-\(number)", at: seconds)
                #expect(try await served.post(headers).status == 200, "\(seconds)")
            }
            for seconds in [Self.startTime - 301, Self.startTime + 301, 0, 999_999_999_999] {
                let stale = try await served.post(Self.headers(scheme, id: "s", at: seconds))
                #expect(stale.status == 401 && stale.code == "webhook.stale", "\(seconds)")
                let forged = Self.headers(scheme, secret: "guess", id: "s", at: seconds)
                #expect(try await served.post(forged).code == "webhook.signature")
            }
        }
    }

    @Test func `During a key rotation a message may have signatures of both keys`() async throws {
        let routing = ScriptedPlugins([Self.route(.pushhost), Self.route(.standard, at: "standard")])
        try await ServedPlugins.serving(routing) { served async throws in
            let (other, right) = (Self.headers(.pushhost, secret: "old")[0].1, Self.headers(.pushhost)[0].1)
            let signature = right.drop { $0 != "v" }
            let both = try await served.post([("PushHost-Signature", "\(other),\(signature)")])
            #expect(both.status == 200)
            // It is the same message, whatever else the header has.
            for header in [right, "v0=x, \(signature), \(other)"] {
                let again = try await served.post([("PushHost-Signature", header)])
                #expect(again.code == "webhook.replayed", "\(header)")
            }
            var headers = Self.headers(.standard)
            headers[2].1 = "v1a,AAAA v1,AAAA \(headers[2].1)"
            #expect(try await served.post(headers, to: "/plugins/greet/standard").status == 200)
        }
    }

    @Test func `A standard message is identified by its id, whatever its time and body`() async throws {
        try await ServedPlugins.serving(ScriptedPlugins([Self.route(.standard)])) { served async throws in
            #expect(try await served.post(Self.headers(.standard)).status == 200)
            let later = Self.headers(.standard, at: Self.startTime + 60)
            #expect(try await served.post(later).code == "webhook.replayed")
            #expect(try await served.post(Self.headers(.standard, id: "m-2")).status == 200)
        }
    }

    @Test(arguments: [WebhookScheme.standard, .github])
    func `Ids have a maximum length, and standard ids have no full stop`(scheme: WebhookScheme) async throws {
        try await ServedPlugins.serving(ScriptedPlugins([Self.route(scheme)])) { served async throws in
            let (longest, longer) = (String(repeating: "a", count: 256), String(repeating: "a", count: 257))
            #expect(try await served.post(Self.headers(scheme, id: longest)).status == 200)
            #expect(try await served.post(Self.headers(scheme, id: longer)).status == 401)
            let dotted = try await served.post(Self.headers(scheme, id: "a.1"))
            // GitHub's id is not signed, so another id does not make another message.
            #expect(dotted.status == (scheme == .standard ? 401 : 409))
        }
    }

    @Test func `A message without a time is remembered for three days`() async throws {
        let runs = Happenings()
        let route = Self.route(.github) { _ in
            runs.note("run")
            return PluginResponse(status: 202)
        }
        try await ServedPlugins.serving(ScriptedPlugins([route])) { served async throws in
            for (pause, status) in [(0, 202), (3 * 86_400 - 1, 409), (1, 202)] {
                served.bench.advance(by: .seconds(pause))
                #expect(try await served.post(Self.headers(.github)).status == status, "\(pause)")
            }
        }
        #expect(runs.count == 2)
    }

    @Test func `One message may be for several routes and plugins`() async throws {
        let routing = ScriptedPlugins([
            Self.route(.standard), Self.route(.standard, at: "other"), Self.route(.standard, plugin: "second"),
        ])
        try await ServedPlugins.serving(routing) { served async throws in
            for target in [Self.target, "/plugins/greet/other", "/plugins/second/hook"] {
                #expect(try await served.post(Self.headers(.standard), to: target).status == 200, "\(target)")
                #expect(try await served.post(Self.headers(.standard), to: target).status == 409)
            }
        }
    }

    // MARK: - Secrets

    @Test func `Without a secret everything is refused, including messages signed with an empty secret`() async throws {
        let routing = ScriptedPlugins([
            Self.route(.github, secret: nil), Self.route(.github, at: "empty", secret: Secret("")),
            Self.route(.standard, at: "broken", secret: Secret("whsec_***")), Self.route(.standard, at: "bare", secret: Secret("whsec_")),
        ])
        try await ServedPlugins.serving(routing) { served async throws in
            for name in ["hook", "empty", "broken", "bare"] {
                let scheme = ["hook", "empty"].contains(name) ? WebhookScheme.github : .standard
                let answer = try await served.post(Self.headers(scheme, secret: ""), to: "/plugins/greet/\(name)")
                #expect(answer.status == 503 && answer.code == "webhook.secret", "\(name)")
                #expect(!answer.text.contains("hook_secret"))
            }
            #expect(served.lines.all.contains { $0.contains("greet POST /hook needs the secret hook_secret") })
        }
    }

    @Test func `A change of the secret applies to the next message`() async throws {
        let current = SecretBox("first")
        var route = Self.route(.github)
        route.secret = { current.secret }
        try await ServedPlugins.serving(ScriptedPlugins([route])) { served async throws in
            #expect(try await served.post(Self.headers(.github, secret: "first")).status == 200)
            current.change("second")
            let old = try await served.post(Self.headers(.github, secret: "first", id: "m-2"))
            #expect(old.status == 401)
            let other = Array(#"{"other":true}"#.utf8)
            let new = try await served.ask("POST", Self.target, Self.headers(.github, secret: "second", id: "m-2", other), other)
            #expect(new.status == 200)
        }
    }

    // MARK: - Failures

    /// A repeated message before the first is answered, with the status of that answer: it may still fail.
    @Test(arguments: [(200, 409), (500, 200)])
    func `A message in progress has to be repeated, and is then accepted only if the first failed`(first: Int, later: Int) async throws {
        let (runs, gate) = (Happenings(), AsyncStream<Void>.makeStream())
        let route = Self.route(.standard) { _ in
            runs.note("run")
            guard runs.count == 1 else { return PluginResponse(status: 200) }
            for await _ in gate.stream {}
            return PluginResponse(status: first)
        }
        try await ServedPlugins.serving(ScriptedPlugins([route])) { served async throws in
            async let answer = served.post(Self.headers(.standard))
            try await until { runs.count == 1 }
            let meanwhile = try await served.post(Self.headers(.standard))
            #expect(meanwhile.status == 503 && meanwhile.code == "webhook.under_way")
            #expect(meanwhile.headers["retry-after"] == "5")
            gate.continuation.finish()
            #expect(try await answer.status == first)
            #expect(try await served.post(Self.headers(.standard)).status == later)
        }
    }

    @Test func `A message in progress on a killed server is accepted by the next one`() async throws {
        let (runs, gate, spaces) = (Happenings(), AsyncStream<Void>.makeStream(), MemoryKeyValueSpaces())
        let route = Self.route(.standard) { _ in
            runs.note("run")
            if runs.count == 1 { for await _ in gate.stream {} }
            return PluginResponse(status: 200)
        }
        try await ServedPlugins.serving(ScriptedPlugins([route]), spaces: spaces) { killed async throws in
            async let answer = killed.post(Self.headers(.standard))
            try await until { runs.count == 1 }
            // For another process it is as if the first one were gone.
            try await ServedPlugins.serving(ScriptedPlugins([route]), spaces: spaces) { next async throws in
                for expected in [200, 409] { #expect(try await next.post(Self.headers(.standard)).status == expected) }
            }
            gate.continuation.finish()
            _ = try await answer
        }
        #expect(runs.count == 2)
    }

    @Test(arguments: [500, 503, 408, 425, 429])
    func `A message that failed, or was postponed, may be repeated`(status: Int) async throws {
        let runs = Happenings()
        let route = Self.route(.standard) { _ in
            runs.note("run")
            return PluginResponse(status: runs.count == 1 ? status : 200)
        }
        try await ServedPlugins.serving(ScriptedPlugins([route])) { served async throws in
            for expected in [status, 200, 409] {
                #expect(try await served.post(Self.headers(.standard)).status == expected)
            }
        }
    }

    @Test func `A message whose route throws may be repeated, one that the plugin refused is final`() async throws {
        let runs = Happenings()
        let throwing = Self.route(.standard) { _ throws(PushError) in
            runs.note("run")
            if runs.count == 1 { throw PushError("route.failed", "it failed", status: 500) }
            if runs.count == 2 { throw PushError("lua.error", "it has no status") }
            return PluginResponse(status: 200)
        }
        let refusing = Self.route(.standard, at: "refusing") { _ throws(PushError) in
            throw PushError("request.parameter", "n is not a number", status: 400)
        }
        let answering = Self.route(.standard, at: "answering") { _ in PluginResponse(status: 422) }
        try await ServedPlugins.serving(ScriptedPlugins([throwing, refusing, answering])) { served async throws in
            for expected in [500, 500, 200, 409] {
                #expect(try await served.post(Self.headers(.standard)).status == expected)
            }
            // The host refused it before the plugin saw it, so it may be repeated with another address.
            for expected in [400, 400] {
                #expect(try await served.post(Self.headers(.standard), to: "/plugins/greet/refusing").status == expected)
            }
            for expected in [422, 409] {
                #expect(try await served.post(Self.headers(.standard), to: "/plugins/greet/answering").status == expected)
            }
        }
    }

    @Test func `A sender that disconnects before the answer may repeat the message`() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let runs = Happenings()
        let route = Self.route(.standard) { _ throws(PushError) in
            runs.note("run")
            guard runs.count == 1 else { return PluginResponse(status: 200) }
            begin.yield()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            throw PushError("route.failed", "cancelled", status: 500)
        }
        let spaces = ObservedSpaces()
        try await ServedPlugins.serving(ScriptedPlugins([route]), spaces: spaces) { served async throws in
            let caller = try await PlainCaller(port: served.port)
            let length = [("Content-Length", "\(Self.body.count)")]
            try await caller.write(ServedPlugins.head("POST", Self.target, Self.headers(.standard) + length) + Self.body)
            var iterator = begun.makeAsyncIterator()
            await iterator.next()
            try await caller.close()
            await spaces.removed()
            #expect(try await served.post(Self.headers(.standard)).status == 200)
        }
    }

    @Test func `When a message cannot be recorded the route does not run`() async throws {
        let runs = Happenings()
        let route = Self.route(.standard) { _ in
            runs.note("run")
            return PluginResponse(status: 200)
        }
        let spaces = MemoryKeyValueSpaces(quota: KeyValueQuota(entries: 1, bytes: 1_000))
        try await ServedPlugins.serving(ScriptedPlugins([route]), spaces: spaces) { served async throws in
            #expect(try await served.post(Self.headers(.standard)).status == 200)
            let full = try await served.post(Self.headers(.standard, id: "m-2"))
            #expect(full.status == 507 && full.code == "kv.full")
        }
        #expect(runs.count == 1)
    }
}

extension ServedPlugins {
    /// Sends the message of these tests.
    fileprivate func post(_ headers: [(String, String)], to target: String = WebhookTests.target) async throws -> PlainAnswer {
        try await ask("POST", target, headers, WebhookTests.body)
    }
}

private final class SecretBox: Sendable {
    private let text: Mutex<String>

    init(_ text: String) { self.text = Mutex(text) }

    var secret: Secret { Secret(text.withLock { $0 }) }
    func change(_ new: String) { text.withLock { $0 = new } }
}

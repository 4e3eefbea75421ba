import Foundation
import HTTPTypes
import HubWire
import Logging
import PushBackend
import PushHub
import PushModel
import Storage
import Support
import Testing

@testable import WebAPI

/// Access to routes of plugins.
@Suite(.timeLimit(.minutes(5))) struct PluginAccessTests {
    private func basic(_ pair: String) -> (String, String) { ("Authorization", "Basic \(Data(pair.utf8).base64EncodedString())") }

    // MARK: - Accounts

    @Test func `A user with a password or a session is named to the plugin, which never sees the password`() async throws {
        try await ServedPlugins.serving(ScriptedPlugins([ScriptedRoute(authentication: .account)])) { served in
            let session = try await served.bench.accounts.login(username: "alice", password: Secret("a:b"))
            for header in [basic("ALICE:a:b"), ("Authorization", "Bearer \(session.token.reveal())")] {
                let answer = try await served.ask("GET", "/plugins/greet", [header])
                #expect(answer.status == 200 && answer.json["username"] == "alice")
                #expect(answer.json["headers"]?["authorization"] == nil)
            }
            try await served.bench.accounts.logout(session.token)
            let over = try await served.ask("GET", "/plugins/greet", [("Authorization", "Bearer \(session.token.reveal())")])
            #expect(over.status == 401 && over.code == "auth.session_expired")
            #expect(over.headers["www-authenticate"] == #"Bearer error="invalid_token""#)
        }
    }

    @Test func `An unauthenticated request gets the methods of authentication, and the plugin does not run`() async throws {
        let runs = Happenings()
        let route = ScriptedRoute(authentication: .account) { _ in
            runs.note("run")
            return PluginResponse(status: 200)
        }
        try await ServedPlugins.serving(ScriptedPlugins([route])) { served in
            for headers in [[], [("Authorization", "Basic ?")], [try served.token(nil)]] {
                let answer = try await served.ask("GET", "/plugins/greet", headers)
                #expect(answer.status == 401 && answer.code == "auth.failed")
                #expect(answer.headers["www-authenticate"] == #"Basic realm="PushHost", charset="UTF-8", Bearer realm="PushHost""#)
            }
            for pair in ["alice:wrong", "nobody:a:b", ":", "alice:"] {
                let answer = try await served.ask("GET", "/plugins/greet", [basic(pair)])
                #expect(answer.status == 401 && answer.code == "auth.failed", "\(pair)")
                #expect(answer.headers["www-authenticate"] == #"Basic realm="PushHost", charset="UTF-8""#)
            }
        }
        #expect(runs.count == 0)
    }

    @Test func `Failed passwords are limited`() async throws {
        try await ServedPlugins.serving(ScriptedPlugins([ScriptedRoute(authentication: .account)])) { served in
            for number in 0..<10 { _ = try await served.ask("GET", "/plugins/greet", [basic("alice:\(number)")]) }
            let answer = try await served.ask("GET", "/plugins/greet", [basic("alice:a:b")])
            #expect(answer.status == 429 && answer.code == "auth.throttled" && answer.headers["retry-after"] == "6")
        }
    }

    // MARK: - Keys

    @Test(arguments: SASRight.allCases)
    func `A key has access if its rule has the right`(right: SASRight) async throws {
        try await ServedPlugins.serving(ScriptedPlugins([ScriptedRoute(authentication: .sas(right))])) { served in
            for rule in [Namespace.listenRule, Namespace.fullRule, nil] {
                let answer = try await served.ask("GET", "/plugins/greet", [try served.token(rule)])
                let isAllowed = rule != Namespace.listenRule || right == .listen
                // As clients of hubs sign.
                #expect(answer.status == (isAllowed ? 200 : right == .manage ? 401 : 403), "\(rule ?? "")")
                if isAllowed {
                    #expect(answer.json["headers"]?["authorization"] == nil)
                } else {
                    #expect(answer.code == "sas.forbidden")
                }
            }
        }
    }

    @Test func `A token must be signed, unexpired and for the path or one above it`() async throws {
        let routing = ScriptedPlugins([ScriptedRoute(pattern: ["a", "*"], authentication: .sas(.listen))])
        try await ServedPlugins.serving(routing) { served in
            for resource in [
                "sb://localhost/", "https://localhost/plugins", "sb://localhost/plugins/greet/a", "sb://localhost/plugins/greet/a/b",
            ] {
                let answer = try await served.ask("GET", "/plugins/greet/a/b", [try served.token(nil, for: resource)])
                #expect(answer.status == 200, "\(resource)")
            }
            for resource in ["sb://other/", "sb://localhost/hub", "sb://localhost/plugins/other", "sb://localhost/plugins/greet/a/c"] {
                let answer = try await served.ask("GET", "/plugins/greet/a/b", [try served.token(nil, for: resource)])
                #expect(answer.status == 401 && answer.code == "sas.audience", "\(resource)")
            }
            #expect(try await served.ask("GET", "/plugins/greet/a/b").code == "sas.missing")
            let (name, token) = try served.token(nil)
            #expect(try await served.ask("GET", "/plugins/greet/a/b", [(name, token.replacing("sig=", with: "sig=A"))]).status == 401)
            served.bench.advance(by: .seconds(3600))
            #expect(try await served.ask("GET", "/plugins/greet/a/b", [(name, token)]).code == "sas.expired")
        }
    }

    // MARK: - While a body is received

    /// Answers a request to a route; something else happens before its body arrives.
    private func call(
        _ bench: BackendBench, _ authentication: RouteAuthentication, _ authorization: String, _ runs: Happenings,
        while meanwhile: @escaping @Sendable () async throws(PushError) -> Void
    ) async -> PushError? {
        let access = bench.bench.access
        let route = ScriptedRoute(method: "POST", authentication: authentication) { _ in
            runs.note("run")
            return PluginResponse(status: 200)
        }
        let routing = ScriptedPlugins([route])
        let interface = PluginInterface(
            services: PluginRouteServices(routing: routing, spaces: MemoryKeyValueSpaces()), access: access,
            accounts: bench.authenticator, log: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() })
        let request = WebRequest(
            method: .post, server: WebRequest.Server(base: "http://localhost", authority: "localhost"), path: "/plugins/greet",
            query: RequestQuery(parsing: ""),
            fields: [.authorization: authorization],
            body: RequestBody { _ throws(PushError) in
                try await meanwhile()
                return []
            },
            receipt: WebRequest.Receipt(trackingID: "t", time: HubBench.startTime, revision: access.namespace.revision),
            client: WebRequest.Client(address: "10.0.0.1"))
        return await refusal {
            let place = try #require(PluginPath("/plugins/greet", .post, routing))
            return try await interface.answer(request, at: place)
        }
    }

    @Test func `Access that is revoked while the body is received is refused`() async throws {
        let (bench, runs) = (try await BackendBench(), Happenings())
        let (accounts, namespace) = (bench.bench.accounts, bench.bench.access.namespace)
        let session = try await accounts.login(username: "bob", password: Secret("b"))
        let closed = await call(bench, .account, "Bearer \(session.token.reveal())", runs) { () throws(PushError) in
            try await accounts.logout(session.token)
        }
        #expect(closed?.code == "auth.session_expired" && closed?.status == 401)
        let changed = await call(bench, .account, BackendBench.alice, runs) { () throws(PushError) in
            try await accounts.changePassword(of: "alice", to: Secret("new"))
        }
        #expect(changed?.status == 401)
        let rule = try #require(namespace.hub("hub")?.record.description.rules.first { $0.name == Namespace.fullRule })
        let token = SASToken(minting: "sb://localhost/", rule: rule, expiration: HubBench.startTime + .seconds(60)).header
        let revoked = await call(bench, .sas(.send), token, runs) { () throws(PushError) in try await namespace.delete("hub") }
        #expect(revoked?.code == "hub.not_found")
        #expect(runs.count == 0)
        let root = try #require(namespace.rules.first)
        let own = SASToken(minting: "sb://localhost/", rule: root, expiration: HubBench.startTime + .seconds(60)).header
        #expect(await call(bench, .sas(.send), own, runs) {} == nil)
        #expect(runs.count == 1)
    }
}

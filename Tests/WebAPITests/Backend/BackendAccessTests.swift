import Foundation
import HTTPTypes
import PushBackend
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

/// Access to the app backend.
@Suite struct BackendAccessTests {
    private static let paths: [(HTTPRequest.Method, String)] = [
        (.post, "/api/register"), (.put, "/api/register/1-2-3"), (.delete, "/api/register/1-2-3"), (.post, "/api/notifications"),
        (.get, "/api/notifications"),
        (.get, "/api/notifications/1"), (.delete, "/api/notifications/1"), (.get, "/api/notifications/1/reads"), (.post, "/api/logout"),
    ]

    private func basic(_ pair: String) -> String { "Basic \(Data(pair.utf8).base64EncodedString())" }

    @Test func `Missing, unknown and wrong credentials get the same empty answer on every path`() async throws {
        let bench = try await BackendBench()
        for (method, path) in Self.paths {
            for authorization in [nil, "Basic ?", "SharedAccessSignature sr=a"] {
                let answer = try await bench.call(method, path, by: authorization)
                #expect(answer.status == .forbidden && answer.body.isEmpty && answer.fields.isEmpty, "\(path)")
            }
        }
        for pair in ["nobody:x", "alice:wrong", "alice:a", "alice:", ":", "alice"] {
            let answer = try await bench.call(.post, "/api/register", by: basic(pair))
            #expect(answer.status == .forbidden && answer.body.isEmpty && answer.fields.isEmpty, "\(pair)")
        }
    }

    @Test func `The answer to a refused login does not mention scripts`() async throws {
        let bench = try await BackendBench()
        let body = #"{"username":"alice","password":"wrong"}"#
        let error = await refusal { try await bench.call(.post, "/api/login", body, by: nil) }
        #expect(error?.code == "auth.failed" && error?.hint == "check both")
    }

    @Test func `Too many failures are answered with a retry time, and do not affect tokens`() async throws {
        let bench = try await BackendBench()
        let bearer = "Bearer \(try await bench.json(.post, "/api/login")["token"]?.string ?? "")"
        for number in 0..<10 {
            #expect(try await bench.call(.post, "/api/register", by: basic("alice:\(number)")).status == .forbidden)
        }
        let error = await refusal { try await bench.call(.post, "/api/register", by: basic("alice:11")) }
        #expect(error?.code == "auth.throttled" && error?.status == 429 && error?.details["retryAfter"] == 6)
        #expect(await refusal { try await bench.call(.post, "/api/register") }?.code == "auth.throttled")
        #expect(try await bench.call(.post, "/api/register", by: bearer).status == .ok)
    }

    @Test func `A session is opened with a name and a password, by body or header, and is invalid after its end`() async throws {
        let bench = try await BackendBench()
        let byBody = try await bench.json(.post, "/api/login", #"{"Username":"ALICE","password":"a:b"}"#, by: nil)
        let byHeader = try await bench.json(.post, "/hub/api/login")
        for session in [byBody, byHeader] {
            #expect(session["username"] == "alice" && session["tokenType"] == "Bearer")
            #expect(session["expiresAt"] == .string((HubBench.startTime + .seconds(3600)).description))
            let bearer = "Bearer \(session["token"]?.string ?? "")"
            #expect(try await bench.call(.post, "/api/register", by: bearer).status == .ok)
            #expect(try await bench.call(.post, "/api/logout", by: bearer).status == .noContent)
            let error = await refusal { try await bench.call(.post, "/api/register", by: bearer) }
            #expect(error?.status == 401 && error?.details["challenge"] == #"Bearer error="invalid_token""#)
        }
        let wrong = await refusal { try await bench.call(.post, "/api/login", #"{"username":"alice","password":"x"}"#, by: nil) }
        #expect(wrong?.code == "auth.failed" && wrong?.status == 401)
        #expect(try await bench.call(.post, "/api/login", by: basic("alice:x")).status == .forbidden)
        for body in ["", "[]", #"{"username":"alice"}"#, #"{"username":"alice","password":1}"#] {
            #expect(await refusal { try await bench.call(.post, "/api/login", body, by: nil) }?.status == 400)
        }
    }

    @Test func `A session closed, or a hub deleted, while the body is received makes the request fail`() async throws {
        let bench = try await BackendBench()
        let accounts = bench.bench.accounts
        let token = try await bench.json(.post, "/api/login")["token"]?.string ?? ""
        let closed = await refusal {
            try await bench.call(.post, "/api/notifications", #"{"to":"bob","payload":1}"#, by: "Bearer \(token)") { () throws(PushError) in
                try await accounts.logout(Secret(token))
            }
        }
        #expect(closed?.status == 401)
        let changed = try await bench.call(.post, "/api/notifications?to_tag=alice", #""Hi""#, by: BackendBench.bob, [:]) {
            () throws(PushError) in try await accounts.changePassword(of: "bob", to: Secret("new"))
        }
        #expect(changed.status == .forbidden && changed.body.isEmpty)
        let namespace = bench.bench.access.namespace
        let gone = await refusal {
            try await bench.call(.post, "/api/notifications") { () throws(PushError) in
                try await namespace.delete("hub")
                _ = try await namespace.create("hub", HubDescription())
            }
        }
        #expect(gone?.status == 404)
    }

    @Test func `A path has its methods, its hub must exist, and requests are limited per user`() async throws {
        let bench = try await BackendBench(requestsPerMinute: 2)
        let error = await refusal { try await bench.call(.get, "/api/register") }
        #expect(error?.status == 405 && error?.details["allow"] == "POST")
        let peek = await refusal { try await bench.call(.head, "/api/notifications/1") }
        #expect(peek?.status == 405 && peek?.details["allow"] == "GET, DELETE")
        #expect(await refusal { try await bench.call(.post, "/other/api/register") }?.status == 404)
        #expect(try await bench.call(.post, "/api/register").status == .ok)
        let throttled = await refusal { try await bench.call(.post, "/api/register") }
        #expect(throttled?.code == "hub.throttled" && throttled?.details["retryAfter"] == 30)
        #expect(try await bench.call(.post, "/api/register", by: BackendBench.bob).status == .ok)
    }

    @Test func `The backend is unavailable while a backup is restored`() async throws {
        let bench = try await BackendBench()
        try await bench.bench.access.namespace.restore({ bench.bench.store }) { willReplace throws(PushError) in
            await willReplace()
            do {
                _ = try await bench.call(.post, "/api/register")
                Issue.record("an answer")
            } catch {
                #expect((error as? PushError)?.code == "hub.restoring")
            }
        }
    }
}

import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct UserManagementTests {
    @Test func `Users are created, listed in pages, given other passwords and removed`() async throws {
        let bench = try await ManagementBench()
        for name in ["bob", "Alice", "carol", "zoë@example.org"] {
            #expect(
                try await bench.call(.post, "/api/v1/users", ["username": .string(name), "password": "p"]) == ["username": .string(name)])
        }
        let pages = try await bench.pages("/api/v1/users?top=3")
        #expect(pages.items.map { $0["username"] } == ["Alice", "bob", "carol", "zoë@example.org"] && pages.sizes == [3, 1])
        let session = try await bench.bench.accounts.login(username: "alice", password: Secret("p"))
        try await bench.call(.put, "/api/v1/users/ALICE/password", ["password": "q"])
        #expect(await refusal { try await bench.bench.accounts.session(for: session.token) } != nil)
        _ = try await bench.bench.accounts.login(username: "alice", password: Secret("q"))
        try await bench.call(.delete, "/api/v1/users/zo%C3%AB@example.org")
        #expect(try await bench.list("/api/v1/users?", "username") == ["Alice", "bob", "carol"])
    }

    @Test func `Invalid requests are refused, and no answer has a password`() async throws {
        let bench = try await ManagementBench()
        let password: JSON = "UNSPEAKABLE"
        try await bench.call(.post, "/api/v1/users", ["username": "alice", "password": password])
        func code(_ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil) async -> String? {
            let error = await refusal { try await bench.call(method, path, body) }
            #expect(error?.description.contains("UNSPEAKABLE") == false)
            return error?.code
        }
        #expect(await code(.post, "/api/v1/users", ["username": "ALICE", "password": password]) == "auth.account_exists")
        #expect(await code(.post, "/api/v1/users", ["username": "a b", "password": password]) == "request.body")
        #expect(await code(.post, "/api/v1/users", ["username": "bob", "password": ""]) == "request.body")
        #expect(await code(.post, "/api/v1/users", ["username": "bob"]) == "request.body")
        #expect(await code(.put, "/api/v1/users/alcie/password", ["password": password]) == "auth.unknown_user")
        #expect(await code(.delete, "/api/v1/users/bob") == "auth.unknown_user")
        let rule = try bench.rule(Namespace.fullRule)
        let foreign = await refusal { try await bench.call(.get, "/api/v1/users", by: rule) }
        #expect(foreign?.status == 401)
    }

    @Test func `A key that is revoked while a password is hashed creates no user`() async throws {
        let bench = try await ManagementBench()
        let late = await refusal {
            try await bench.bench.accounts.add(username: "eve", password: Secret("p")) { () throws(PushError) in
                throw SASError.signature.error("late")
            }
        }
        #expect(late?.code == "sas.signature")
        #expect(try await bench.list("/api/v1/users?", "username") == [])
    }
}

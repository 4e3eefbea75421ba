import HTTPTypes
import PushHub
import PushModel
import Storage
import Support
import Testing

@testable import WebAPI

@Suite struct KeyManagementTests {
    @Test(arguments: ["/api/v1/keys", "/api/v1/hubs/hub/keys"])
    func `The ceiling of a key is permanent, and a key with Manage cannot have one`(path: String) async throws {
        let bench = try await ManagementBench()
        let made = try await bench.call(.post, path, ["name": "app", "rights": ["Send"], "ceiling": 1000])
        #expect(made["ceiling"] == 1000)
        #expect(try await bench.call(.post, "\(path)/app/rotate", ["key": "primary"])["ceiling"] == 1000)
        #expect(try await bench.pages(path + "?").items.last?["ceiling"] == 1000)
        let error = await refusal {
            try await bench.call(.post, path, ["name": "ops", "rights": ["Send", "Manage"], "ceiling": 1000])
        }
        #expect(error?.code == "key.ceiling" && error?.status == 409)
        #expect(
            await refusal { try await bench.call(.post, path, ["name": "ops", "rights": ["Send"], "ceiling": 0]) }?.code == "request.body")
    }

    @Test func `Updating a hub's description, which has no ceilings, leaves them unchanged`() async throws {
        let bench = try await ManagementBench()
        try await bench.call(.post, "/api/v1/hubs/hub/keys", ["name": "app", "rights": ["Send"], "ceiling": 7])
        func update(_ change: (inout AuthorizationRule) -> Void) async throws {
            var description = try #require(bench.namespace.hub("hub")?.record.description)
            for index in description.rules.indices {
                description.rules[index].ceiling = nil
                if description.rules[index].name == "app" { change(&description.rules[index]) }
            }
            _ = try await bench.namespace.update("hub", description)
        }
        try await update { _ in }
        #expect(try bench.rule("app").ceiling == 7)
        try await update { $0.rights = [.listen, .send] }
        #expect(try bench.rule("app").ceiling == 7)
        // A key with Manage could create another key for itself.
        try await update { $0.rights = [.manage] }
        #expect(try bench.rule("app").ceiling == nil)
        let kept = bench.bench.store.load().hubs[0].description.rules.first { $0.name == "app" }
        #expect(kept?.rights == [.manage] && kept?.ceiling == nil)
    }

    @Test(arguments: ["/api/v1/keys", "/api/v1/hubs/hub/keys"])
    func `A key is created, shown on request, used, rotated and removed`(path: String) async throws {
        let bench = try await ManagementBench()
        let made = try await bench.call(.post, path, ["name": "ops", "rights": ["Send", "Manage"]])
        #expect(made["rights"] == ["Manage", "Send"])
        func rule() throws -> AuthorizationRule {
            try #require((path == "/api/v1/keys" ? bench.namespace.rules : bench.namespace.hub("hub")?.record.description.rules ?? []).last)
        }
        let before = try rule()
        #expect(made["primaryKey"]?.string == before.primaryKey.reveal() && made["secondaryKey"]?.string == before.secondaryKey.reveal())
        let hidden = try #require(try await bench.pages(path + "?").items.last)
        #expect(hidden["name"] == "ops" && hidden["primaryKey"] == nil && hidden["secondaryKey"] == nil)
        #expect(try await bench.list(path + "?reveal=true", "secondaryKey").last == before.secondaryKey.reveal())

        try await bench.call(.get, "/api/v1/hubs/hub", by: before)
        let rotated = try await bench.call(.post, "\(path)/ops/rotate", ["key": "primary"])
        let after = try rule()
        #expect(rotated["primaryKey"]?.string == after.primaryKey.reveal() && after.primaryKey != before.primaryKey)
        #expect(after.secondaryKey == before.secondaryKey)
        #expect(await refusal { try await bench.call(.get, "/api/v1/hubs/hub", by: before) }?.code == "sas.signature")
        try await bench.call(.get, "/api/v1/hubs/hub", by: after)

        try await bench.call(.delete, "\(path)/ops")
        #expect(await refusal { try await bench.call(.get, "/api/v1/hubs/hub", by: after) }?.code == "sas.signature")
        let missing = await refusal { try await bench.call(.post, "\(path)/ops/rotate", ["key": "secondary"]) }
        #expect(missing?.code == "key.not_found" && missing?.status == 404)
    }

    @Test func `A name belongs to one rule, of the server or of a hub`() async throws {
        let bench = try await ManagementBench()
        for (path, name) in [
            ("/api/v1/keys", "defaultlistensharedaccesssignature"), ("/api/v1/hubs/hub/keys", Namespace.rootRule),
            ("/api/v1/keys", Namespace.rootRule), ("/api/v1/hubs/hub/keys", Namespace.listenRule),
        ] {
            let error = await refusal { try await bench.call(.post, path, ["name": .string(name), "rights": ["Listen"]]) }
            #expect(error?.code == "key.exists" && error?.status == 409, "\(name)")
        }
    }

    @Test func `Keys created concurrently are all stored`() async throws {
        let bench = try await ManagementBench()
        try await withThrowingTaskGroup { group in
            for number in 1...20 {
                group.addTask {
                    for hub in [nil, "hub"] {
                        _ = try await bench.namespace.ruleEditor.add("\(hub ?? "server")-\(number)", [.send], to: hub)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(bench.namespace.rules.count == 21 && bench.namespace.hub("hub")?.record.description.rules.count == 22)
        let kept = bench.bench.store.load()
        #expect(kept.rules.count == 21 && kept.hubs[0].description.rules.count == 22)
    }

    /// A store whose writes suspend, as on a disk.
    private struct PoliteStore: NamespaceStore {
        private let store = MemoryNamespaceStore()

        private func waitForOthers() async {
            for _ in 0..<5 { await Task.yield() }
        }

        func load() -> StoredNamespace { store.load() }
        func putRules(_ rules: [AuthorizationRule]) async {
            await waitForOthers()
            store.putRules(rules)
        }
        func putHub(_ hub: HubRecord) async throws(PushError) {
            await waitForOthers()
            try store.putHub(hub)
        }
        func removeHub(_ number: Int64) async { await store.removeHub(number) }
        func store(ofHub number: Int64) -> any HubStore { store.store(ofHub: number) }
    }

    @Test func `Of two rules with the same name, created concurrently for the server and a hub, one is refused`() async throws {
        let namespace = try await Namespace(
            environment: try HubBench().environment, store: PoliteStore(), settings: HubSettings(), connectors: { _ in [] })
        try await namespace.resume()
        _ = try await namespace.create("hub", HubDescription())
        let codes = await withTaskGroup { group in
            for number in 1...4 {
                for hub in [nil, "hub"] {
                    group.addTask { await refusal { try await namespace.ruleEditor.add("rule-\(number)", [.send], to: hub) }?.code }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 4 && codes.count { $0 == "key.exists" } == 4)
    }

    @Test func `The last managing key of the server cannot be removed`() async throws {
        let bench = try await ManagementBench()
        try await bench.call(.post, "/api/v1/keys", ["name": "sender", "rights": ["Send"]])
        let error = await refusal { try await bench.call(.delete, "/api/v1/keys/\(Namespace.rootRule)") }
        #expect(error?.code == "key.last" && error?.status == 409)
        let root = try bench.root
        try await bench.call(.post, "/api/v1/keys", ["name": "other", "rights": ["Manage"]])
        try await bench.call(.delete, "/api/v1/keys/\(Namespace.rootRule)", by: root)
        #expect(bench.namespace.rules.map(\.name) == ["sender", "other"])
    }

    @Test func `Every key allows what its rights say and no more`() async throws {
        let bench = try await ManagementBench()
        try await bench.call(.post, "/api/v1/hubs", ["name": "other"])
        try await bench.call(.post, "/api/v1/hubs/hub/keys", ["name": "send", "rights": ["Send"]])
        let listen = try bench.rule(Namespace.listenRule)
        let (full, send) = (try bench.rule(Namespace.fullRule), try bench.rule("send"))
        let stranger = try bench.rule(Namespace.fullRule, of: "other")
        for route in ManagementRoute.all {
            let path = route.operation.path.replacing("{hub}", with: "hub").replacing("{id}", with: "x").replacing("{name}", with: "x")
            func answer(_ rule: AuthorizationRule, _ resource: String = "sb://localhost/") async -> String? {
                await refusal { try await bench.call(route.operation.method, path, [:], by: rule, for: resource) }?.code
            }
            let refused = ["sas.signature", "sas.forbidden"]
            #expect(refused.contains(await answer(listen) ?? ""), "\(route.operation.name)")
            #expect(await answer(stranger) == "sas.signature", "\(route.operation.name)")
            guard route.access.scope == .hub else {
                #expect(await answer(full) == "sas.signature", "\(route.operation.name)")
                continue
            }
            #expect(await answer(send) == "sas.forbidden" || route.access.right == .send, "\(route.operation.name)")
            #expect(await answer(full, "sb://localhost/other") == "sas.audience", "\(route.operation.name)")
            guard route.operation.name != "deleteHub" else { continue }
            #expect(!refused.contains(await answer(full) ?? ""), "\(route.operation.name)")
            // As clients of the hub's own interface sign.
            #expect(await answer(full, "sb://localhost/HUB") != "sas.audience", "\(route.operation.name)")
            #expect(await answer(full, "sb://localhost/api/v1/hubs/hub") != "sas.audience", "\(route.operation.name)")
        }
        try await bench.call(.post, "/api/v1/hubs", ["name": "shop/eu"])
        let deep = try bench.rule(Namespace.fullRule, of: "shop/eu")
        try await bench.call(.get, "/api/v1/hubs/shop%2Feu", by: deep, for: "sb://localhost/shop/eu")
        try await bench.call(.delete, "/api/v1/hubs/hub", by: full)
        #expect(bench.namespace.hubs.map(\.record.name) == ["other", "shop/eu"])
    }
}

import Bindings
import Foundation
import HostSupport
import Lua
import PushLab
import PushModel
import Testing

/// The specs of the bundled flows pass, and fail when the hub or the backend has a fault.
@Suite struct BundledSpecTests {
    /// A fault of the hub or backend that a flow's spec must notice.
    struct Fault: Sendable, CustomTestStringConvertible {
        var spec: String
        var what: String
        var hub: @Sendable (any HubGateway) -> any HubGateway = { $0 }
        var backend: @Sendable (any BackendGateway, any HubGateway) -> any BackendGateway = { backend, _ in backend }

        var testDescription: String { "\(spec): \(what)" }
    }

    private static func tags(_ change: @escaping @Sendable ([PushModel.Tag]) -> [PushModel.Tag])
        -> @Sendable (any HubGateway) -> any HubGateway
    {
        {
            FaultyHub(
                base: $0,
                storing: { description in
                    var changed = description
                    changed.tags = change(description.tags)
                    return changed
                })
        }
    }

    /// Replaces text in native payloads and in properties.
    private static func text(
        _ old: String, _ new: String
    ) -> @Sendable (any HubGateway) -> any HubGateway {
        {
            FaultyHub(
                base: $0,
                sending: { request in
                    var changed = request
                    switch request.content {
                    case .native(let payloads):
                        changed.content = .native(
                            payloads.mapValues { payload in
                                let body = String(decoding: payload.body, as: UTF8.self).replacing(old, with: new)
                                return NativePayload(body: Array(body.utf8), headers: payload.headers)
                            })
                    case .template(let properties):
                        changed.content = .template(properties.mapValues { $0.replacing(old, with: new) })
                    }
                    return changed
                })
        }
    }

    private static let tag: @Sendable (String) -> PushModel.Tag? = { PushModel.Tag(validating: $0) }

    static let faults: [Fault] = [
        Fault(spec: "notify_users", what: "the user's tag is left out", hub: tags { $0.filter { !$0.text.hasPrefix("username:") } }),
        Fault(
            spec: "notify_users", what: "every device gets alice's tag as well",
            hub: tags { $0 + [tag("username:alice")].compactMap { $0 } }),
        Fault(spec: "notify_users", what: "the text is cut short", hub: text("Your", "You")),
        Fault(spec: "notify_users", what: "every notification goes out twice", hub: { FaultyHub(base: $0, copies: 2) }),
        Fault(
            spec: "notify_users", what: "it goes to everyone",
            hub: {
                FaultyHub(
                    base: $0,
                    sending: { request in
                        var changed = request
                        changed.audience = .everyone
                        return changed
                    })
            }),
        Fault(
            spec: "notify_users", what: "failures are reported as deliveries",
            hub: {
                FaultyHub(
                    base: $0,
                    answering: { outcome in
                        var changed = outcome
                        for index in changed.devices.indices { changed.devices[index].outcome = .success }
                        changed.tally.counts = [:]
                        changed.tally.count(changed.devices)
                        return changed
                    })
            }),

        Fault(
            spec: "register_current_user", what: "a known registration is not found, and another one is made",
            hub: { FaultyHub(base: $0, listing: { _ in RegistrationPage(registrations: [], continuation: nil) }) }),
        Fault(
            spec: "register_current_user", what: "the user's name is not a tag",
            hub: tags { $0.filter { !["alice", "bob"].contains($0.text) } }),
        Fault(
            spec: "register_current_user", what: "the one before keeps the phone",
            hub: tags { $0 + [tag("alice")].compactMap { $0 } }),
        Fault(spec: "register_current_user", what: "the test notification names another user", hub: text("bob", "carol")),

        Fault(
            spec: "breaking_news", what: "phones are subscribed to Sports as well",
            hub: tags { $0 + [tag("Sports")].compactMap { $0 } }),
        Fault(spec: "breaking_news", what: "one category is lost", hub: tags { Array($0.dropLast()) }),
        Fault(
            spec: "breaking_news", what: "the property of the template is dropped",
            hub: {
                FaultyHub(
                    base: $0,
                    sending: { request in
                        var changed = request
                        if case .template(var properties) = request.content {
                            properties["messageParam"] = nil
                            changed.content = .template(properties)
                        }
                        return changed
                    })
            }),
        Fault(
            spec: "breaking_news", what: "translations are dropped",
            hub: {
                FaultyHub(
                    base: $0,
                    sending: { request in
                        var changed = request
                        if case .template(let properties) = request.content {
                            changed.content = .template(properties.mapValues { _ in properties["messageParam"] ?? "" })
                        }
                        return changed
                    })
            }),
        Fault(spec: "breaking_news", what: "unsubscribing does nothing", hub: { FaultyHub(base: $0, deletes: false) }),

        Fault(
            spec: "secure_push", what: "the payload is pushed as well",
            backend: { FaultyBackend(inner: $0, hub: $1, leaks: true) }),
        Fault(spec: "secure_push", what: "every user may read", backend: { FaultyBackend(inner: $0, hub: $1, isOpen: true) }),
        Fault(
            spec: "secure_push", what: "reads are not counted",
            backend: {
                FaultyBackend(
                    inner: $0, hub: $1,
                    keeping: { request in
                        var changed = request
                        changed.maximumReads = nil
                        return changed
                    })
            }),
        Fault(
            spec: "secure_push", what: "payloads never expire",
            backend: {
                FaultyBackend(
                    inner: $0, hub: $1,
                    keeping: { request in
                        var changed = request
                        changed.lifetime = .seconds(86_400)
                        return changed
                    })
            }),

        Fault(spec: "backend_notifications", what: "the text is cut short", hub: text("Lunch", "Lun")),
        Fault(
            spec: "backend_notifications", what: "every device gets bob's tag as well",
            hub: tags { $0 + [tag("username:bob")].compactMap { $0 } }),
        Fault(
            spec: "backend_notifications", what: "the payload is pushed as well",
            backend: { FaultyBackend(inner: $0, hub: $1, leaks: true) }),

        Fault(
            spec: "send_test", what: "it is not a test send",
            hub: {
                FaultyHub(
                    base: $0,
                    sending: { request in
                        var changed = request
                        changed.isTest = false
                        return changed
                    })
            }),
        Fault(
            spec: "send_test", what: "reasons are left out",
            hub: {
                FaultyHub(
                    base: $0,
                    answering: { outcome in
                        var changed = outcome
                        for index in changed.devices.indices { changed.devices[index].reason = "" }
                        return changed
                    })
            }),
        Fault(
            spec: "send_test", what: "the last device is forgotten",
            hub: {
                FaultyHub(
                    base: $0,
                    answering: { outcome in
                        var changed = outcome
                        _ = changed.devices.popLast()
                        return changed
                    })
            }),

        Fault(
            spec: "crowd", what: "one user's message goes to another",
            hub: {
                FaultyHub(
                    base: $0,
                    sending: { request in
                        guard case .expression(let expression) = request.audience, expression.description == "username:user3" else {
                            return request
                        }
                        var changed = request
                        if let other = tag("username:user4") { changed.audience = .expression(.tag(other)) }
                        return changed
                    })
            }),
        Fault(spec: "crowd", what: "every notification goes out twice", hub: { FaultyHub(base: $0, copies: 2) }),
        Fault(spec: "crowd", what: "a name is garbled", hub: text("user1", "user")),
    ]

    private func runner(_ fault: Fault?) -> SpecRunner {
        SpecRunner(
            limits: LuaLimits(memory: 256 << 20), seed: 1, scripts: ProjectScripts(),
            world: { (thread, script) throws(PushError) in
                var world = try EmbeddedWorld(
                    seed: 1, thread: thread, module: BindingRegistry.standard, secrets: try ProjectSecrets(demoFolder: script.folder),
                    around: { hub, _ in fault?.hub(hub) ?? hub }
                ).world
                if let fault { world.backend = fault.backend(world.backend, world.hub) }
                return world
            })
    }

    /// Runs the tests of a spec until one fails. Returns the name of that test, or nil.
    private func firstFailure(of flow: String, _ fault: Fault?) async throws -> String? {
        let script = try ScriptFile.read(BuiltProgram.root.appending(path: "scripts/spec/\(flow)_spec.lua").path)
        let runner = runner(fault)
        for (index, test) in try await runner.tests(of: script).enumerated() {
            guard case .passed = try await runner.run(test, number: index + 1, of: script).report.verdict else { return test.fullName }
        }
        return nil
    }

    private static let flows = [
        "notify_users", "register_current_user", "breaking_news", "secure_push", "send_test", "crowd", "backend_notifications",
    ]

    @Test(arguments: flows) func `the spec of a flow passes`(flow: String) async throws {
        #expect(try await firstFailure(of: flow, nil) == nil)
    }

    @Test(arguments: faults) func `a spec notices a fault of the hub or backend`(fault: Fault) async throws {
        #expect(try await firstFailure(of: fault.spec, fault) != nil)
    }

    @Test func `the properties of targeting hold`() async throws { #expect(try await firstFailure(of: "targeting", nil) == nil) }

    /// Faults that any send shows.
    private static let faultsOfSends = faults.filter {
        $0.spec == "notify_users" && ["it goes to everyone", "every notification goes out twice"].contains($0.what)
    }

    @Test(arguments: faultsOfSends)
    func `a property notices a fault of the hub, and shrinks it to at most two phones`(fault: Fault) async throws {
        let script = try ScriptFile.read(BuiltProgram.root.appending(path: "scripts/spec/targeting_spec.lua").path)
        let runner = runner(fault)
        let property = try #require(try await runner.tests(of: script).first)
        let finding = try #require(try await runner.run(property, number: 1, of: script).finding)
        #expect((1...2).contains(finding.matches(of: /name = "phone\d"/).count), "\(finding)")
    }

    @Test func `every flow has a spec that notices at least three faults`() throws {
        let scripts = try FileManager.default.contentsOfDirectory(atPath: BuiltProgram.root.appending(path: "scripts").path)
            .filter { $0.hasSuffix(".lua") }.map { String($0.dropLast(4)) }
        #expect(Set(scripts) == Set(Self.flows))
        for flow in Self.flows { #expect(Self.faults.count { $0.spec == flow } >= 3, "\(flow)") }
    }
}

import Support
import Synchronization
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct RegisterHookTests {
    private let hooks = ScriptedHooks()
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench(hooks: hooks) }

    /// Hooks that add a tag to every device.
    private func addTag(_ text: String = "extra") throws {
        let tag = try Tag(text)
        hooks.onRegistering { draft in
            var draft = draft
            draft.tags.append(tag)
            return draft
        }
    }

    private func description(_ number: Int = 1, tags: [String] = ["a"]) throws -> RegistrationDescription {
        RegistrationDescription(handle: .phone(number), tags: try tags.map { try Tag($0) })
    }

    @Test func `a registration is stored with the tags that a hook gives it`() async throws {
        try addTag()
        let first = try await bench.register(.phone(1), tags: ["a"])
        #expect(first.tags.map(\.text) == ["a", "extra"])
        #expect(try await bench.send(to: "extra").sent == 1)
        let second = try await hub.putRegistration(first.id, try description(), ifMatch: 1)
        #expect(second.etag == 2 && second.tags == first.tags)
        #expect(hooks.registrations.map(\.isNew) == [true, false])
        #expect(
            hooks.registrations.allSatisfy {
                $0.subject.kind == .registration && $0.subject.id == first.id.text && $0.subject.platform == .apns
            })
        #expect(hooks.registrations.map { $0.tags.map(\.text) } == [["a"], ["a"]])
    }

    @Test func `an installation too, whether it is put or patched`() async throws {
        try addTag()
        let templates = ["news": InstallationTemplate(body: #"{"aps":{"alert":"$(text)"}}"#)]
        try await hub.putInstallation(
            Installation(id: "pad", userID: "alice", handle: .phone(1), tags: [try Tag("a")], templates: templates))
        #expect(try await hub.installation("pad").tags.map(\.text) == ["a", "extra"])
        try await hub.patchInstallation("pad", [PatchOperation(.add, "/tags", "b")])
        #expect(Set(try await hub.installation("pad").tags.map(\.text)) == ["a", "b", "extra"])
        #expect(hooks.registrations.map(\.isNew) == [true, false])
        #expect(hooks.registrations.map(\.templates) == [["news"], ["news"]])
        #expect(
            hooks.registrations.allSatisfy { $0.subject.kind == .installation && $0.subject.id == "pad" && $0.subject.userID == "alice" })
    }

    @Test func `a registration that a hook rejects or makes invalid is not stored, and nothing changes`() async throws {
        let registration = try await bench.register(.phone(1), tags: ["a"])
        try await hub.putInstallation(Installation(id: "pad", handle: .phone(2), tags: [try Tag("a")]))
        let attempts: [() async throws -> Void] = [
            { try await bench.register(.phone(3)) },
            { _ = try await hub.putRegistration(registration.id, try description(4), ifMatch: nil) },
            { try await hub.putInstallation(Installation(id: "tab", handle: .phone(5))) },
            { try await hub.patchInstallation("pad", [PatchOperation(.add, "/tags", "b")]) },
        ]
        hooks.onRegistering { _ throws(PushError) in throw .veto }
        for attempt in attempts { #expect(await refusal { try await attempt() } == .veto) }
        let many = try (0...1000).map { try Tag("t\($0)") }
        hooks.onRegistering { draft in
            var draft = draft
            draft.tags = many
            return draft
        }
        for attempt in attempts { #expect(await refusal { try await attempt() }?.code == "tag.too_many") }
        hooks.onRegistering(nil)
        #expect(try await hub.registration(registration.id) == registration)
        #expect(try await hub.installations(.all, page: Page()).installations.map { $0.tags.map(\.text) } == [["a"]])
        // No row was used.
        try await bench.register(.phone(6))
        #expect(try await bench.store.load().registrations.map(\.row) == [0, 1, 2])
    }

    @Test func `an invalid registration is rejected without a hook`() async throws {
        let registration = try await bench.register(.phone(1), tags: ["a"])
        hooks.onRegistering { $0 }
        let description = try description(2)
        #expect(await refusal { try await hub.putRegistration(registration.id, description, ifMatch: 7) }?.status == 412)
        let bad = RegistrationDescription(handle: .apns(token: "no token"))
        #expect(await refusal { try await hub.createRegistration(bad) }?.code == "handle.invalid")
        let past = Installation(id: "pad", handle: .phone(3), expiration: HubBench.startTime)
        #expect(await refusal { try await hub.putInstallation(past) }?.code == "installation.invalid")
        #expect(hooks.registrations.isEmpty)
    }

    @Test func `work to do once a registration is stored runs then, in order, or never`() async throws {
        let log = Mutex<[String]>([])
        hooks.onRegistering { [hub = bench.hub] draft in
            var draft = draft
            draft.onceKept = [
                {
                    let count = await hub.size().registrations
                    log.withLock { $0.append("first of \(count)") }
                }, { log.withLock { $0.append("second") } },
            ]
            return draft
        }
        bench.store.refuse([.commit])
        #expect(await refusal { try await bench.register(.phone(1)) } != nil)
        await bench.settle()
        #expect(log.withLock { $0 }.isEmpty)
        bench.store.refuse([])
        try await bench.register(.phone(1))
        await bench.settle()
        #expect(log.withLock { $0 } == ["first of 1", "second"])
        try await hub.putInstallation(Installation(id: "pad", handle: .phone(2)))
        await bench.settle()
        #expect(log.withLock { $0 } == ["first of 1", "second", "first of 2", "second"])
    }

    @Test func `other changes of a registration wait while a hook decides`() async throws {
        let registration = try await bench.register(.phone(1), tags: ["a"])
        let deletion = Mutex<Task<Void, any Error>?>(nil)
        hooks.onRegistering { [hub = bench.hub] draft in
            let task = Task { try await hub.deleteRegistration(registration.id, ifMatch: nil) }
            deletion.withLock { $0 = task }
            for _ in 1...100 { await Task.yield() }
            return draft
        }
        #expect(try await hub.putRegistration(registration.id, try description(), ifMatch: 1).etag == 2)
        try await deletion.withLock { $0 }?.value
        #expect(await hub.size().registrations == 0)
    }

    @Test func `a hub that stops meanwhile stores nothing`() async throws {
        hooks.onRegistering { [hub = bench.hub] draft in
            await hub.stop()
            return draft
        }
        #expect(await refusal { try await bench.register(.phone(1)) }?.code == "hub.stopped")
        #expect(try await bench.store.load().registrations.isEmpty)
    }

    @Test func `an import calls no hook`() async throws {
        hooks.onRegistering { _ throws(PushError) in throw .veto }
        let registration = try await hub.importRegistration(nil, try description())
        #expect(try await hub.importRegistration(registration.id, try description(2)).etag == 2)
        #expect(hooks.registrations.isEmpty)
    }

    @Test func `an import of many devices calls no hook`() async throws {
        hooks.onRegistering { _ throws(PushError) in throw .veto }
        let id = try #require(RegistrationID("1-2-3"))
        let failed = try await DeviceImport(hub: hub).store([
            (0, .installation(Installation(id: "pad", handle: .phone(2)))), (1, .registration(id, try description())),
        ])
        #expect(failed.isEmpty && hooks.registrations.isEmpty)
        #expect(await refusal { try await hub.putInstallation(Installation(id: "pad", handle: .phone(2))) } != nil)
    }

    @Test func `a hook sees the origin of a registration`() async throws {
        hooks.onRegistering { $0 }
        try await HookOrigin.$plugins.withValue(["welcome"]) {
            try await bench.register(.phone(1))
            try await hub.putInstallation(Installation(id: "pad", handle: .phone(2)))
        }
        #expect(hooks.registrations.map(\.origin) == [["welcome"], ["welcome"]])
    }
}

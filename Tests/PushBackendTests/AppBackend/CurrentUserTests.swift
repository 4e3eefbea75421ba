import PushBackend
import PushHub
import PushModel
import Support
import Synchronization
import Testing

@Suite struct CurrentUserTests {
    private let bench: HubBench
    private let alice: Session
    private let bob: Session

    private static let installation = "0B6F7A8E-3c2d-4e5f-8a9b-1c2d3e4f5a6b"

    init() async throws {
        bench = try HubBench()
        alice = try await bench.login("alice")
        bob = try await bench.login("bob")
    }

    private func register(
        _ session: Session, _ number: Int = 1, id: String = installation, over hub: (any HubGateway)? = nil
    ) async throws -> CurrentUserRegistration {
        try await bench.backend(over: hub)
            .registerCurrentUser(session, installationID: id, handle: .phone(number))
    }

    private func registered() async throws -> [Registration] {
        try await bench.hub.registrations(.all, page: Page()).registrations
    }

    @Test func `A device is registered once, with its installation and its user, and the user's devices are notified`() async throws {
        let first = try await register(alice, 1)
        #expect(first.registration.tags.map(\.text) == [Self.installation, "alice"])
        #expect(first.outcome.tags == "alice" && first.outcome.sent == 1)
        _ = try await register(bob, 3, id: "11111111-1111-1111-1111-111111111111")
        let other = try await register(alice, 2, id: "22222222-2222-2222-2222-222222222222")
        #expect(other.outcome.devices.map(\.handle) == [.phone(1), .phone(2)])
        let again = try await register(alice, 1)
        #expect(again.registration.id == first.registration.id && again.registration.etag == 2)
        #expect(try await registered().count == 3)
    }

    @Test func `The test notification has the shapes of the tutorial`() async throws {
        for handle: DeviceHandle in [
            .fcmV1(token: "t"), .gcm(token: "t"), .wns(channel: "https://db5.notify.windows.com/?t=1"), .subscription,
        ] {
            try await bench.register(handle, tags: ["alice"])
        }
        _ = try await register(alice)
        let text = "Test notification for alice"
        #expect(
            bench.connector.bodies.sorted() == [
                "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">\(text)</text></binding></visual></toast>",
                #"{"aps":{"alert":"\#(text)"},"inAppMessage":"\#(text)"}"#,
                #"{"data":{"message":"\#(text)","inAppMessage":"\#(text)"}}"#,
                #"{"message":{"data":{"message":"\#(text)","inAppMessage":"\#(text)"}}}"#,
                #"{"title":"\#(text)","body":"","inAppMessage":"\#(text)"}"#,
            ])
    }

    @Test func `A new token updates the same registration`() async throws {
        let first = try await register(alice, 1).registration
        let second = try await register(alice, 2).registration
        #expect(second.id == first.id && second.handle == .phone(2))
        #expect(try await registered() == [second])
    }

    @Test func `An installation id is the same in any letter case, and is stored as given`() async throws {
        let first = try await register(alice, 1, id: Self.installation.uppercased()).registration
        let second = try await register(alice, 2, id: Self.installation.lowercased()).registration
        #expect(second.id == first.id)
        #expect(second.tags.first?.text == Self.installation.lowercased())
    }

    @Test func `Of several registrations the first is updated and the others are deleted, on every page`() async throws {
        var ids: [RegistrationID] = []
        for number in 0..<250 {
            ids.append(try await bench.register(.phone(number), tags: [Self.installation, "alice"]).id)
        }
        let kept = try await register(alice, 7).registration
        #expect(kept.id == ids[0] && kept.etag == 2)
        #expect(try await registered() == [kept])
    }

    // MARK: - Attacks

    @Test(
        arguments: [
            "", "alice", "bob", "0B6F7A8E3c2d4e5f8a9b1c2d3e4f5a6b", "0B6F7A8E-3c2d-4e5f-8a9b-1c2d3e4f5a6",
            "0B6F7A8E-3c2d-4e5f-8a9b-1c2d3e4f5a6g", "{0B6F7A8E-3c2d-4e5f-8a9b-1c2d3e4f5a6b}",
            "０B6F7A8E-3c2d-4e5f-8a9b-1c2d3e4f5a6b", "0B6F7A8E-3c2d-4e5f-8a9b-1c2d3e4f5a6b\n",
        ])
    func `An invalid installation id is rejected`(id: String) async throws {
        try await bench.register(.phone(2), tags: ["bob"])
        let error = await refusal { try await register(alice, id: id) }
        #expect(error?.code == "backend.installation_id" && error?.status == 400)
        #expect(try await registered().count == 1)
        #expect(bench.connector.batches.isEmpty)
    }

    @Test(arguments: ["username:bob", "UserName:bob", installation, installation.uppercased()])
    func `A user whose name is a tag of other devices is rejected`(name: String) async throws {
        let victim = try await register(bob, 1).registration
        let error = await refusal { try await register(try await bench.login(name), 66) }
        // A name with a colon is never a user name.
        #expect(error?.code == (name.contains(":") ? "auth.username" : "backend.reserved_tag") && error?.status == 400)
        #expect(try await registered() == [victim])
    }

    @Test func `Knowing the installation id of another user does not remove that user's device`() async throws {
        let victim = try await register(bob, 1).registration
        let own = try await register(alice, 66).registration
        #expect(own.id != victim.id && own.tags.map(\.text) == [Self.installation, "alice"])
        #expect(try await bench.hub.registration(victim.id) == victim)
        #expect(try await bench.send(to: "bob").devices.map(\.handle) == [.phone(1)])
        // The victim's next call does not touch the other registration either.
        _ = try await register(bob, 1)
        #expect(try await bench.hub.registration(own.id) == own)
    }

    @Test func `A device that changes its user no longer belongs to the former user`() async throws {
        let first = try await register(alice, 1).registration
        let second = try await register(bob, 1)
        #expect(second.registration.id == first.id)
        #expect(second.registration.tags.map(\.text) == [Self.installation, "bob"])
        #expect(try await bench.send(to: "alice").state == .noTargetFound)
    }

    @Test func `A session acts for the user who logged in, and a closed session for no user`() async throws {
        var forged = alice
        forged.username = "bob"
        #expect(try await register(forged).registration.tags.map(\.text) == [Self.installation, "alice"])
        try await bench.backend.logout(alice)
        #expect(await refusal { try await register(alice) }?.code == "auth.session_expired")
    }

    @Test func `Templates and installations of the hub are left unchanged`() async throws {
        let tags = [Self.installation, "alice"]
        try await bench.hub.putInstallation(
            Installation(id: "pad", handle: .phone(1), tags: try tags.map { try Tag($0) }))
        try await bench.register(.phone(1), tags: tags, template: #"{"aps":{"alert":"$(message)"}}"#)
        let before = try await registered()
        let own = try await register(alice, 1).registration
        #expect(try await registered() == before + [own])
    }

    @Test func `An invalid handle is rejected before the hub is called`() async throws {
        let error = await refusal {
            try await bench.backend.registerCurrentUser(
                alice, installationID: Self.installation, handle: .apns(token: "xyz"))
        }
        #expect(error?.code == "handle.invalid")
    }

    // MARK: - Races

    /// A hub on which `change` runs before a call of a kind, `times` times.
    private func hub(
        _ times: Int = 1, before isWanted: @escaping @Sendable (InterceptedHub.Call) -> Bool,
        _ change: @escaping @Sendable () async throws -> Void
    ) -> InterceptedHub {
        let left = Mutex(times)
        return InterceptedHub(bench.hub) { call throws(PushError) in
            guard isWanted(call), left.withLock({ $0 > 0 }) else { return }
            left.withLock { $0 -= 1 }
            do {
                try await change()
            } catch {
                throw PushError("test", "\(error)")
            }
        }
    }

    @Test(arguments: [1, 2, 50]) func `Concurrent changes are retried, but not forever`(changes: Int) async throws {
        let first = try await register(alice, 1).registration
        let description = RegistrationDescription(handle: .phone(1), tags: first.tags)
        let racing = hub(changes, before: \.isPut) { [hub = bench.hub] in
            _ = try await hub.putRegistration(first.id, description, ifMatch: nil)
        }
        if changes < 50 {
            #expect(try await register(alice, 2, over: racing).registration.etag == changes + 2)
        } else {
            #expect(await refusal { try await register(alice, 2, over: racing) }?.code == "hub.precondition_failed")
        }
    }

    @Test func `A registration deleted in the meantime is replaced`() async throws {
        let first = try await register(alice, 1).registration
        let racing = hub(before: \.isPut) { [hub = bench.hub] in try await hub.deleteRegistration(first.id, ifMatch: nil) }
        let second = try await register(alice, 1, over: racing).registration
        #expect(second.id != first.id)
        #expect(try await registered() == [second])
    }

    @Test func `A registration that another user took over in the meantime is left unchanged`() async throws {
        let first = try await register(alice, 1).registration
        let theirs = RegistrationDescription(handle: .phone(9), tags: [try Tag("bob")])
        let racing = hub(before: \.isPut) { [hub = bench.hub] in
            _ = try await hub.putRegistration(first.id, theirs, ifMatch: nil)
        }
        let second = try await register(alice, 1, over: racing).registration
        #expect(second.id != first.id)
        #expect(try await bench.hub.registration(first.id).handle == .phone(9))
    }

    @Test func `A surplus registration that changes in the meantime is not deleted`() async throws {
        let first = try await register(alice, 1).registration
        let surplus = try await bench.register(.phone(1), tags: [Self.installation])
        let theirs = RegistrationDescription(handle: .phone(1), tags: [try Tag("bob")])
        let racing = hub(before: \.isDelete) { [hub = bench.hub] in
            _ = try await hub.putRegistration(surplus.id, theirs, ifMatch: nil)
        }
        #expect(try await register(alice, 1, over: racing).registration.id == first.id)
        #expect(try await bench.hub.registration(surplus.id).tags.map(\.text) == ["bob"])
    }

    @Test func `Two calls that both find nothing leave one registration`() async throws {
        let session = alice
        let racing = hub(before: { $0 == .createRegistration }) { [bench] in
            _ = try await bench.backend.registerCurrentUser(
                session, installationID: Self.installation, handle: .phone(1))
        }
        let answer = try await register(alice, 1, over: racing)
        #expect(try await registered() == [answer.registration])
        #expect(answer.outcome.sent == 1)
    }

    @Test func `After many calls at once, the next call leaves one registration`() async throws {
        let codes = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<30 { group.addTask { await refusal { try await register(alice, 1) }?.code } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.allSatisfy { $0 == nil || $0 == "hub.precondition_failed" } && codes.contains(nil))
        let answer = try await register(alice, 1)
        #expect(try await registered() == [answer.registration])
    }
}

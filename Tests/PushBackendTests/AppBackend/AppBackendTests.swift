import Bindings
import PushBackend
import PushHub
import PushModel
import Support
import Synchronization
import Testing

@Suite struct AppBackendTests {
    private let bench: HubBench
    private var backend: AppBackend { bench.backend }

    init() throws { bench = try HubBench() }

    private func login(_ username: String) async throws -> Session { try await bench.login(username) }

    private func description(_ number: Int, tags: [String] = []) throws -> RegistrationDescription {
        RegistrationDescription(handle: .phone(number), tags: try tags.map { try Tag($0) })
    }

    private func register(_ session: Session, _ number: Int, tags: [String] = []) async throws -> Registration {
        let id = try await backend.registrationID(session, handle: .phone(number))
        return try await backend.putRegistration(session, id, try description(number, tags: tags))
    }

    @Test("A registration has the tag of the session's user") func userTag() async throws {
        let registration = try await register(try await login("alice"), 1, tags: ["phone"])
        #expect(registration.tags.map(\.text) == ["phone", "username:alice"])
    }

    @Test("An id by handle is the handle's first registration, and the others are deleted") func idByHandle()
        async throws
    {
        let session = try await login("alice")
        var ids: [RegistrationID] = []
        for _ in 0..<150 { ids.append(try await bench.register(.phone(1)).id) }
        let other = try await bench.register(.phone(2))
        #expect(try await backend.registrationID(session, handle: .phone(1)) == ids[0])
        let left = try await bench.hub.registrations(.all, page: Page()).registrations.map(\.id)
        #expect(left == [ids[0], other.id])
        let fresh = try await backend.registrationID(session, handle: .phone(3))
        #expect(!ids.contains(fresh) && fresh != other.id)
    }

    @Test("An installation with the same handle is unchanged") func installation() async throws {
        let session = try await login("alice")
        try await bench.hub.putInstallation(Installation(id: "pad", handle: .phone(1)))
        let registration = try await register(session, 1)
        #expect(try await bench.hub.installation("pad").handle == .phone(1))
        #expect(registration.installationID == nil)
        #expect(try await bench.send(to: nil).devices.map(\.outcome) == [.success, .skipped])
    }

    @Test(
        "A device cannot give itself the tag of a user or an installation",
        arguments: [
            ("username:bob", "the backend"), ("UserName:bob", "the backend"), ("$UserId:{bob}", "the hub"),
            ("$InstallationId:{pad}", "the hub"), ("username:\u{301}bob", "the backend"),
        ])
    func reservedTags(tag: String, giver: String) async throws {
        let session = try await login("alice")
        let error = await refusal { try await register(session, 1, tags: [tag]) }
        #expect(error?.code == "backend.reserved_tag")
        #expect(error?.message == "the tag \"\(tag)\" is reserved for \(giver)")
        #expect(error?.status == 400)
    }

    @Test("A session acts for the user who logged in, whatever the request claims") func forged() async throws {
        var session = try await login("alice")
        session.username = "bob"
        #expect(try await register(session, 1).tags.map(\.text) == ["username:alice"])
        _ = try await backend.notify(session, username: "alice", text: "Hi", platform: nil)
        #expect(bench.connector.bodies == [#"{"aps":{"alert":"From alice: Hi"}}"#])
    }

    @Test("A request without a session is rejected") func noSession() async throws {
        let session = try await login("alice")
        let registration = try await register(session, 1)
        try await backend.logout(session)
        for error in [
            await refusal { try await backend.registrationID(session, handle: .phone(1)) },
            await refusal { try await backend.putRegistration(session, registration.id, description(1)) },
            await refusal { try await backend.deleteRegistration(session, registration.id) },
            await refusal { try await backend.notify(session, username: "alice", text: "Hi", platform: nil) },
        ] {
            #expect(error?.code == "auth.session_expired")
        }
        #expect(try await bench.hub.registration(registration.id) == registration)
        #expect(bench.connector.batches.isEmpty)
    }

    @Test("Another user's registration can be neither overwritten nor deleted") func ownership() async throws {
        let registration = try await register(try await login("alice"), 1)
        let mallory = try await login("mallory")
        for error in [
            await refusal { try await backend.putRegistration(mallory, registration.id, description(66)) },
            await refusal { try await backend.deleteRegistration(mallory, registration.id) },
        ] {
            #expect(error?.code == "backend.forbidden")
            #expect(error?.message == "registration \(registration.id) belongs to another user")
            #expect(error?.status == 403)
        }
        #expect(try await bench.hub.registration(registration.id) == registration)
    }

    @Test("A device that changes its user changes its tag") func changeOfUser() async throws {
        let first = try await register(try await login("alice"), 1)
        let second = try await register(try await login("bob"), 1)
        #expect(second.id == first.id)
        #expect(second.tags.map(\.text) == ["username:bob"])
        #expect(try await bench.send(to: "username:alice").state == .noTargetFound)
    }

    @Test("A user can delete their own registration, once") func deletion() async throws {
        let session = try await login("alice")
        let registration = try await register(session, 1)
        try await backend.deleteRegistration(session, registration.id)
        let error = await refusal { try await backend.deleteRegistration(session, registration.id) }
        #expect(error?.code == "hub.not_found" && error?.status == 404)
    }

    // MARK: - Notifying

    private static let handles: [DeviceHandle] = [
        .phone(1), .fcmV1(token: "t"), .gcm(token: "t"), .wns(channel: "https://db5.notify.windows.com/?t=1"),
        .subscription,
    ]

    private func registerEveryPlatform(_ session: Session) async throws {
        for handle in Self.handles {
            let id = try await backend.registrationID(session, handle: handle)
            _ = try await backend.putRegistration(session, id, RegistrationDescription(handle: handle))
        }
    }

    @Test func `A notification reaches all devices of the user, on every platform, in the shapes of the tutorials`() async throws {
        try await registerEveryPlatform(try await login("alice"))
        let bob = try await login("bob")
        _ = try await register(bob, 9)
        let outcome = try await backend.notify(bob, username: "ALICE", text: "Tom & \"Jerry\"", platform: nil)
        #expect(outcome.sent == 5 && outcome.devices.map(\.handle) == Self.handles)
        let text = #"From bob: Tom & \"Jerry\""#
        #expect(
            bench.connector.bodies == [
                #"{"aps":{"alert":"\#(text)"}}"#, #"{"message":{"data":{"message":"\#(text)"}}}"#,
                #"{"data":{"message":"\#(text)"}}"#,
                #"<toast><visual><binding template="ToastText01">"#
                    + #"<text id="1">From bob: Tom &amp; "Jerry"</text></binding></visual></toast>"#,
                #"{"title":"\#(text)","body":""}"#,
            ])
    }

    @Test(arguments: Platform.delivered)
    func `A notification for one platform reaches only that platform`(platform: Platform) async throws {
        let session = try await login("alice")
        try await registerEveryPlatform(session)
        let outcome = try await backend.notify(session, username: "alice", text: "Hi", platform: platform)
        #expect(outcome.devices.map(\.platform) == [platform])
        #expect(bench.connector.batches.map(\.platform) == [platform])
    }

    @Test func `A device cannot eavesdrop with the from: tag that the tutorials' sample also sends to`() async throws {
        let alice = try await login("alice")
        _ = try await register(try await login("mallory"), 66, tags: ["from:alice"])
        let outcome = try await backend.notify(alice, username: "bob", text: "Hi", platform: nil)
        #expect(outcome.state == .noTargetFound && outcome.tags == "username:bob")
        #expect(bench.connector.batches.isEmpty)
    }

    @Test(arguments: ["", "a b", "bob || username:alice"])
    func `An invalid user name is rejected`(name: String) async throws {
        let session = try await login("alice")
        let error = await refusal { try await backend.notify(session, username: name, text: "Hi", platform: nil) }
        #expect(error?.code == "tag.invalid" && error?.status == 400)
    }
}

@Suite struct DeviceRegistrarTests {
    private let bench: HubBench
    private let session: Session
    private let description = RegistrationDescription(handle: .phone(1))

    init() async throws {
        bench = try HubBench(registrationTTL: .seconds(60))
        _ = try await bench.backend.ensureAccount(username: "alice", password: Secret("pass"))
        session = try await bench.backend.login(username: "alice", password: Secret("pass"))
    }

    private var registrar: DeviceRegistrar { DeviceRegistrar(backend: bench.backend) }

    @Test("An id is requested once, and then the stored one is used") func remembered() async throws {
        let first = try await registrar.register(session, description)
        let second = try await registrar.register(session, description, rememberedID: first.id)
        #expect(second.id == first.id && second.etag == 2)
        #expect(try await registrar.register(session, description).id == first.id)
    }

    @Test("If the hub reports the id as gone, the device requests a new one and registers again") func gone()
        async throws
    {
        let first = try await registrar.register(session, description)
        bench.advance(by: .seconds(60))
        let second = try await registrar.register(session, description, rememberedID: first.id)
        #expect(second.id != first.id && second.etag == 1)
        #expect(second.tags.map(\.text) == ["username:alice"])
    }

    @Test("The device retries only once") func once() async throws {
        let puts = Mutex<[RegistrationID]>([])
        let hub = InterceptedHub(bench.hub) { call throws(PushError) in
            guard case .putRegistration(let id) = call else { return }
            puts.withLock { $0.append(id) }
            throw PushError("hub.gone", "gone", status: 410)
        }
        let registrar = DeviceRegistrar(backend: try bench.backend(over: hub))
        let remembered = try #require(RegistrationID("1-1-1"))
        let error = await refusal { try await registrar.register(session, description, rememberedID: remembered) }
        #expect(error?.code == "hub.gone")
        #expect(puts.withLock { $0.count } == 2)
        #expect(puts.withLock { $0.first } == remembered)
    }

    @Test("Any other error is not retried") func other() async throws {
        var description = description
        description.tags = [try Tag("username:bob")]
        let error = await refusal { try await registrar.register(session, description) }
        #expect(error?.code == "backend.reserved_tag")
    }

    @Test("A stored id of another user is replaced") func foreignID() async throws {
        _ = try await bench.backend.ensureAccount(username: "bob", password: Secret("pass"))
        let bob = try await bench.backend.login(username: "bob", password: Secret("pass"))
        let foreign = try await registrar.register(bob, RegistrationDescription(handle: .phone(2)))
        let own = try await registrar.register(session, description, rememberedID: foreign.id)
        #expect(own.id != foreign.id)
        #expect(try await bench.hub.registration(foreign.id) == foreign)
    }
}

import Bindings
import PushBackend
import PushModel
import RemoteHub
import Support
import Testing

/// The contract of ``BackendGateway``, for the app backend in this process and for a remote one.
@Suite struct BackendContractTests {
    enum Side: CaseIterable {
        case embedded, remote

        struct Bench {
            let backend: any BackendGateway
            let connector: ScriptedConnector
            /// Creates the account if the backend does not.
            let account: (String) async throws -> Void

            func login(_ name: String) async throws -> Session {
                try await account(name)
                return try await backend.login(username: name, password: Secret("password of \(name)"))
            }
        }

        func run(_ body: (Bench) async throws -> Void) async throws {
            switch self {
            case .embedded:
                let bench = try HubBench()
                try await body(
                    Bench(backend: bench.backend, connector: bench.connector) { name in
                        _ = try await bench.accounts.ensureAccount(username: name, password: Secret("password of \(name)"))
                    })
            case .remote:
                try await ServedNamespace.serving { served in
                    try await body(
                        Bench(backend: try served.backend(), connector: served.connector) { name in
                            _ = try await served.accounts.ensureAccount(username: name, password: Secret("password of \(name)"))
                        })
                }
            }
        }
    }

    @Test(arguments: Side.allCases)
    func `A session opens with the right password, and ends`(side: Side) async throws {
        try await side.run { bench in
            let session = try await bench.login("alice")
            #expect(session.username == "alice")
            _ = try await bench.backend.registrationID(session, handle: .phone(1))
            let wrong = await refusal { try await bench.backend.login(username: "alice", password: Secret("guess")) }
            #expect(wrong?.code == "auth.failed" && wrong?.status == 401)
            try await bench.backend.logout(session)
            let over = await refusal { try await bench.backend.registrationID(session, handle: .phone(1)) }
            #expect(over?.code == "auth.session_expired" && over?.status == 401)
        }
    }

    @Test(arguments: Side.allCases)
    func `A device has one registration with its user's tag, until its id expires`(side: Side) async throws {
        try await side.run { bench in
            let alice = try await bench.login("alice")
            for handle in [
                DeviceHandle.phone(1), .subscription, .fcmV1(token: "f:x"), .wns(channel: "https://x.notify.windows.com/?token=a%2b"),
            ] {
                let id = try await bench.backend.registrationID(alice, handle: handle)
                let made = try await bench.backend.putRegistration(
                    alice, id, RegistrationDescription(handle: handle, tags: [try Tag("phone")]))
                #expect(made.id == id && made.handle == handle && made.etag == 1)
                #expect(Set(made.tags.map(\.text)) == ["phone", "username:alice"])
                #expect(try await bench.backend.registrationID(alice, handle: handle) == id)
            }
            let id = try await bench.backend.registrationID(alice, handle: .phone(1))
            let mallory = try await bench.login("mallory")
            let foreign = await refusal {
                try await bench.backend.putRegistration(mallory, id, RegistrationDescription(handle: .phone(2)))
            }
            #expect(foreign?.code == "backend.forbidden" && foreign?.status == 403)
            try await bench.backend.deleteRegistration(alice, id)
            let gone = await refusal {
                try await bench.backend.putRegistration(alice, id, RegistrationDescription(handle: .phone(1)))
            }
            #expect(gone?.code == "hub.gone" && gone?.status == 410)
            let registered = try await DeviceRegistrar(backend: bench.backend).register(
                alice, RegistrationDescription(handle: .phone(1)), rememberedID: id)
            #expect(registered.id != id)
        }
    }

    @Test(arguments: Side.allCases)
    func `A template is stored as given`(side: Side) async throws {
        try await side.run { bench in
            let alice = try await bench.login("alice")
            let template = try RegistrationTemplate(
                name: "n", body: #"{"aps":{"alert":"$(m)"}}"#, headers: [PushHeader("apns-priority", "5")], expiry: "0", platform: .apns)
            let id = try await bench.backend.registrationID(alice, handle: .phone(1))
            let made = try await bench.backend.putRegistration(
                alice, id, RegistrationDescription(handle: .phone(1), template: template))
            #expect(made.template == template)
        }
    }

    @Test(arguments: Side.allCases)
    func `The current user's device is registered in one call and gets a notification`(side: Side) async throws {
        try await side.run { bench in
            let alice = try await bench.login("alice")
            let installation = "6f8f57715090da2632453988d9a1501b"
            let first = try await bench.backend.registerCurrentUser(alice, installationID: Self.uuid, handle: .phone(1))
            #expect(Set(first.registration.tags.map(\.text)).isSuperset(of: ["alice"]) && first.registration.handle == .phone(1))
            #expect(first.outcome.sent == 1 && first.outcome.state == .completed)
            let again = try await bench.backend.registerCurrentUser(alice, installationID: Self.uuid, handle: .phone(2))
            #expect(again.registration.id == first.registration.id && again.registration.handle == .phone(2))
            let error = await refusal {
                try await bench.backend.registerCurrentUser(alice, installationID: installation, handle: .phone(1))
            }
            #expect(error?.code == "backend.installation_id" && error?.status == 400)
        }
    }

    private static let uuid = "6F9619FF-8B86-D011-B42D-00C04FC964FF"

    @Test(arguments: Side.allCases)
    func `A user sends to another user's devices`(side: Side) async throws {
        try await side.run { bench in
            let (alice, bob) = (try await bench.login("alice"), try await bench.login("bob"))
            let handles = [DeviceHandle.phone(1), .fcmV1(token: "f:x")]
            for handle in handles {
                let id = try await bench.backend.registrationID(bob, handle: handle)
                _ = try await bench.backend.putRegistration(bob, id, RegistrationDescription(handle: handle))
            }
            let all = try await bench.backend.notify(alice, username: "bob", text: "Hi \"<&>\"", platform: nil)
            #expect(all.sent == 2 && all.state == .completed)
            let one = try await bench.backend.notify(alice, username: "bob", text: "Hi", platform: .fcmV1)
            #expect(one.counts == [.fcmV1: [.success: 1]])
            #expect(bench.connector.bodies.first?.contains(#"From alice: Hi \"<&>\""#) == true)
            #expect(try await bench.backend.notify(alice, username: "nobody", text: "Hi", platform: nil).state == .noTargetFound)
        }
    }

    @Test(arguments: Side.allCases)
    func `A secure payload is read by its recipient alone, as often as its sender allowed`(side: Side) async throws {
        try await side.run { bench in
            let (bank, alice) = (try await bench.login("bank"), try await bench.login("alice"))
            let id = try await bench.backend.registrationID(alice, handle: .phone(1))
            _ = try await bench.backend.putRegistration(alice, id, RegistrationDescription(handle: .phone(1)))
            let payload: JSON = ["amount": 12_400, "to": ["Zoé", .null, true, 1.5]]
            let receipt = try await bench.backend.sendSecure(
                bank, SecureRequest(username: "alice", payload: payload, lifetime: .milliseconds(90_500), maximumReads: 1))
            #expect(receipt.outcome.sent == 1 && receipt.expiration == HubBench.startTime + .milliseconds(90_500))
            #expect(bench.connector.bodies.allSatisfy { !$0.contains("12400") && $0.contains(receipt.id) })
            #expect(await refusal { try await bench.backend.securePayload(bank, id: receipt.id) }?.code == "secure.forbidden")
            #expect(try await bench.backend.securePayload(alice, id: receipt.id) == payload)
            #expect(await refusal { try await bench.backend.securePayload(alice, id: receipt.id) }?.code == "secure.exhausted")
            let reads = try await bench.backend.secureReads(bank, id: receipt.id)
            #expect(reads.map { "\($0.username) \($0.result.rawValue)" } == ["bank forbidden", "alice granted", "alice exhausted"])
            let text = try await bench.backend.sendSecure(bank, SecureRequest(username: "alice", payload: "plain"))
            #expect(try await bench.backend.securePayload(alice, id: text.id) == "plain")
            try await bench.backend.revokeSecurePayload(bank, id: text.id)
            #expect(await refusal { try await bench.backend.securePayload(alice, id: text.id) }?.code == "secure.revoked")
            #expect(await refusal { try await bench.backend.securePayload(alice, id: "123") }?.code == "secure.not_found")
        }
    }
}

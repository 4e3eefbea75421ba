import PushModel
import Support
import Testing

@testable import Storage

// Hubs, and what is loaded of each at the start.
extension VersionContent {
    func expectHubs(in storage: SQLiteStorage) async throws {
        #expect(try await storage.namespace.load() == namespace)
        let hub = try await storage.namespace.store(ofHub: 1).load()
        let expected = try hub1
        #expect(hub.registrations == expected.registrations)
        // Tags that differ in case are equal.
        func tags(_ hub: StoredHub) -> [[String]] { hub.registrations.map { $0.registration.tags.map(\.text) } }
        #expect(tags(hub) == tags(expected))
        #expect(hub.installations == expected.installations)
        #expect(hub.tombstones == expected.tombstones)
        #expect(hub.lastOutcomes == expected.lastOutcomes && hub.lastSequence == expected.lastSequence)
        #expect(hub.unreadable == [])
        let other = try hub2
        #expect(try await storage.namespace.store(ofHub: 2).load() == other)
        // A removal of this hub was interrupted.
        #expect(try await storage.namespace.store(ofHub: 4).load() == StoredHub())
    }

    private var namespace: StoredNamespace {
        let all = Set(AuthorizationRule.Right.allCases)
        let description = HubDescription(
            registrationTTL: .seconds(7_776_000),
            rules: [
                Self.rule("DefaultFullSharedAccessSignature", all, "F", created: -50, modified: -50),
                Self.rule("sender", [.send], "S", created: -40, modified: -30, ceiling: version >= .approvals ? 1000 : nil),
            ],
            credentials: [
                .apns: PlatformCredential(properties: [("Token", Secret("credential-of-apns")), ("KeyId", Secret("KEY1"))])
            ], userMetadata: "team=ops; größe=1", quotas: [.operations: 100, .activeDevices: 7])
        return StoredNamespace(
            rules: [Self.rule("RootManageSharedAccessKey", all, "R", created: -60, modified: -60)],
            hubs: [
                HubRecord(number: 1, name: "hub", description: description, createdAt: Self.at(-50), updatedAt: Self.at(-30)),
                HubRecord(number: 2, name: "News/été", description: HubDescription(), createdAt: Self.at(-20), updatedAt: Self.at(-10)),
            ], lastNumber: 4)
    }

    /// - Parameter letter: its keys consist of this letter, in upper and in lower case.
    private static func rule(
        _ name: String, _ rights: Set<AuthorizationRule.Right>, _ letter: String, created: Int64, modified: Int64, ceiling: Int? = nil
    ) -> AuthorizationRule {
        AuthorizationRule(
            name: name, rights: rights, primaryKey: Secret(String(repeating: letter, count: 43) + "="),
            secondaryKey: Secret(String(repeating: letter.lowercased(), count: 43) + "="), createdAt: at(created), modifiedAt: at(modified),
            ceiling: ceiling)
    }

    // MARK: - Devices

    private static let alertBody = #"{"aps":{"alert":"$(message:{é 🎉})"}}"#
    private static let alertHeaders = [PushHeader("apns-push-type", "alert")]
    private static let tileBody =
        #"<tile><visual><binding template="TileText"><text id="1">$(m)</text></binding></visual></tile>"#

    private var hub1: StoredHub {
        get throws {
            StoredHub(
                registrations: try Self.ana() + Self.pc() + Self.standalone(), installations: try Self.installations(),
                tombstones: [
                    Samples.id(11): RegistrationTombstone(.deleted, at: Self.at(10)),
                    Samples.id(12): RegistrationTombstone(.expired, at: Self.at(11)),
                    Samples.id(13): RegistrationTombstone(
                        .invalidHandle(InvalidHandleReport(.apns, reason: "Unregistered")), at: Self.at(12)),
                    Samples.id(14): RegistrationTombstone(.installationChanged, at: Self.at(13)),
                ], lastOutcomes: [0: .success, 1: .wrongToken, 5: .throttled],
                lastSequence: version >= .heldRemovals ? 9 : version >= .plans ? 8 : 6)
        }
    }

    private var hub2: StoredHub {
        get throws {
            let template = try RegistrationTemplate(body: ##"{"message":{"data":{"a":"#(count)"}}}"##, platform: .fcmV1)
            let registration = Registration(
                id: Samples.id(1), etag: 1, expiration: .distantFuture, updatedAt: Self.at(5),
                description: RegistrationDescription(handle: .fcmV1(token: "fcm:token-1"), tags: try Self.tags("News"), template: template))
            return StoredHub(
                registrations: [RegistrationRow(row: 0, registration: registration)], lastOutcomes: [0: .dropped], lastSequence: 41)
        }
    }

    /// The registrations of an installation with a template.
    private static func ana() throws -> [RegistrationRow] {
        let template = try RegistrationTemplate(
            name: "alert", body: alertBody, headers: alertHeaders, expiry: "$(expiry)", platform: .apns)
        var registration = Registration(
            id: Samples.id(1), etag: 3, expiration: .distantFuture, updatedAt: at(1),
            description: RegistrationDescription(
                handle: .phone(1), tags: try tags("News", "größe", "$InstallationId:{ana-1}", "$UserId:{Ana}"),
                pushVariables: ["locale": "pt-PT"]), installationID: "ana-1")
        let native = registration
        registration.id = Samples.id(2)
        registration.tags = try tags("News", "größe", "alerts", "$InstallationId:{ana-1}", "$UserId:{Ana}")
        registration.description.template = template
        return [RegistrationRow(row: 0, registration: native), RegistrationRow(row: 1, registration: registration)]
    }

    /// The registrations of the tile of an installation whose main channel has expired.
    private static func pc() throws -> [RegistrationRow] {
        let template = try RegistrationTemplate(name: "t", body: tileBody, platform: .wns)
        var registration = Registration(
            id: Samples.id(3), etag: 1, expiration: at(86_400), updatedAt: at(2),
            description: RegistrationDescription(handle: tile, tags: try tags("tile", "$InstallationId:{pc}"), secondaryTile: "weather"),
            installationID: "pc")
        let native = registration
        registration.id = Samples.id(4)
        registration.tags = try tags("tile", "t", "$InstallationId:{pc}")
        registration.description.template = template
        return [RegistrationRow(row: 2, registration: native), RegistrationRow(row: 3, registration: registration)]
    }

    private static func standalone() throws -> [RegistrationRow] {
        let browser = Registration(
            id: longID, etag: 1, expiration: at(7_776_000), updatedAt: at(3),
            description: RegistrationDescription(handle: .subscription, tags: try tags("web")))
        let phone = Registration(
            id: Samples.id(6), etag: 2, expiration: .distantFuture, updatedAt: at(4),
            description: RegistrationDescription(handle: baidu, tags: []))
        return [RegistrationRow(row: 5, registration: browser), RegistrationRow(row: 6, registration: phone)]
    }

    private static func installations() throws -> [InstallationRow] {
        let alert = InstallationTemplate(body: alertBody, headers: alertHeaders, expiry: "$(expiry)", tags: try tags("alerts"))
        var ana = Installation(
            id: "ana-1", userID: "Ana", handle: .phone(1), tags: try tags("News", "größe"), pushVariables: ["locale": "pt-PT"],
            templates: ["alert": alert])
        ana.updatedAt = at(1)
        let weather = SecondaryTile(
            handle: tile, tags: try tags("tile"), templates: ["t": InstallationTemplate(body: tileBody, tags: try tags("t"))])
        var pc = Installation(
            id: "pc", handle: .wns(channel: "https://wns.example/?token=a%2fb"), expiration: at(86_400),
            tags: try tags("News"), secondaryTiles: ["weather": weather])
        (pc.isPushChannelExpired, pc.updatedAt) = (true, at(2))
        return [
            InstallationRow(row: 0, installation: ana, expiration: .distantFuture),
            InstallationRow(row: 2, installation: pc, expiration: at(86_400)),
        ]
    }

    // MARK: - Removed registrations

    /// Versions before `departures` stored only ids and times.
    func expectDepartures(in store: any HubStore) async throws {
        let died = DeletedRegistration(
            id: Samples.id(13),
            tombstone: RegistrationTombstone(.invalidHandle(InvalidHandleReport(.apns, reason: "Unregistered")), at: Self.at(12)),
            handle: .phone(13),
            expiration: .distantFuture, installationID: nil)
        let changed = DeletedRegistration(
            id: Samples.id(14), tombstone: RegistrationTombstone(.installationChanged, at: Self.at(13)), handle: .phone(14),
            expiration: Self.at(86_400), installationID: "ana-1")
        let areStored = version >= .departures
        #expect(try await store.deletedRegistrations(.registration(Samples.id(11)), limit: 9) == [])
        #expect(try await store.deletedRegistrations(.registration(Samples.id(13)), limit: 9) == (areStored ? [died] : []))
        #expect(try await store.deletedRegistrations(.handle(.phone(13)), limit: 9) == (areStored ? [died] : []))
        #expect(try await store.deletedRegistrations(.installation("ana-1"), limit: 9) == (areStored ? [changed] : []))
    }
}

import PushModel
import Support

/// Values for stores, including unusual ones.
enum Samples {
    /// One notice of each kind, and variants with fewer values.
    static let notices: [Notice] = [
        .deferred(devices: 2, until: HubBench.startTime, reason: oddText), .deferred(devices: 5, until: nil, reason: ""),
        .exceededApproval(reach: 18, ApprovedReach(devices: 17, basis: .approval("a-1"))),
        .exceededApproval(reach: nil, ApprovedReach(devices: 0, basis: .ceiling(of: .key("ops", hub: "news")))),
        .exceededApproval(reach: 1, ApprovedReach(devices: 0, basis: .ceiling(of: nil))), .planLost(plan: "p-0001"),
        .wrongEnvironment(.apns, advice: oddText), .heldRemovals(percent: 20), .planned(devices: 3), .text(oddText), .text(""),
    ]

    /// Canonically equivalent spellings, marks, NUL, quotes, a byte order mark, a flag.
    static let oddText = "e\u{301} é \u{FEFF}\u{0}\u{1F}'\"\\\n\r\u{2028}🏳️‍🌈 %s ?1 NULL"

    static let handles: [DeviceHandle] = [
        .phone(1), .fcmV1(token: "fcm:token-1"), .gcm(token: "gcm:token-1"), .wns(channel: "https://wns.example/?token=a%2fb"),
        .subscription, .mpns(channel: "http://mpns.example/u/1"), .adm(token: "amzn1.adm.1"), .baidu(user: "17-8", channel: "9-1"),
        .xiaomi(token: "xiaomi=="),
    ]

    static func id(_ number: Int) -> RegistrationID {
        RegistrationID("\(1_000_000 + number)-\(2_000_000 + number)-1") ?? RegistrationID(random: SeededRandom(seed: UInt64(number)))
    }

    static func registration(_ number: Int, etag: Int = 1, tags: [Tag] = []) -> Registration {
        Registration(
            id: id(number), etag: etag, expiration: .distantFuture, updatedAt: HubBench.startTime,
            description: RegistrationDescription(handle: .phone(number), tags: tags))
    }

    static func put(_ row: UInt32, _ number: Int, etag: Int = 1) -> RegistrationRow {
        RegistrationRow(row: row, registration: registration(number, etag: etag))
    }

    static func removal(
        _ row: UInt32, _ number: Int, _ reason: RegistrationTombstone.Reason = .deleted, after seconds: Int64 = 0
    ) -> RemovedRegistration {
        RemovedRegistration(
            row: row, id: id(number), tombstone: RegistrationTombstone(reason, at: HubBench.startTime + .seconds(seconds)))
    }

    /// Templates of every platform, with all optional properties.
    static func templates() throws -> [RegistrationTemplate] {
        [
            try RegistrationTemplate(
                name: "greeting \(oddText)", body: #"{"aps":{"alert":"$(message:{é 🎉})"}}"#,
                headers: [PushHeader("apns-push-type", "alert"), PushHeader("APNS-Priority", "$(level)")], expiry: "$(expiry)",
                priority: "5", platform: .apns),
            try RegistrationTemplate(body: ##"{"message":{"data":{"a":"#(count)"}}}"##, platform: .fcmV1),
            try RegistrationTemplate(name: "", body: #"{"data":{"a":"%(link)"}}"#, platform: .gcm),
            try RegistrationTemplate(
                name: "tile", body: "<tile><visual><binding template=\"TileText\"><text id=\"1\">$(m)</text></binding></visual></tile>",
                platform: .wns),
            try RegistrationTemplate(
                name: "raw", body: #"{"a":"$(m)"}"#, headers: [PushHeader("X-WNS-Type", "wns/raw"), PushHeader("X-WNS-TTL", "60")],
                platform: .wns),
            try RegistrationTemplate(body: #"{"title":".(title, 20)"}"#, platform: .browser),
            try RegistrationTemplate(body: #"{"data":{"a":"{$(a) + ' ' + $(b)}"}}"#, platform: .adm),
            try RegistrationTemplate(body: #"{"title":"$(a)"}"#, platform: .baidu),
            try RegistrationTemplate(body: #"{"title":"$(a)"}"#, platform: .xiaomi),
        ]
    }

    static func installation(_ id: String = "device \(oddText)") throws -> Installation {
        let template = InstallationTemplate(
            body: #"{"aps":{"alert":"$(m)"}}"#, headers: [PushHeader("b", "2"), PushHeader("a", "1"), PushHeader("b", oddText)],
            expiry: "2026-01-31", tags: [])
        var installation = Installation(
            id: id, userID: "Bob", handle: .wns(channel: "https://wns.example/1"), expiration: HubBench.startTime,
            tags: [try Tag("News"), try Tag("größe")], pushVariables: ["a": "1", oddText: oddText, "": ""],
            templates: ["all": template, "none": InstallationTemplate(body: "")],
            secondaryTiles: [
                "tile \(oddText)": SecondaryTile(
                    handle: .wns(channel: "https://wns.example/2"), isPushChannelExpired: true, tags: [try Tag("tile")],
                    templates: ["t": template]),
                "plain": SecondaryTile(handle: .phone(2)),
            ])
        (installation.isPushChannelExpired, installation.updatedAt) = (true, HubBench.startTime + .milliseconds(1))
        return installation
    }

    static func notification(
        _ sequence: Int64, id: String? = nil, key: String? = nil, fingerprint: UInt8 = 0,
        state: NotificationOutcome.State = .enqueued, request: NotificationRequest? = nil
    ) throws -> StoredNotification {
        StoredNotification(
            sequence: sequence, request: try request ?? .alert(to: "news && !muted"),
            idempotency: key.map { IdempotencyKey(key: $0, fingerprint: Array(repeating: fingerprint, count: 32)) },
            outcome: NotificationOutcome(
                id: id ?? "notification-\(sequence)", state: state, tags: "news && !muted",
                times: NotificationTimes(enqueuedAt: HubBench.startTime)))
    }

    /// Progress of a notification that has ended.
    static func ended(
        _ sequence: Int64, after seconds: Int64 = 1, state: NotificationOutcome.State = .completed, devices: [DeviceOutcome] = [],
        lastOutcomes: [UInt32: OutcomeName] = [:]
    ) throws -> NotificationProgress {
        var outcome = try notification(sequence, state: state).outcome
        outcome.times.endedAt = HubBench.startTime + .seconds(seconds)
        return NotificationProgress(sequence: sequence, outcome: outcome, devices: devices, lastOutcomes: lastOutcomes)
    }

    static func device(_ number: Int, outcome: OutcomeName = .success) -> DeviceOutcome {
        DeviceOutcome(
            device: OutcomeDevice(registrationID: id(number), platform: .apns, handle: .phone(number), templateName: nil), outcome: outcome,
            reason: "", cause: .text(""), pushID: "push-\(number)", size: number, isRegistrationRemoved: false)
    }

    static func hub(_ number: Int64, name: String? = nil) -> HubRecord {
        HubRecord(
            number: number, name: name ?? "hub-\(number)", description: HubDescription(), createdAt: HubBench.startTime,
            updatedAt: HubBench.startTime
        )
    }

    static func rule(_ name: String, _ rights: Set<AuthorizationRule.Right>) -> AuthorizationRule {
        AuthorizationRule(
            name: name, rights: rights, primaryKey: Secret("primary \(oddText)"), secondaryKey: Secret("secondary"),
            createdAt: HubBench.startTime, modifiedAt: HubBench.startTime + .seconds(1))
    }
}

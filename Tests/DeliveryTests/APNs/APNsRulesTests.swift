import Delivery
import PushModel
import Testing

@Suite struct APNsRulesTests {
    private func push(_ batch: DeliveryBatch) async throws -> (ScriptedTransport, Verdict?) {
        let transport = ScriptedTransport([])
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: VirtualClock(now: Accounts.start))
        let verdict = await connector.deliver(batch).first
        return (transport, verdict)
    }

    private func headers(_ type: String?, _ others: [String: String] = [:]) -> [PushHeader] {
        (type.map { [PushHeader("apns-push-type", $0)] } ?? []) + others.sorted { $0.key < $1.key }.map { PushHeader($0.key, $0.value) }
    }

    private static let types = [
        "alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity", "pushtotalk", "widgets",
        "controls",
    ]

    @Test(arguments: types) func `Each push type accepts its own priorities and no others`(type: String) async throws {
        let taken: [String] =
            switch type {
            case "background": ["5"]
            case "liveactivity": ["5", "10"]
            default: ["1", "5", "10"]
            }
        for priority in ["0", "1", "5", "10", "high", "05"] {
            let (transport, verdict) = try await push(
                .apns(APNsPayloads.fitting(type), headers: headers(type, ["apns-priority": priority])))
            #expect((transport.all.count == 1) == taken.contains(priority), "\(priority)")
            if !taken.contains(priority) {
                #expect(verdict?.isRejected == true && verdict?.rejection?.reason == "BadPriority" && verdict?.rejection?.status == 0)
                #expect(verdict?.rejection?.explanation.contains(taken.joined(separator: " or ")) == true)
            }
        }
    }

    @Test func `A background notification without an explicit push type gets priority 5`() async throws {
        let (transport, _) = try await push(
            .apns(#"{"aps":{"content-available":1}}"#, headers: [PushHeader("X-Apns-Priority", "10")]))
        #expect(transport.pushes.first?.header("apns-priority") == "5")
    }

    @Test(arguments: [("low", "5"), ("normal", "5"), ("high", "10")])
    func `The requested priority is adapted to live activities`(wish: String, priority: String) async throws {
        let options = PushOptions(priority: PushOptions.Priority(rawValue: wish))
        let (transport, _) = try await push(.apns(APNsPayloads.update, headers: headers("liveactivity"), options: options))
        #expect(transport.pushes.first?.header("apns-priority") == priority)
    }

    @Test(
        arguments: [
            ("apns-id", "not-a-uuid", "BadMessageId"), ("apns-id", "6d7aa6a58a6e4b1c9d510a0b0c0d0e0f", "BadMessageId"),
            ("apns-id", "6d7aa6a5-8a6e-4b1c-9d51-0a0b0c0d0e0g", "BadMessageId"), ("apns-expiration", "tomorrow", "BadExpirationDate"),
            ("apns-expiration", "1.5", "BadExpirationDate"), ("apns-expiration", "2026-01-31T12:00:00Z", "BadExpirationDate"),
            ("apns-collapse-id", String(repeating: "c", count: 65), "BadCollapseId"), ("apns-priority", "7", "BadPriority"),
        ])
    func `A header that APNs would refuse is not sent`(name: String, value: String, reason: String) async throws {
        let (transport, verdict) = try await push(.apns(headers: headers(nil, [name: value])))
        #expect(transport.all.isEmpty && verdict?.isRejected == true)
        #expect(verdict?.rejection?.reason == reason && verdict?.rejection?.outcome == .pnsInterfaceError)
    }

    @Test(
        arguments: [
            ("apns-id", "6D7AA6A5-8A6E-4B1C-9D51-0A0B0C0D0E0F", "6d7aa6a5-8a6e-4b1c-9d51-0a0b0c0d0e0f"), ("apns-expiration", "0", "0"),
            ("apns-expiration", "1767603600", "1767603600"),
            ("apns-collapse-id", String(repeating: "c", count: 64), String(repeating: "c", count: 64)),
        ])
    func `A header at its limit is sent`(name: String, value: String, sent: String) async throws {
        let (transport, _) = try await push(.apns(headers: headers(nil, [name: value])))
        #expect(transport.pushes.first?.header(name) == sent)
    }

    @Test(arguments: types) func `A given topic must fit the push type`(type: String) async throws {
        let suffix =
            try await push(.apns(APNsPayloads.fitting(type), headers: headers(type))).0.pushes.first?.header("apns-topic")?
            .dropFirst("com.example.app".count) ?? ""
        let body = APNsPayloads.fitting(type)
        let (fitting, _) = try await push(.apns(body, headers: headers(type, ["apns-topic": "com.example.other\(suffix)"])))
        #expect(fitting.pushes.first?.header("apns-topic") == "com.example.other\(suffix)")
        let (bare, verdict) = try await push(.apns(body, headers: headers(type, ["apns-topic": "com.example.other"])))
        #expect((bare.all.count == 1) == suffix.isEmpty)
        if !suffix.isEmpty {
            #expect(verdict?.rejection?.reason == "BadTopic" && verdict?.rejection?.explanation.contains(suffix) == true)
        }
    }

    @Test func `The suffix of a topic gives the push type when no header does`() async throws {
        let (transport, _) = try await push(.apns(headers: headers(nil, ["apns-topic": "com.example.app.voip"])))
        #expect(transport.pushes.first?.header("apns-push-type") == "voip")
        // The suffix may also be part of another app's id.
        let (other, _) = try await push(.apns(headers: headers(nil, ["apns-topic": "com.example.voip"])))
        #expect(other.pushes.first?.header("apns-push-type") == "alert")
    }

    private static let misfits: [(String, String, String)] = [
        ("background", #"{"aps":{"alert":"Hi"}}"#, "aps.content-available is not 1"),
        ("background", #"{"aps":{"content-available":0}}"#, "aps.content-available is not 1"),
        ("background", #"{"id":7}"#, "aps.content-available is not 1"),
        ("background", #"{"aps":{"content-available":1,"alert":"Hi"}}"#, "aps.alert is visible to the user"),
        ("background", #"{"aps":{"content-available":1,"badge":3}}"#, "aps.badge is visible to the user"),
        ("background", #"{"aps":{"content-available":1,"sound":"default"}}"#, "aps.sound is visible to the user"),
        ("widgets", #"{"aps":{}}"#, "aps.content-changed is not true"),
        ("controls", #"{"aps":{"content-changed":false}}"#, "aps.content-changed is not true"),
        ("liveactivity", #"{"aps":{"alert":"Hi"}}"#, "aps.timestamp is not a number"),
        ("liveactivity", #"{"aps":{"timestamp":"now","event":"end"}}"#, "aps.timestamp is not a number"),
        ("liveactivity", #"{"aps":{"timestamp":1,"content-state":{}}}"#, "aps.event is not start, update or end"),
        ("liveactivity", #"{"aps":{"timestamp":1,"event":"stop"}}"#, "aps.event is not start, update or end"),
        ("liveactivity", #"{"aps":{"timestamp":1,"event":"update"}}"#, "aps.content-state is not an object"),
        ("liveactivity", #"{"aps":{"timestamp":1,"event":"end","content-state":7}}"#, "aps.content-state is not an object"),
        ("liveactivity", #"{"aps":{"timestamp":1,"event":"start","content-state":{}}}"#, "aps.attributes-type is missing"),
        (
            "liveactivity", #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"T"}}"#,
            "aps.attributes is not an object"
        ),
        (
            "liveactivity", #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"T","attributes":{}}}"#,
            "aps.alert is missing"
        ),
    ]

    @Test(arguments: misfits)
    func `A payload that does not fit its push type is not sent, and the error names the wrong part`(
        type: String, body: String, fault: String
    ) async throws {
        let (transport, verdict) = try await push(.apns(body, headers: headers(type)))
        #expect(transport.all.isEmpty && verdict?.isRejected == true)
        #expect(verdict?.rejection?.reason == "MalformedPayload" && verdict?.rejection?.outcome == .pnsInterfaceError)
        #expect(verdict?.rejection?.explanation.contains(": \(fault)") == true, "\(verdict?.rejection?.explanation ?? "")")
    }

    @Test(
        arguments: [
            ("background", #"{"aps":{"content-available":1,"sound":""},"id":7}"#),
            ("background", #"{"aps":{"content-available":"1","alert":null}}"#), ("background", "not json"),
            ("widgets", #"{"aps":{"content-changed":1}}"#), ("liveactivity", #"{"aps":{"timestamp":1767600000.5,"event":"end"}}"#),
            ("liveactivity", APNsPayloads.start), ("alert", #"{"aps":{"content-available":1}}"#), ("alert", "{}"),
            ("tomorrow", #"{"aps":{}}"#), ("voip", "{}"),
        ])
    func `Unusual payloads that APNs accepts are sent`(type: String, body: String) async throws {
        let (transport, _) = try await push(.apns(body, headers: headers(type)))
        #expect(transport.pushes.first?.text == body)
    }

    @Test func `An empty payload is not sent`() async throws {
        let (transport, verdict) = try await push(.apns(""))
        #expect(transport.all.isEmpty && verdict?.rejection?.reason == "PayloadEmpty")
    }

    @Test func `Every device of a refused batch has the refusal as its verdict`() async throws {
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: ScriptedTransport([]), clock: VirtualClock(now: Accounts.start))
        let verdicts = await connector.deliver(.apns(headers: headers(nil, ["apns-priority": "3"]), tokens: ["aa", "bb", "cc"]))
        #expect(verdicts.count == 3 && verdicts.allSatisfy { $0.rejection?.reason == "BadPriority" })
    }
}

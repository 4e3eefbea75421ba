import Support
import Testing

@testable import PushHub
@testable import PushModel

/// A hub with random registrations and installations, and sends of all kinds to random audiences.
struct PlanWalk {
    let bench: HubBench
    private let random: SeededRandom
    private let tags: [PushModel.Tag]
    var hub: NotificationHub { bench.hub }

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed &* 977 &+ 11)
        // No connector for browsers: they are refused, but still count in the audience.
        bench = try HubBench(registrationTTL: .seconds(3600), platforms: [.apns, .fcmV1, .gcm, .wns], seed: seed)
        tags = try (0..<6).map { try PushModel.Tag("t\($0)") }
    }

    func number(below end: Int) -> Int { Int(random.next() % UInt64(end)) }

    private func handle() -> DeviceHandle {
        // Few handles, so that many have duplicates.
        let number = number(below: 30)
        switch number % 6 {
        case 0: return .fcmV1(token: String(repeating: "f", count: 30) + "\(number)")
        case 1: return .gcm(token: String(repeating: "g", count: 30) + "\(number)")
        case 2: return .wns(channel: "https://wns.example/?token=\(number)")
        case 3: return .browser(endpoint: "https://push.example/\(number)", p256dh: DeviceHandle.key, auth: DeviceHandle.secret)
        default: return .phone(number)
        }
    }

    private static let bodies: [Platform: [String]] = [
        .apns: [#"{"aps":{"alert":"$(a)"}}"#, ##"{"aps":{"alert":"{$(b) + ' ' + $(who)}"}}"##],
        .fcmV1: [#"{"message":{"data":{"a":"$(a)"}}}"#, #"{"message":{"data":{"a":"$(who)"}}}"#],
        .gcm: [#"{"data":{"a":"$(a)"}}"#],
        .wns: [#"<toast><visual><binding template="ToastText01"><text id="1">$(a)</text></binding></visual></toast>"#],
        .browser: [#"{"title":"$(a)"}"#],
    ]

    private func template(_ platform: Platform) throws -> RegistrationTemplate? {
        guard number(below: 2) == 0, let bodies = Self.bodies[platform] else { return nil }
        return try RegistrationTemplate(
            name: [nil, "x", "y"][number(below: 3)], body: bodies[number(below: bodies.count)], platform: platform)
    }

    private func someTags() -> [PushModel.Tag] { tags.filter { _ in number(below: 3) == 0 } }

    private func variables() -> [String: String] {
        number(below: 3) == 0 ? ["who": "w\(number(below: 2))", "z": "\(number(below: 3))"] : [:]
    }

    private func description() throws -> RegistrationDescription {
        let handle = handle()
        return RegistrationDescription(
            handle: handle, tags: someTags(), template: try template(handle.platform), pushVariables: variables())
    }

    private func installation() throws -> Installation {
        let handle = DeviceHandle.phone(number(below: 30))
        var templates: [String: InstallationTemplate] = [:]
        if number(below: 2) == 0 { templates["news"] = InstallationTemplate(body: #"{"aps":{"alert":"$(a)"}}"#) }
        return Installation(
            id: "device-\(number(below: 12))", userID: number(below: 2) == 0 ? "user-\(number(below: 5))" : nil, handle: handle,
            tags: someTags(), pushVariables: variables(), templates: templates)
    }

    /// Makes one random change.
    func change() async throws {
        switch number(below: 12) {
        case 0..<4: _ = try await hub.createRegistration(try description())
        case 4, 5: try await hub.putInstallation(try installation())
        case 6: try await hub.deleteInstallation("device-\(number(below: 12))")
        case 7: bench.advance(by: .seconds(Int64(number(below: 300))))
        default:
            let own = try await hub.allRegistrations(.all).filter { $0.installationID == nil }
            guard let one = own.isEmpty ? nil : own[number(below: own.count)] else { return }
            if number(below: 2) == 0 {
                try await hub.deleteRegistration(one.id, ifMatch: nil)
            } else {
                _ = try await hub.putRegistration(one.id, try description(), ifMatch: nil)
            }
        }
    }

    func expression(_ depth: Int = 3) -> TagExpression {
        let terms = { (0..<(1 + number(below: 3))).map { _ in expression(depth - 1) } }
        switch depth == 0 ? 0 : number(below: 6) {
        case 0, 1: return .tag(tags[number(below: tags.count)])
        case 2: return .not(expression(depth - 1))
        case 3: return .and(terms())
        default: return .or(terms())
        }
    }

    func audience() -> Audience { number(below: 4) == 0 ? .everyone : .expression(expression().normalized) }

    func content() -> NotificationContent {
        switch number(below: 4) {
        case 0: return .native(AlertPayloads.system(title: nil, text: "Hi \(number(below: 9))"))
        case 1: return .native([.apns: NativePayload(body: Array(#"{"aps":{"alert":"x"}}"#.utf8))])
        // Too large for some devices.
        case 2: return .template(["a": String(repeating: "x", count: number(below: 2) == 0 ? 10 : 4400), "b": "y"])
        default: return .template(["a": "A", "who": "everybody"])
        }
    }
}

extension DeviceHandle {
    fileprivate static let key = "B" + String(repeating: "A", count: 86)
    fileprivate static let secret = String(repeating: "a", count: 22)
}

/// The result for a device in a plan or in a send.
struct PlannedRow: Hashable {
    var id: RegistrationID?
    var platform: Platform
    var isDuplicate: Bool
    var isRefused: Bool
    var bytes: Int?

    init(_ device: PlannedDevice) {
        (id, platform, isDuplicate) = (device.registrationID, device.platform, device.isDuplicate)
        isRefused = device.isRefused && !device.isDuplicate
        bytes = device.isDuplicate ? nil : device.bytes
    }

    init(_ device: DeviceOutcome) {
        (id, platform) = (device.registrationID, device.platform)
        isDuplicate = device.outcome == .skipped && device.reason.isEmpty
        isRefused = [.invalidCredentials, .invalidNotificationSize].contains(device.outcome)
        bytes = isDuplicate ? nil : device.size
    }
}

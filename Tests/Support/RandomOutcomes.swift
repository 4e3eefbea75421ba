package import PushModel

/// Devices of every shape, usual and unusual, from a seed.
package struct RandomOutcomes {
    private let random: SeededRandom
    private static let texts = [
        "", "accepted by the push service", "Unregistered", "é e\u{301} \u{FEFF}\u{0}'\"\n🏳️‍🌈", String(repeating: "long ", count: 200),
    ]

    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    package func devices(_ count: Int) -> [DeviceOutcome] { (0..<count).map { _ in device() } }

    package func device() -> DeviceOutcome {
        let handle = handle()
        return DeviceOutcome(
            device: OutcomeDevice(
                registrationID: oneIn(5) ? nil : registrationID(), installationID: oneIn(3) ? optionalID() : nil,
                platform: oneIn(9) ? pick(Platform.allCases) : handle.platform, handle: handle,
                templateName: oneIn(3) ? pick(Self.texts) : nil), outcome: pick(OutcomeName.allCases), reason: pick(Self.texts),
            cause: cause(), pushID: optionalID(), size: oneIn(9) ? pick([0, -1, .max, .min]) : Int(random.next() % 5000),
            isRegistrationRemoved: oneIn(4))
    }

    private func cause() -> OutcomeCause {
        pick([
            .accepted, .duplicate, .removedEarly, .cancelled, .unanswered, .text(pick(Self.texts)),
            .ruled(HookReason(plugin: oneIn(2) ? "quiet" : nil, reason: pick(Self.texts))),
        ])
    }

    package func number(below end: Int) -> Int { Int(random.next() % UInt64(end)) }

    package func oneIn(_ count: Int) -> Bool { number(below: count) == 0 }

    package func pick<Value>(_ values: [Value]) -> Value { values[number(below: values.count)] }

    package func registrationID() -> RegistrationID {
        let odd = ["0-0-0", "00-1-1", "1-2-9999999999999999999", "7-08-1", "9999999999999999999-1-1", "5-6-2", "1-1-01"]
        return (oneIn(3) ? RegistrationID(pick(odd)) : nil) ?? RegistrationID(random: random)
    }

    /// An id in the form of push services or apps, or none.
    private func optionalID() -> String? {
        let digits = hex(16)
        let uuid = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(Array(digits)[$0]) }.joined(separator: "-")
        return pick([
            nil, uuid, uuid.uppercased(), uuid.dropLast() + "g", String(uuid.dropLast()), uuid.replacing("-", with: "_"), digits,
            String(uuid.prefix(7)) + "-" + uuid.dropFirst(8), "projects/p/messages/0:\(digits)", "", pick(Self.texts),
        ])
    }

    private func handle() -> DeviceHandle {
        let text = pick([
            hex(32), hex(32).uppercased(), hex(number(below: 100)).uppercased(), hex(3), "ABC", "zz", "", "0a0A", pick(Self.texts),
        ])
        return switch pick(Platform.allCases + Array(repeating: .apns, count: 9)) {
        case .apns: .apns(token: text)
        case .fcmV1: .fcmV1(token: text)
        case .gcm: .gcm(token: text)
        case .wns: .wns(channel: text)
        case .browser: .browser(endpoint: text, p256dh: pick(Self.texts), auth: hex(2))
        case .mpns: .mpns(channel: text)
        case .adm: .adm(token: text)
        case .baidu: .baidu(user: text, channel: pick(["", "1-2"]))
        case .xiaomi: .xiaomi(token: text)
        }
    }

    private func hex(_ bytes: Int) -> String {
        let digits = Array("0123456789abcdef")
        return String((0..<2 * bytes).map { _ in digits[number(below: 16)] })
    }
}

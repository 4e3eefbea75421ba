import PushModel

extension Platform {
    /// Never change these codes; append new platforms at the end. The first has code 1.
    private static let storedCodes: [Platform] = [.apns, .fcmV1, .gcm, .wns, .browser, .mpns, .adm, .baidu, .xiaomi]

    var storedCode: UInt8 { UInt8((Self.storedCodes.firstIndex(of: self) ?? -1) + 1) }

    init(storedCode code: UInt8) throws {
        guard (1...Self.storedCodes.count).contains(Int(code)) else { throw UnreadableValue(reason: "unknown platform \(code)") }
        self = Self.storedCodes[Int(code) - 1]
    }
}

extension OutcomeName {
    /// Never change these codes; append new outcomes at the end. The first has code 1.
    private static let storedCodes: [OutcomeName] = [
        .success, .abandoned, .badChannel, .channelDisconnected, .channelThrottled, .dropped, .expiredChannel, .invalidCredentials,
        .invalidNotificationSize, .noTargets, .pnsInterfaceError, .pnsServerError, .pnsUnavailable, .pnsUnreachable, .skipped, .throttled,
        .unknownError, .wrongToken,
    ]

    /// Starts at 1.
    var storedCode: UInt8 { UInt8((Self.storedCodes.firstIndex(of: self) ?? -1) + 1) }

    init(storedCode code: UInt8) throws {
        guard (1...Self.storedCodes.count).contains(Int(code)) else { throw UnreadableValue(reason: "unknown outcome \(code)") }
        self = Self.storedCodes[Int(code) - 1]
    }
}

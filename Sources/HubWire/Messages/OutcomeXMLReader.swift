package import PushModel

/// Reads the outcomes of notifications from the hub's XML.
package enum OutcomeXMLReader {
    /// Reads a hub's response to `GET messages/{id}`: `NotificationDetails`. Missing members stay unknown.
    ///
    /// Throws `xml.*` and `target.answer`.
    package static func outcome(details document: [UInt8], id: String) throws(PushError) -> NotificationOutcome {
        let details = try XMLElement(parsing: document, limit: maximumSize)
        guard details.name == "NotificationDetails" else { throw refusal(details.name) }
        func time(_ name: String) -> Timestamp? { details.text(of: name).flatMap { Timestamp(date: $0.trimmed) } }
        let word = details.text(of: "State")?.trimmed ?? ""
        // .NET spells it with two l.
        let state = word == "Cancelled" ? .canceled : NotificationOutcome.State(rawValue: word) ?? .unknown
        var counts: [Platform: [OutcomeName: Int]] = [:]
        for (name, platform) in OutcomeXML.countMembers {
            for outcome in details[name]?.children ?? [] {
                guard let count = outcome.text(of: "Count").flatMap({ Int($0.trimmed) }), count > 0 else { continue }
                let name = OutcomeName(rawValue: outcome.text(of: "Name")?.trimmed ?? "") ?? .unknownError
                counts[platform, default: [:]][name, default: 0] += count
            }
        }
        return NotificationOutcome(
            id: id, state: state, tags: details.text(of: "Tags")?.nonEmpty,
            times: NotificationTimes(
                enqueuedAt: time("EnqueueTime") ?? Timestamp(milliseconds: 0), startedAt: time("StartTime"), endedAt: time("EndTime")),
            tally: DeviceTally(counts: counts))
    }

    /// Reads a hub's response to a test send: `NotificationOutcome`, with a result for each device.
    ///
    /// Throws `xml.*` and `target.answer`.
    package static func outcome(
        test document: [UInt8], id: String, tags: String?, now: Timestamp
    ) throws(PushError) -> NotificationOutcome {
        let outcome = try XMLElement(parsing: document, limit: maximumSize)
        guard outcome.name == "NotificationOutcome" else { throw refusal(outcome.name) }
        let devices = (outcome["Results"]?.children ?? []).compactMap(DeviceOutcome.init(result:))
        var reported = NotificationOutcome(
            id: id, state: devices.isEmpty ? .noTargetFound : .detailedStateAvailable, tags: tags,
            times: NotificationTimes(enqueuedAt: now, endedAt: now), devices: devices)
        reported.tally.count(devices)
        return reported
    }

    private static let maximumSize = 4 << 20

    private static func refusal(_ name: String) -> PushError {
        PushError(
            "target.answer", "the hub's response is \"\(name)\", which is not a notification outcome",
            hint: "the server is not a notification hub or has another version")
    }
}

extension DeviceOutcome {
    /// Nil for an unknown platform.
    fileprivate init?(result: XMLElement) {
        let name = result.text(of: "ApplicationPlatform")?.trimmed.lowercased() ?? ""
        guard let platform = Platform.allCases.first(where: { $0.format.lowercased() == name || $0.rawValue == name }) else { return nil }
        let sentence = result.text(of: "Outcome")?.trimmed ?? ""
        let handle = result.text(of: "PnsHandle")?.trimmed ?? ""
        self.init(
            device: OutcomeDevice(
                registrationID: result.text(of: "RegistrationId").flatMap { RegistrationID($0.trimmed) }, platform: platform,
                handle: DeviceHandle(reported: handle, platform), templateName: nil), outcome: Self.outcome(sentence), reason: "",
            cause: .text(sentence), pushID: nil, size: 0, isRegistrationRemoved: false)
    }

    /// Maps Azure's outcome sentences to names. A telemetry name maps to itself.
    private static func outcome(_ sentence: String) -> OutcomeName {
        if let name = OutcomeName(rawValue: sentence) { return name }
        let words = sentence.lowercased()
        if words.contains("successfully sent") { return .success }
        if words.contains("token obtained from the token provider") { return .invalidCredentials }
        if words.contains("handle for the registration is invalid") { return .badChannel }
        if words.contains("payload is invalid") { return .invalidNotificationSize }
        return .unknownError
    }
}

extension DeviceHandle {
    /// Makes a handle from a response, which may contain only a part of it. For display, not for sending.
    package init(reported text: String, _ platform: Platform) {
        switch platform {
        case .apns: self = .apns(token: text.uppercased())
        case .fcmV1: self = .fcmV1(token: text)
        case .gcm: self = .gcm(token: text)
        case .wns: self = .wns(channel: text)
        case .browser: self = .browser(endpoint: text, p256dh: "", auth: "")
        case .mpns: self = .mpns(channel: text)
        case .adm: self = .adm(token: text)
        case .baidu:
            let parts = text.split(separator: "-", maxSplits: 1).map(String.init)
            self = .baidu(user: parts.first ?? "", channel: parts.count > 1 ? parts[1] : "")
        case .xiaomi: self = .xiaomi(token: text)
        }
    }
}

package import PushModel

/// Writes the outcomes of notifications as the hub's XML.
package enum OutcomeXML {
    /// The response to a test send: `NotificationOutcome`, never empty.
    package static func testDocument(_ outcome: NotificationOutcome) -> [UInt8] {
        var writer = XMLWriter()
        writer.description("NotificationOutcome") { writer in
            writer.element("Success", text: String(outcome.sent))
            writer.element("Failure", text: String(outcome.failed))
            writer.element("Results") { writer in
                for device in outcome.devices {
                    writer.element("RegistrationResult") { writer in
                        writer.element("ApplicationPlatform", text: device.platform.format.lowercased())
                        writer.element("PnsHandle", text: device.handle.text)
                        writer.element("RegistrationId", ifPresent: device.registrationID?.text)
                        writer.element("Outcome", text: device.sentence)
                    }
                }
            }
        }
        return writer.bytes
    }

    /// The response to `GET messages/{id}`: `NotificationDetails`. Unknown members are omitted.
    /// - Parameters:
    ///   - location: The message's address.
    ///   - request: The send request, if still known.
    package static func detailsDocument(
        _ outcome: NotificationOutcome, at location: String, request: NotificationRequest?
    ) -> [UInt8] {
        var isTemplate = false
        var body: String?
        switch request?.content {
        case .template(let properties):
            isTemplate = true
            body = JSON.object(JSONObject(properties.map { ($0.key, JSON.string($0.value)) })).text(sortedKeys: true)
        case .native(let payloads): body = payloads.min { $0.key < $1.key }.map { String(decoding: $0.value.body, as: UTF8.self) }
        case nil: break
        }
        let targets = outcome.counts.keys.sorted().map { $0.format.lowercased() + (isTemplate ? "template" : "") }
        var writer = XMLWriter()
        writer.description("NotificationDetails") { writer in
            writer.element("NotificationId", text: outcome.id)
            writer.element("Location", text: location)
            writer.element("State", text: outcome.state.rawValue)
            writer.element("EnqueueTime", text: outcome.enqueuedAt.description)
            writer.element("StartTime", ifPresent: outcome.startedAt?.description)
            writer.element("EndTime", ifPresent: outcome.endedAt?.description)
            writer.element("NotificationBody", ifPresent: body)
            writer.element("Tags", ifPresent: outcome.tags)
            writer.element("TargetPlatforms", ifPresent: targets.joined(separator: ",").nonEmpty)
            for (name, platform) in countMembers { writer.counts(name, outcome.counts[platform] ?? [:]) }
        }
        return writer.bytes
    }

    /// In the order in which .NET reads them.
    static let countMembers: KeyValuePairs<String, Platform> = [
        "ApnsOutcomeCounts": .apns, "MpnsOutcomeCounts": .mpns, "WnsOutcomeCounts": .wns, "GcmOutcomeCounts": .gcm,
        "AdmOutcomeCounts": .adm, "FcmV1OutcomeCounts": .fcmV1, "BaiduOutcomeCounts": .baidu, "BrowserOutcomeCounts": .browser,
        "XiaomiOutcomeCounts": .xiaomi,
    ]
}

extension XMLWriter {
    fileprivate mutating func counts(_ name: String, _ counts: [OutcomeName: Int]) {
        guard !counts.isEmpty else { return }
        element(name) { writer in
            for (outcome, count) in counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                writer.element("Outcome") { writer in
                    writer.element("Name", text: outcome.rawValue)
                    writer.element("Count", text: String(count))
                }
            }
        }
    }
}

extension DeviceOutcome {
    /// Azure's sentence for the outcome, or PushHost's own if Azure has none.
    fileprivate var sentence: String {
        switch outcome {
        case .success: "The Notification was successfully sent to the Push Notification System"
        case .invalidCredentials: "The Token obtained from the Token Provider is wrong"
        case .badChannel, .expiredChannel, .wrongToken:
            "The Push Notification System handle for the registration is invalid"
        case .invalidNotificationSize: "The Notification payload is invalid"
        default: explanation.nonEmpty ?? outcome.rawValue
        }
    }
}

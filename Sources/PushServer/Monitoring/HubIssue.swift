package import PushHub
package import PushModel

/// A delivery issue of a hub on one platform, as reported to `pushhost doctor`.
package struct HubIssue: Sendable, Equatable {
    package var hub: String
    package var platform: Platform
    /// The next attempt, if the push service does not respond or rejects the hub's credential.
    package var nextTry: Timestamp?
    /// The push service's rejection of the credential.
    package var block: CredentialBlock?
    /// The origin of the push service, for browsers.
    package var origin: String?
    /// The mismatch of tokens and credential, with the remedy.
    package var wrongEnvironment: String?

    init(hub: String, _ issue: DeliveryIssue) {
        (self.hub, platform) = (hub, issue.platform)
        switch issue.kind {
        case .openCircuit(let origin, let nextTry, let block): (self.origin, self.nextTry, self.block) = (origin, nextTry, block)
        case .wrongEnvironment(let words, _): wrongEnvironment = words
        }
    }

    var json: JSON {
        var members = JSONObject([("hub", .string(hub)), ("platform", .string(platform.rawValue))])
        if let nextTry { members.append("nextTry", .integer(nextTry.seconds)) }
        if let origin { members.append("origin", .string(origin)) }
        if let block {
            members.append("reason", .string(block.reason))
            members.append("explanation", .string(block.explanation))
        }
        if let wrongEnvironment { members.append("mixUp", .string(wrongEnvironment)) }
        return .object(members)
    }

    package init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let platform = json["platform"]?.string.flatMap(Platform.init(rawValue:)) else { return nil }
        (self.hub, self.platform) = (hub, platform)
        nextTry = json["nextTry"]?.int.map { Timestamp(seconds: Int64($0)) }
        origin = json["origin"]?.string
        block = json["reason"]?.string.map { CredentialBlock(reason: $0, explanation: json["explanation"]?.string ?? "") }
        wrongEnvironment = json["mixUp"]?.string
    }
}

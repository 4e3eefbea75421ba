import PushHub
import PushModel

extension RunningServer {
    /// The current delivery issues of all hubs.
    var troubles: [HubIssue] {
        get async {
            var found: [HubIssue] = []
            for hub in namespace.hubs {
                found += await onHubs { await hub.service.troubles() }.map { HubIssue(hub: hub.record.name, $0) }
            }
            return found
        }
    }

    /// Hubs with held removals of devices.
    var heldRemovals: [HubHeldRemovals] {
        get async {
            var found: [HubHeldRemovals] = []
            for hub in namespace.hubs {
                found.append(HubHeldRemovals(hub: hub.record.name, devices: await onHubs { await hub.service.heldRemovalCount }))
            }
            return found.filter { $0.devices > 0 }
        }
    }

    /// Sets `pushhost_removals_held`: the number of registrations per hub whose removal is held; no value for hubs without any.
    func measureHeldRemovals() async {
        metrics.replace("pushhost_removals_held", with: await heldRemovals.map { ([("hub", $0.hub)], Double($0.devices)) })
    }

    /// Sets `pushhost_circuit_open`, the number of push services per hub and platform that do not respond (browsers have several),
    /// `pushhost_circuit_next_try_seconds`, the earliest next attempt since 1970, and `pushhost_mixed_up` (1), if most tokens are not those
    /// of the credential.
    func measure(_ troubles: [HubIssue]) {
        let platforms = Dictionary(grouping: troubles) { [$0.hub, $0.platform.rawValue] }
        func values(_ value: ([HubIssue]) -> Double?) -> [(dimensions: [(String, String)], value: Double)] {
            platforms.compactMap { place, troubles in value(troubles).map { ([("hub", place[0]), ("platform", place[1])], $0) } }
        }
        func count(_ some: [some Any]) -> Double? { some.isEmpty ? nil : Double(some.count) }
        metrics.replace("pushhost_circuit_open", with: values { count($0.compactMap(\.nextTry)) })
        metrics.replace("pushhost_circuit_next_try_seconds", with: values { $0.compactMap(\.nextTry).min().map { Double($0.seconds) } })
        metrics.replace("pushhost_mixed_up", with: values { count($0.compactMap(\.wrongEnvironment)) })
    }
}

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

    init(hub: String, _ trouble: DeliveryIssue) {
        (self.hub, platform) = (hub, trouble.platform)
        switch trouble.kind {
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

/// The held removals of a hub, as reported to `pushhost doctor`.
package struct HubHeldRemovals: Sendable, Equatable {
    package var hub: String
    /// Number of registrations whose removal is held.
    package var devices: Int

    init(hub: String, devices: Int) { (self.hub, self.devices) = (hub, devices) }

    var json: JSON { .object(JSONObject([("hub", .string(hub)), ("devices", .integer(Int64(devices)))])) }

    package init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let devices = json["devices"]?.int else { return nil }
        (self.hub, self.devices) = (hub, devices)
    }
}

import PushCore

extension PushServer {
    /// What keeps hubs from delivering just now, by the names of the hubs.
    var troubles: [HubTrouble] {
        get async {
            var found: [HubTrouble] = []
            for hub in namespace.hubs {
                found += await onHubs { await hub.service.troubles() }.map { HubTrouble(hub: hub.record.name, $0) }
            }
            return found
        }
    }

    /// `pushhost_circuit_open` (1) and `pushhost_circuit_next_try_seconds`, since 1970, of push services that answer nobody;
    /// `pushhost_mixed_up` (1) where most handles are not those of the credential.
    func measure(_ troubles: [HubTrouble]) {
        func values(_ value: (HubTrouble) -> Double?) -> [(dimensions: [(String, String)], value: Double)] {
            troubles.compactMap { trouble in
                value(trouble).map { ([("hub", trouble.hub), ("platform", trouble.platform.rawValue)], $0) }
            }
        }
        metrics.replace("pushhost_circuit_open", with: values { $0.nextTry == nil ? nil : 1 })
        metrics.replace("pushhost_circuit_next_try_seconds", with: values { $0.nextTry.map { Double($0.seconds) } })
        metrics.replace("pushhost_mixed_up", with: values { $0.mixUp == nil ? nil : 1 })
    }
}

/// What keeps a hub from delivering on a platform, as `pushhost doctor` asks for it.
struct HubTrouble: Sendable, Equatable {
    var hub: String
    var platform: Platform
    /// Of a push service that answers nobody.
    var nextTry: Timestamp?
    /// What is mixed up, and what to do.
    var mixUp: String?

    init(hub: String, _ trouble: DeliveryTrouble) {
        (self.hub, platform) = (hub, trouble.platform)
        switch trouble.kind {
        case .openCircuit(let moment): nextTry = moment
        case .mixUp(let words, _): mixUp = words
        }
    }

    var json: JSON {
        var members = JSONObject([("hub", .string(hub)), ("platform", .string(platform.rawValue))])
        if let nextTry { members.append("nextTry", .integer(nextTry.seconds)) }
        if let mixUp { members.append("mixUp", .string(mixUp)) }
        return .object(members)
    }

    init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let platform = json["platform"]?.string.flatMap(Platform.init(rawValue:)) else { return nil }
        (self.hub, self.platform) = (hub, platform)
        nextTry = json["nextTry"]?.int.map { Timestamp(seconds: Int64($0)) }
        mixUp = json["mixUp"]?.string
    }
}

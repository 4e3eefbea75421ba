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

    /// Hubs with removals that are held.
    var heldRemovals: [HubHeldRemovals] {
        get async {
            var found: [HubHeldRemovals] = []
            for hub in namespace.hubs {
                found.append(HubHeldRemovals(hub: hub.record.name, devices: await onHubs { await hub.service.heldRemovalCount }))
            }
            return found.filter { $0.devices > 0 }
        }
    }

    /// `pushhost_removals_held`: registrations of a hub whose removal is held; none where nothing is.
    func measureHeldRemovals() async {
        metrics.replace("pushhost_removals_held", with: await heldRemovals.map { ([("hub", $0.hub)], Double($0.devices)) })
    }

    /// `pushhost_circuit_open` and `pushhost_circuit_next_try_seconds`, since 1970, of push services that answer nobody: how many these
    /// are, for browsers have several, and the first try.
    /// `pushhost_mixed_up` (1) where most handles are not those of the credential.
    func measure(_ troubles: [HubTrouble]) {
        let platforms = Dictionary(grouping: troubles) { [$0.hub, $0.platform.rawValue] }
        func values(_ value: ([HubTrouble]) -> Double?) -> [(dimensions: [(String, String)], value: Double)] {
            platforms.compactMap { place, troubles in value(troubles).map { ([("hub", place[0]), ("platform", place[1])], $0) } }
        }
        func count(_ some: [some Any]) -> Double? { some.isEmpty ? nil : Double(some.count) }
        metrics.replace("pushhost_circuit_open", with: values { count($0.compactMap(\.nextTry)) })
        metrics.replace("pushhost_circuit_next_try_seconds", with: values { $0.compactMap(\.nextTry).min().map { Double($0.seconds) } })
        metrics.replace("pushhost_mixed_up", with: values { count($0.compactMap(\.mixUp)) })
    }
}

/// What keeps a hub from delivering on a platform, as `pushhost doctor` asks for it.
struct HubTrouble: Sendable, Equatable {
    var hub: String
    var platform: Platform
    /// Of a push service that answers nobody, or refuses the hub's credential.
    var nextTry: Timestamp?
    /// What it says about the credential.
    var block: CredentialBlock?
    /// Which one of those of browsers.
    var origin: String?
    /// What is mixed up, and what to do.
    var mixUp: String?

    init(hub: String, _ trouble: DeliveryTrouble) {
        (self.hub, platform) = (hub, trouble.platform)
        switch trouble.kind {
        case .openCircuit(let origin, let nextTry, let block): (self.origin, self.nextTry, self.block) = (origin, nextTry, block)
        case .mixUp(let words, _): mixUp = words
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
        if let mixUp { members.append("mixUp", .string(mixUp)) }
        return .object(members)
    }

    init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let platform = json["platform"]?.string.flatMap(Platform.init(rawValue:)) else { return nil }
        (self.hub, self.platform) = (hub, platform)
        nextTry = json["nextTry"]?.int.map { Timestamp(seconds: Int64($0)) }
        origin = json["origin"]?.string
        block = json["reason"]?.string.map { CredentialBlock(reason: $0, explanation: json["explanation"]?.string ?? "") }
        mixUp = json["mixUp"]?.string
    }
}

/// The held removals of a hub, as `pushhost doctor` asks for them.
struct HubHeldRemovals: Sendable, Equatable {
    var hub: String
    /// Registrations whose removal is held.
    var devices: Int

    init(hub: String, devices: Int) { (self.hub, self.devices) = (hub, devices) }

    var json: JSON { .object(JSONObject([("hub", .string(hub)), ("devices", .integer(Int64(devices)))])) }

    init?(_ json: JSON) {
        guard let hub = json["hub"]?.string, let devices = json["devices"]?.int else { return nil }
        (self.hub, self.devices) = (hub, devices)
    }
}

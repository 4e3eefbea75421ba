/// The devices of one send, after native and template registrations were told apart and duplicates set aside.
struct Targets: Sendable {
    struct Target: Sendable {
        var handle: DeviceHandle
        var registrationID: RegistrationID?
        var installationID: String?
        var template: RegistrationTemplate?
        var pushVariables: [String: String] = [:]
    }

    var list: [Target]
    /// The same handle with the same content a second time; Azure counts them as Skipped.
    var duplicates: [Target]
    /// How many registrations the audience named, whatever their kind.
    var matched: Int

    var isEmpty: Bool { list.isEmpty }
    var summary: String {
        "\(matched) registration\(matched == 1 ? " matches" : "s match"), \(list.count) can receive this"
    }

    init(direct handles: [DeviceHandle]) {
        matched = handles.count
        list = []
        duplicates = []
        var seen = Set<DeviceHandle>()
        for handle in handles {
            if seen.insert(handle).inserted { list.append(Target(handle: handle)) } else { duplicates.append(Target(handle: handle)) }
        }
    }

    /// Leaves out those that have their verdict from a process before this one.
    mutating func drop(_ isDone: (Target) -> Bool) {
        list.removeAll(where: isDone)
        // Of a handle without a registration nobody knows whether the duplicate or the other one is done.
        duplicates.removeAll { $0.registrationID != nil && isDone($0) }
    }

    init(_ registrations: [Registration], for content: NotificationContent) {
        matched = registrations.count
        list = []
        duplicates = []
        var seen = Set<Key>()
        for registration in registrations {
            switch content {
            case .template where registration.template != nil: break
            case .native(let payloads) where registration.template == nil && payloads[registration.platform] != nil:
                break
            default: continue
            }
            let target = Target(
                handle: registration.handle, registrationID: registration.id, installationID: registration.installationID,
                template: registration.template, pushVariables: registration.pushVariables)
            let key = Key(
                handle: registration.handle, template: registration.template?.content,
                variables: registration.template == nil ? [:] : registration.pushVariables)
            if seen.insert(key).inserted { list.append(target) } else { duplicates.append(target) }
        }
    }

    /// Keeps `count` of the targets, chosen at random, in their order; what was set aside goes with the others.
    mutating func sample(_ count: Int, with random: some RandomSource) {
        guard list.count > count else { return }
        var places = Array(list.indices)
        // Fisher and Yates, as far as needed.
        for place in 0..<count {
            places.swapAt(place, place + Int(random.next() % UInt64(places.count - place)))
        }
        list = places.prefix(count).sorted().map { list[$0] }
        duplicates = []
    }

    private struct Key: Hashable {
        var handle: DeviceHandle
        var template: RegistrationTemplate.Content?
        var variables: [String: String]
    }
}

extension Targets.Target {
    func outcome(_ outcome: OutcomeName, reason: String, _ explanation: String, size: Int) -> DeviceOutcome {
        DeviceOutcome(
            registrationID: registrationID, installationID: installationID, platform: handle.platform, handle: handle,
            templateName: template?.name,
            outcome: outcome, reason: reason, explanation: explanation, pushID: nil, size: size,
            isRegistrationRemoved: false)
    }
}

/// A device's outcome with what the hub must learn from it.
struct DeliveryResult: Sendable {
    var device: DeviceOutcome
    var isHandleDead = false
    var deadSince: Timestamp?

    init(device: DeviceOutcome) {
        self.device = device
    }

    init(target: Targets.Target, verdict: Verdict, size: Int) {
        switch verdict {
        case .accepted(let id):
            device = target.outcome(.success, reason: "", "accepted by the push service", size: size)
            device.pushID = id
        case .rejected(let rejection), .transient(let rejection, _):
            device = target.outcome(rejection.outcome, reason: rejection.reason, rejection.explanation, size: size)
            isHandleDead = rejection.isHandleDead
            deadSince = rejection.deadSince
        case .unknown(let reason):
            device = target.outcome(
                .pnsUnreachable, reason: reason, "nobody knows whether it was delivered", size: size)
        }
    }
}

extension Verdict {
    var summary: String {
        switch self {
        case .accepted(let id): "accepted\(id.map { " as \($0)" } ?? "")"
        case .rejected(let rejection): "rejected: \(rejection.status) \(rejection.reason)"
        case .transient(let rejection, _): "not now: \(rejection.status) \(rejection.reason)"
        case .unknown(let reason): "unknown: \(reason)"
        }
    }
}

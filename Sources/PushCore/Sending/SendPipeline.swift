/// From a request to verdicts: targets, rendered batches, connectors, retries.
struct SendPipeline: Sendable {
    let environment: HubEnvironment
    private let connectors: [Platform: any Connector]
    private let retries = RetryPolicy()

    init(environment: HubEnvironment, connectors: [any Connector]) {
        self.environment = environment
        self.connectors = connectors.reduce(into: [:]) { table, connector in
            for platform in connector.platforms { table[platform] = connector }
        }
    }

    /// The request with its handle as the platform spells it. Refuses what no device could receive, before any work
    /// starts. Throws `payload.*` and `handle.invalid`.
    ///
    /// `platforms` are those that the notification will reach; nil means that nobody knows yet, and all are looked at.
    func checked(
        _ request: NotificationRequest, reaching platforms: Set<Platform>? = nil
    ) throws(PushError) -> NotificationRequest {
        var request = request
        if case .device(let handle) = request.audience { request.audience = .device(try handle.checked()) }
        try check(request, reaching: platforms)
        return request
    }

    private func check(_ request: NotificationRequest, reaching platforms: Set<Platform>?) throws(PushError) {
        switch request.content {
        case .native(let payloads):
            guard !payloads.isEmpty else {
                throw PushError(
                    "payload.empty", "the notification has no content", hint: "give alert, properties or payload",
                    status: 400)
            }
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key })
            where platforms?.contains(platform) ?? true {
                try PayloadRules.check(payload, for: platform)
            }
            if case .device(let handle) = request.audience, payloads[handle.platform] == nil {
                throw PushError(
                    "payload.no_platform",
                    "the device is on \(handle.platform.displayName), for which there is no payload",
                    hint: "give a payload for \(handle.platform.rawValue)", status: 400)
            }
        case .template(let properties):
            for name in properties.keys.sorted() {
                guard !name.isEmpty, name.count <= 120, name.utf8.allSatisfy(\.isPropertyCharacter) else {
                    throw PushError(
                        "payload.property_name", "\"\(name)\" is not the name of a template property",
                        hint: "names are letters, digits and _, at most 120", status: 400)
                }
            }
            let size = properties.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 6 }
            guard size <= 65_536 else {
                throw PushError(
                    "payload.too_large", "the properties have \(size) bytes; a message to the hub has at most 65,536",
                    hint: "send an id and let the app fetch the rest", status: 413)
            }
            if case .device = request.audience {
                throw PushError(
                    "payload.template_direct", "a template cannot be sent straight to a device: it has no registration",
                    hint: "send alert or payload", status: 400)
            }
        }
        if let collapse = request.options.collapseID {
            guard (1...64).contains(collapse.utf8.count) else {
                throw PushError(
                    "payload.collapse_id", "the collapse id has \(collapse.utf8.count) bytes; APNs takes 1 to 64",
                    hint: "choose another", status: 400)
            }
            guard collapse.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
                throw PushError(
                    "payload.collapse_id", "the collapse id has characters that no header can carry",
                    hint: "use ASCII letters, digits and signs", status: 400)
            }
        }
    }

    func begin(_ request: NotificationRequest, id: String, enqueuedAt: Timestamp) -> NotificationOutcome {
        var tags: String?
        if case .expression(let expression) = request.audience { tags = expression.description }
        return NotificationOutcome(
            id: id, state: .enqueued, tags: tags, enqueuedAt: enqueuedAt, devices: [], nearMisses: [])
    }

    func targets(of request: NotificationRequest, in table: RegistrationTable) -> Targets {
        switch request.audience {
        case .device(let handle):
            return Targets(matched: 1, direct: handle)
        case .expression(let expression):
            return Targets(table.select(expression), for: request.content)
        case .everyone:
            return Targets(table.select(nil), for: request.content)
        }
    }

    /// One result per target, in the order of the targets, then one per duplicate.
    ///
    /// Every group gets its first attempt before any is tried again, so that trouble with one service keeps nobody else
    /// waiting.
    func deliver(_ targets: Targets, of request: NotificationRequest, id: String) async -> [DeliveryResult] {
        let start = environment.clock.now
        let lastMoment = min(start + retries.longest, request.options.expiration ?? .distantFuture)
        let groups = RenderedGroup.groups(of: targets, for: request)
        var results: [DeliveryResult?] = Array(repeating: nil, count: targets.list.count)
        var attempts = TimeQueue<Attempt>()
        for (place, group) in groups.enumerated() {
            environment.note(
                .render,
                "\(id): \(group.platform.displayName), \(group.body.count) bytes for \(group.targets.count)")
            if let flaw = group.flaw { environment.note(.render, "\(id): left out: \(flaw)") }
            if let refusal = refusal(of: group) {
                for (place, target) in zip(group.places, group.targets) {
                    results[place] = DeliveryResult(
                        device: target.outcome(
                            refusal.outcome, reason: refusal.reason, refusal.explanation, size: group.body.count))
                }
            } else {
                attempts.insert(Attempt(group: place, number: 1, waiting: Array(group.targets.indices)), at: start)
            }
        }
        while let (due, attempt) = attempts.popFirst() {
            if due > environment.clock.now {
                do {
                    try await environment.clock.sleep(until: due)
                } catch {
                    break
                }
            }
            let group = groups[attempt.group]
            guard let connector = connectors[group.platform] else { continue }
            let batch = DeliveryBatch(
                notificationID: id, platform: group.platform, body: group.body, headers: group.headers,
                options: request.options, handles: attempt.waiting.map { group.targets[$0].handle })
            var again = Attempt(group: attempt.group, number: attempt.number + 1, waiting: [])
            var pause: Duration = .zero
            for (member, verdict) in zip(attempt.waiting, await connector.deliver(batch)) {
                let target = group.targets[member]
                environment.note(.delivery, "\(id): \(target.handle.abbreviated) \(verdict.summary)")
                results[group.places[member]] = DeliveryResult(
                    target: target, verdict: verdict, size: group.body.count)
                if case .transient(_, let retryAfter) = verdict,
                    let wait = retries.pause(after: attempt.number, asked: retryAfter),
                    environment.clock.now + wait <= lastMoment
                {
                    again.waiting.append(member)
                    pause = max(pause, wait)
                }
            }
            if !again.waiting.isEmpty {
                environment.note(.delivery, "\(id): \(again.waiting.count) devices again in \(pause)")
                attempts.insert(again, at: environment.clock.now + pause)
            }
        }
        return zip(targets.list, results).map { target, result in
            result
                ?? DeliveryResult(
                    device: target.outcome(.abandoned, reason: "", "the connector gave no answer", size: 0))
        }
            + targets.duplicates.map { target in
                DeliveryResult(
                    device: target.outcome(
                        .skipped, reason: "", "the same handle already got this notification", size: 0))
            }
    }

    /// Why a group cannot be handed to a connector at all.
    private func refusal(of group: RenderedGroup) -> (outcome: OutcomeName, reason: String, explanation: String)? {
        let name = group.platform.displayName
        if connectors[group.platform] == nil {
            return (.invalidCredentials, "NoConnector", "the hub has no credentials for \(name)")
        }
        if let limit = group.exceededLimit {
            return (
                .invalidNotificationSize, "PayloadTooLarge",
                "the template came to \(group.body.count) bytes; \(name) takes at most \(limit): shorten the properties"
            )
        }
        return nil
    }
}

/// A batch on its way: some members of a group, for the first time or again.
private struct Attempt: Sendable {
    var group: Int
    var number: Int
    var waiting: [Int]
}

extension UInt8 {
    package var isPropertyCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f: true
        default: false
        }
    }
}

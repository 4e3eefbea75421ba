import Crypto
import Synchronization

// Accepting notifications: at once, later, and what became of them.
extension NotificationHub {
    /// Sends at once and answers when every device has its verdict.
    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await send(request, admission: nil)
    }

    /// - Parameter admission: asked first; nil where the sender may reach any number of devices.
    package func send(
        _ request: NotificationRequest, admission: SendAdmission?
    ) async throws(PushError) -> NotificationOutcome {
        var draft = SendDraft(hub: name, request: try checked(request), origin: HookOrigin.plugins)
        try checkIsOpen()
        try await checkDrift(request)
        let given = draft
        var approved: ApprovedReach?
        if let known = try await admit(draft, asked: given, admission, &approved) { return try await outcome(of: known) }
        if environment.hooks.isWanted(.beforeSend) {
            draft = try await asked(draft)
            draft.request = try checked(draft.request)
            try await checkDrift(draft.request)
            // A hook may have made it one for more: also by its content, which other devices can show.
            if draft.request != given.request, let known = try await admit(draft, asked: given, admission, &approved) {
                return try await outcome(of: known)
            }
            // Whoever sends a test waits for the verdicts.
            if draft.request.isTest { draft.moment = nil }
            try checkIsOpen()
        }
        let kept = begin(draft, nil, approved)
        if draft.moment == nil { live[kept.outcome.id] = kept.outcome }
        do throws(PushError) {
            _ = try await store.accept(kept)
        } catch {
            live[kept.outcome.id] = nil
            throw error
        }
        meter.accepted()
        // It may be canceled by whoever is told of it.
        if let moment = draft.moment { wait(for: moment, kept) }
        if settings.isSideBySide {
            if environment.hooks.isWanted(.afterSend) { _ = environment.start { [draft] in await self.tellSent(kept, draft) } }
        } else {
            // Whoever rehearses something finds everything in its order.
            await tellSent(kept, draft)
        }
        guard draft.moment == nil else { return kept.outcome }
        return await deliverNow(kept)
    }

    /// A request as it is sent to those who are there now. Throws `payload.*` and `handle.invalid`.
    private func checked(_ request: NotificationRequest) throws(PushError) -> NotificationRequest {
        let reached = pipeline.targets(of: request, in: table).platforms
        return try request.checked(reaching: reached.isEmpty ? nil : reached, refusingLarge: refusesLargePayloads)
    }

    /// Keeps a notification and answers; it is delivered in the background, also by a later process when this one dies.
    ///
    /// - Parameters:
    ///   - moment: when to send it, at most seven days ahead; nil or one that has passed means at once.
    ///   - idempotencyKey: 1 to 255 visible ASCII characters. The same key with the same request answers the first
    ///     notification and sends nothing; with another it is refused: `hub.idempotency_key` (422).
    ///   - admission: asked first; nil where the sender may reach any number of devices.
    package nonisolated func accept(
        _ request: NotificationRequest, at moment: Timestamp? = nil, idempotencyKey: String? = nil, admission: SendAdmission? = nil
    ) async throws(PushError) -> AcceptedNotification {
        // All but the last step beside the actor, so that senders do not wait for each other.
        let request = try request.checked(refusingLarge: refusesLargePayloads)
        if let moment { try checkMoment(moment) }
        if let idempotencyKey { try IdempotencyKey.check(idempotencyKey) }
        try checkIsOpen()
        // What was asked, whatever hooks make of it.
        let key = idempotencyKey.map { IdempotencyKey(key: $0, fingerprint: request.fingerprint(scheduledFor: moment)) }
        var draft = SendDraft(hub: name, request: request, moment: moment, origin: HookOrigin.plugins)
        // Whoever repeats a send is told of the first one, whatever has drifted since.
        if request.plan != nil || admission != nil || environment.hooks.isWanted(.beforeSend), let key,
            let known = try await store.acceptance(under: key), let first = try await repeated(known)
        {
            return first
        }
        try await checkDrift(request)
        let given = draft
        var approved: ApprovedReach?
        if let known = try await admit(draft, asked: given, admission, &approved) {
            return AcceptedNotification(outcome: try await notification(known).outcome, isRepeated: true)
        }
        if environment.hooks.isWanted(.beforeSend) {
            draft = try await asked(draft)
            draft.request = try draft.request.checked(refusingLarge: refusesLargePayloads)
            try await checkDrift(draft.request)
            // A hook may have made it one for more: also by its content, which other devices can show.
            if draft.request != given.request, let known = try await admit(draft, asked: given, admission, &approved) {
                return AcceptedNotification(outcome: try await notification(known).outcome, isRepeated: true)
            }
            try checkIsOpen()
        }
        let kept = begin(draft, key, approved)
        if let first = try await repeated(try await store.accept(kept)) { return first }
        meter.accepted()
        await enqueue(kept)
        if environment.hooks.isWanted(.afterSend) { _ = environment.start { [draft] in await self.tellSent(kept, draft) } }
        return AcceptedNotification(outcome: kept.outcome, isRepeated: false)
    }

    /// Asks for leave; throws where there is none. What is left of it for the notification's moment is `leave` then.
    ///
    /// - Returns: the notification that it was allowed and sent as before, nil where it is to be sent now.
    private nonisolated func admit(
        _ draft: SendDraft, asked given: SendDraft, _ admission: SendAdmission?, _ approved: inout ApprovedReach?
    ) async throws(PushError) -> String? {
        switch try await admission?.answer(draft, asked: given, self) {
        case .sent(let id): return id
        case .admitted(let its):
            approved = its
            return nil
        case nil: return nil
        }
    }

    /// What a sender is told whose key was used before; nil for one whose notification was accepted.
    private nonisolated func repeated(_ acceptance: Acceptance) async throws(PushError) -> AcceptedNotification? {
        switch acceptance {
        case .accepted: return nil
        case .repeated(let first): return AcceptedNotification(outcome: await current(first.outcome), isRepeated: true)
        case .keyInUse(let id):
            throw PushError(
                "hub.idempotency_key", "the idempotency key belongs to another request, that of notification \(id)",
                hint: "use a key once for each notification, and again only to repeat it unchanged", status: 422,
                details: ["notification": .string(id)])
        }
    }

    private func enqueue(_ kept: KeptNotification) {
        if let moment = kept.outcome.scheduledFor {
            wait(for: moment, kept)
        } else {
            outbox.append(kept)
            pump()
        }
    }

    private func current(_ outcome: NotificationOutcome) -> NotificationOutcome { live[outcome.id] ?? outcome }

    /// A moment that has passed means at once.
    package func schedule(_ request: NotificationRequest, at moment: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await accept(request, at: moment).outcome
    }

    /// Ends a notification that has not ended, and answers when that is kept: one that waits gets to nobody, one that is under way to
    /// nobody else; who had it, had it. Throws `notification.not_found` (404).
    package func cancel(notification id: String) async throws(PushError) {
        try checkIsOpen()
        if schedule[id]?.isHeld == false, let entry = schedule.remove(id) {
            do throws(PushError) {
                try await settleCanceled(id, entry.sequence)
            } catch {
                schedule.insert(id, entry)
                rearm()
                throw error
            }
            rearm()
        } else {
            try await stop(id)
        }
    }

    /// With the devices that are kept, at most 10,000; their counts are complete.
    package func outcome(of id: String) async throws(PushError) -> NotificationOutcome {
        if let outcome = live[id] { return outcome }
        let kept = try await kept(id)
        // It may have begun while the store was asked.
        if let outcome = live[id] { return outcome }
        var outcome = kept.outcome
        while outcome.devices.count < Self.devicesShown {
            let more = try await store.devices(
                ofNotification: kept.sequence, from: outcome.devices.count, limit: 1000)
            outcome.devices += more
            if more.count < 1000 { break }
        }
        return outcome
    }

    /// What was asked and how far it is, without its devices.
    package func notification(_ id: String) async throws(PushError) -> KeptNotification {
        var kept = try await kept(id)
        if let outcome = live[id] { kept.outcome = outcome.untilKept }
        return kept
    }

    /// Newest first, those before a sequence number, or from the newest on.
    /// - Parameter isScheduled: whether only those are meant that wait for their moment.
    package func notifications(
        before sequence: Int64?, limit: Int, isScheduled: Bool = false
    ) async throws(PushError) -> [KeptNotification] {
        let found =
            isScheduled
            ? try await store.unfinished(schedule.sequences(before: sequence, limit: limit)).sorted { $0.sequence > $1.sequence }
            : try await store.notifications(before: sequence, limit: limit)
        return found.map { kept in
            var kept = kept
            if let outcome = live[kept.outcome.id] { kept.outcome = outcome.untilKept }
            return kept
        }
    }

    /// A part of a notification's devices, in the order in which they had their verdicts, from number `start` on.
    package func devices(
        ofNotification sequence: Int64, from start: Int, limit: Int
    ) async throws(PushError) -> [DeviceOutcome] {
        try await store.devices(ofNotification: sequence, from: start, limit: limit)
    }

    /// Waits for the end; not for that of a notification that has nothing to do but to wait for its moment.
    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome {
        endings.watch(id)
        defer { endings.unwatch(id) }
        let outcome = try await outcome(of: id)
        // Before the end is stored, the devices of earlier processes are missing from it.
        if outcome.state.isFinal, live[id] == nil { return outcome }
        if let entry = schedule[id], entry.moment > environment.clock.now {
            // It may have been under way when the store was asked.
            return entry.isHeld ? try await self.outcome(of: id) : outcome
        }
        if !isStopping, !endings.hasEnded(id) {
            await withCheckedContinuation { endings.wait(id, $0) }
        }
        return try await self.outcome(of: id)
    }

    private static let devicesShown = 10_000

    private nonisolated func begin(
        _ draft: SendDraft, _ idempotency: IdempotencyKey?, _ approved: ApprovedReach?
    ) -> KeptNotification {
        var request = draft.request
        request.approvedReach = draft.moment == nil ? nil : approved
        let (sequence, now) = (sequences.wrappingAdd(1, ordering: .relaxed).newValue, environment.clock.now)
        let id =
            switch naming {
            case .short: NotificationID.short(sequence)
            case .unique: NotificationID.unique(sequence, at: now, random: environment.random)
            }
        return KeptNotification(
            sequence: sequence, request: request, idempotency: idempotency,
            outcome: NotificationOutcome(
                id: id, state: draft.moment == nil ? .enqueued : .scheduled, tags: draft.request.audience.expression?.description,
                enqueuedAt: now, scheduledFor: draft.moment),
            origin: draft.origin)
    }

    /// Throws `notification.not_found` (404).
    private func kept(_ id: String) async throws(PushError) -> KeptNotification {
        if let sequence = NotificationID.sequence(of: id), let kept = try await store.notification(sequence), kept.outcome.id == id {
            return kept
        }
        // The latest are looked through for one that was meant.
        let known = try await store.notifications(before: nil, limit: 20).map(\.outcome.id)
        let near = nearest(id, in: known)
        throw PushError(
            "notification.not_found", "there is no notification \(id)",
            hint: near.map { "did you mean \($0)?" } ?? "pass the id that send returned", status: 404)
    }

    nonisolated func checkMoment(_ moment: Timestamp) throws(PushError) { try SendDraft.check(moment, now: environment.clock.now) }
}

extension SendDraft {
    static func check(_ moment: Timestamp, now: Timestamp) throws(PushError) {
        guard moment > now + .seconds(7 * 86_400) else { return }
        throw PushError(
            "time.too_far", "\(moment) is more than seven days ahead", hint: "schedule within seven days", status: 400)
    }
}

/// What a sender is told at once.
package struct AcceptedNotification: Sendable, Equatable {
    /// Without its devices.
    package var outcome: NotificationOutcome
    /// The same key and request came before: this is the first one's result.
    package var isRepeated: Bool
}

extension NotificationOutcome {
    /// Without devices, and without its end: whoever hears of the end may ask for the devices, and these are not kept yet.
    fileprivate var untilKept: NotificationOutcome {
        var outcome = self
        outcome.devices = []
        if outcome.state.isFinal { (outcome.state, outcome.endedAt) = (.processing, nil) }
        return outcome
    }
}

extension IdempotencyKey {
    fileprivate static func check(_ key: String) throws(PushError) {
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw PushError(
                "hub.idempotency_key", "the idempotency key is not 1 to 255 visible ASCII characters",
                hint: "a UUID will do", status: 400)
        }
    }
}

extension NotificationRequest {
    /// SHA-256 of everything that makes a request what it is. Each part is preceded by its length, so that no two requests
    /// read alike.
    package func fingerprint(scheduledFor moment: Timestamp?) -> [UInt8] {
        var hash = SHA256()
        func add(_ bytes: [UInt8]) {
            withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: bytes)
        }
        func add(_ texts: String?...) { for text in texts { add(Array((text.map { "=" + $0 } ?? "").utf8)) } }
        func add(_ handle: DeviceHandle) {
            add(handle.platform.rawValue, handle.text)
            if case .browser(_, let key, let secret) = handle { add(key, secret) }
        }
        switch audience {
        case .everyone: add("everyone")
        case .expression(let expression): add("expression", expression.description)
        case .device(let handle):
            add("device")
            add(handle)
        case .devices(let handles):
            add("devices", String(handles.count))
            for handle in handles { add(handle) }
        }
        switch content {
        case .template(let properties):
            add("template")
            for (name, value) in properties.sorted(by: { $0.key < $1.key }) { add(name, value) }
        case .native(let payloads):
            add("native")
            for (platform, payload) in payloads.sorted(by: { $0.key < $1.key }) {
                add(platform.rawValue)
                add(payload.body)
                for header in payload.headers { add(header.name, header.value) }
            }
        }
        add(
            "options", options.expiration.map { String($0.milliseconds) }, options.priority?.rawValue, options.collapseID,
            String(isTest), moment.map { String($0.milliseconds) })
        // Nothing where there is none: keys of before are good still.
        if let pace { add("pace", pace.description) }
        if let plan { add("plan", plan.id) }
        return Array(hash.finalize())
    }
}

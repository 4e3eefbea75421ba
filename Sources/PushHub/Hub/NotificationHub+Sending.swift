import Crypto
import PushModel
import Synchronization

// Sending: immediate and scheduled sends, cancellation, and status.
extension NotificationHub {
    /// Sends now, and returns when every device has a final result.
    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await send(request, admission: nil)
    }

    /// - Parameter admission: checks the send first; nil if the sender may reach any number of devices.
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
            // A hook may have widened the audience, also indirectly: other content can reach other devices.
            if draft.request != given.request, let known = try await admit(draft, asked: given, admission, &approved) {
                return try await outcome(of: known)
            }
            // The sender of a test waits for the results, so a hook cannot schedule it.
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
        // Scheduled before hooks are notified, because a hook may cancel it.
        if let moment = draft.moment { wait(for: moment, kept) }
        if settings.isConcurrent {
            if environment.hooks.isWanted(.afterSend) { _ = environment.start { [draft] in await self.notifySent(kept, draft) } }
        } else {
            // In a rehearsal, events must happen in a fixed order.
            await notifySent(kept, draft)
        }
        guard draft.moment == nil else { return kept.outcome }
        return await deliverNow(kept)
    }

    /// Validates a request against the platforms of its current targets. Throws `payload.*` and `handle.invalid`.
    private func checked(_ request: NotificationRequest) throws(PushError) -> NotificationRequest {
        let reached = pipeline.targets(of: request, in: table).platforms
        return try request.checked(reaching: reached.isEmpty ? nil : reached, refusingLarge: refusesLargePayloads)
    }

    /// Stores a notification and returns. It is delivered in the background, after a crash by the next process.
    ///
    /// - Parameters:
    ///   - dueTime: when to send it, at most seven days ahead; nil or a time in the past means now.
    ///   - idempotencyKey: 1 to 255 visible ASCII characters. Repeating a request with its key returns the first notification and sends
    ///     nothing. Another request with a used key throws `hub.idempotency_key` (422).
    ///   - admission: checks the send first; nil if the sender may reach any number of devices.
    package nonisolated func accept(
        _ request: NotificationRequest, at dueTime: Timestamp? = nil, idempotencyKey: String? = nil, admission: SendAdmission? = nil
    ) async throws(PushError) -> AcceptedNotification {
        // Everything but the last step runs outside the actor, so that senders do not wait for each other.
        let request = try request.checked(refusingLarge: refusesLargePayloads)
        if let dueTime { try checkDueTime(dueTime) }
        if let idempotencyKey { try IdempotencyKey.check(idempotencyKey) }
        try checkIsOpen()
        // The fingerprint covers the original request, before hooks change it.
        let key = idempotencyKey.map { IdempotencyKey(key: $0, fingerprint: request.fingerprint(scheduledFor: dueTime)) }
        var draft = SendDraft(hub: name, request: request, moment: dueTime, origin: HookOrigin.plugins)
        // A repeated send returns the first notification, even if the audience has drifted since.
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
            // A hook may have widened the audience, also indirectly: other content can reach other devices.
            if draft.request != given.request, let known = try await admit(draft, asked: given, admission, &approved) {
                return AcceptedNotification(outcome: try await notification(known).outcome, isRepeated: true)
            }
            try checkIsOpen()
        }
        let kept = begin(draft, key, approved)
        if let first = try await repeated(try await store.accept(kept)) { return first }
        meter.accepted()
        await enqueue(kept)
        if environment.hooks.isWanted(.afterSend) { _ = environment.start { [draft] in await self.notifySent(kept, draft) } }
        return AcceptedNotification(outcome: kept.outcome, isRepeated: false)
    }

    /// Checks a send against the sender's ceiling. Throws `approval.required` if it needs approval. Sets `approved` to the reach that is
    /// rechecked at the due time of a scheduled send.
    ///
    /// - Returns: the id of the notification if this send was approved and sent earlier; nil if it is to be sent now.
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

    /// The answer for an idempotency key that was used before; nil if the notification is new.
    private nonisolated func repeated(_ acceptance: AcceptanceResult) async throws(PushError) -> AcceptedNotification? {
        switch acceptance {
        case .accepted: return nil
        case .repeated(let first): return AcceptedNotification(outcome: await current(first.outcome), isRepeated: true)
        case .keyInUse(let id):
            throw PushError(
                "hub.idempotency_key", "the idempotency key was used for another request, notification \(id); not sent",
                hint: "use a new key for each notification; repeat a key only with the same request", status: 422,
                details: ["notification": .string(id)])
        }
    }

    private func enqueue(_ kept: StoredNotification) {
        if let moment = kept.outcome.scheduledFor {
            wait(for: moment, kept)
        } else {
            outbox.append(kept)
            pump()
        }
    }

    private func current(_ outcome: NotificationOutcome) -> NotificationOutcome { live[outcome.id] ?? outcome }

    /// Schedules a send. A time in the past means now.
    package func schedule(_ request: NotificationRequest, at moment: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await accept(request, at: moment).outcome
    }

    /// Cancels a notification, and returns once that is stored. A scheduled one reaches no device; one in progress reaches no further
    /// device. Throws `notification.not_found` (404).
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

    /// The outcome with its first 10,000 stored devices. The counts are complete.
    package func outcome(of id: String) async throws(PushError) -> NotificationOutcome {
        if let outcome = live[id] { return outcome }
        let kept = try await kept(id)
        // Delivery may have started while the store was read.
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

    /// The stored request and the current state, without devices.
    package func notification(_ id: String) async throws(PushError) -> StoredNotification {
        var kept = try await kept(id)
        if let outcome = live[id] { kept.outcome = outcome.withoutUnstoredEnd }
        return kept
    }

    /// Lists notifications, newest first, from below a sequence number or from the newest.
    /// - Parameter isScheduled: whether to list only those that wait for their due time.
    package func notifications(
        before sequence: Int64?, limit: Int, isScheduled: Bool = false
    ) async throws(PushError) -> [StoredNotification] {
        let found =
            isScheduled
            ? try await store.unfinished(schedule.sequences(before: sequence, limit: limit)).sorted { $0.sequence > $1.sequence }
            : try await store.notifications(before: sequence, limit: limit)
        return found.map { kept in
            var kept = kept
            if let outcome = live[kept.outcome.id] { kept.outcome = outcome.withoutUnstoredEnd }
            return kept
        }
    }

    /// A page of a notification's devices, in the order of their results, from index `start`.
    package func devices(
        ofNotification sequence: Int64, from start: Int, limit: Int
    ) async throws(PushError) -> [DeviceOutcome] {
        try await store.devices(ofNotification: sequence, from: start, limit: limit)
    }

    /// Waits until a notification has ended. Returns at once if it only waits for its due time.
    package func finish(_ id: String) async throws(PushError) -> NotificationOutcome {
        completionWaiters.watch(id)
        defer { completionWaiters.unwatch(id) }
        let outcome = try await outcome(of: id)
        // Until the end is stored, the outcome lacks devices that earlier processes delivered to.
        if outcome.state.isFinal, live[id] == nil { return outcome }
        if let entry = schedule[id], entry.moment > environment.clock.now {
            // It may have been in progress when the store was read.
            return entry.isHeld ? try await self.outcome(of: id) : outcome
        }
        if !isStopping, !completionWaiters.hasEnded(id) {
            await withCheckedContinuation { completionWaiters.wait(id, $0) }
        }
        return try await self.outcome(of: id)
    }

    private static let devicesShown = 10_000

    private nonisolated func begin(
        _ draft: SendDraft, _ idempotency: IdempotencyKey?, _ approved: ApprovedReach?
    ) -> StoredNotification {
        var request = draft.request
        request.approvedReach = draft.moment == nil ? nil : approved
        let (sequence, now) = (sequences.wrappingAdd(1, ordering: .relaxed).newValue, environment.clock.now)
        let id =
            switch naming {
            case .short: NotificationID.short(sequence)
            case .unique: NotificationID.unique(sequence, at: now, random: environment.random)
            }
        return StoredNotification(
            sequence: sequence, request: request, idempotency: idempotency,
            outcome: NotificationOutcome(
                id: id, state: draft.moment == nil ? .enqueued : .scheduled, tags: draft.request.audience.expression?.description,
                enqueuedAt: now, scheduledFor: draft.moment),
            origin: draft.origin)
    }

    /// Loads a notification. Throws `notification.not_found` (404).
    private func kept(_ id: String) async throws(PushError) -> StoredNotification {
        if let sequence = NotificationID.sequence(of: id), let kept = try await store.notification(sequence), kept.outcome.id == id {
            return kept
        }
        // Suggests the most similar id among the latest.
        let known = try await store.notifications(before: nil, limit: 20).map(\.outcome.id)
        let near = nearest(id, in: known)
        throw PushError(
            "notification.not_found", "there is no notification \(id)",
            hint: near.map { "did you mean \($0)?" } ?? "pass the id that send returned", status: 404)
    }

    nonisolated func checkDueTime(_ moment: Timestamp) throws(PushError) { try SendDraft.check(moment, now: environment.clock.now) }
}

/// What the sender of an accepted notification gets at once.
package struct AcceptedNotification: Sendable, Equatable {
    /// Without devices.
    package var outcome: NotificationOutcome
    /// Whether the idempotency key was used before with the same request; `outcome` is then that of the first notification.
    package var isRepeated: Bool
}

extension NotificationOutcome {
    /// Without devices, and not final yet: a caller that sees a final state may read the devices, which are not stored yet.
    fileprivate var withoutUnstoredEnd: NotificationOutcome {
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
                hint: "use a UUID, for example", status: 400)
        }
    }
}

extension NotificationRequest {
    /// SHA-256 of everything that identifies a request. Each part is preceded by its length, so that different requests never hash the
    /// same bytes.
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
        // Absent options add nothing, so that keys stored by older versions stay valid.
        if let pace { add("pace", pace.description) }
        if let plan { add("plan", plan.id) }
        return Array(hash.finalize())
    }
}

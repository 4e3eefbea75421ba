import PushModel

// Explaining a recorded result, and what the phone did with the push.
extension Tracer {
    mutating func verdict(of row: RecordedOutcome) -> Conclusion {
        let device = row.device
        for duplicate in facts.rows where duplicate.device.cause == .duplicate && duplicate != row {
            let subject = duplicate.device.registrationID.map { "registration \($0)" } ?? "a duplicate"
            add(duplicate.time, .duplicate, "\(subject) has the same handle: one push for both", isGood: true)
        }
        let when = row.time ?? outcome.endedAt ?? facts.sentAt
        let reason = device.reason.isEmpty ? device.outcome.rawValue : device.reason
        let values = ["reason": reason, "explanation": device.explanation, "time": when.inSentence]
        if case .ruled(let reason) = device.cause {
            decide(when, .plugin, reason.text)
            return Conclusion(.vetoed, ["plugin": Self.plugin(reason), "reason": reason.reason])
        }
        if device.reason == Recipient.ruled {
            decide(when, .plugin, device.explanation)
            return Conclusion(.hookFailed, ["reason": device.explanation])
        }
        if device.outcome == .skipped { return skipped(device, when) }
        addContent(row)
        switch device.outcome {
        case .success:
            add(when, .service, "\(service) accepted it\(device.pushID.map { " as \($0)" } ?? "")", isGood: true)
            return phone(row, when)
        case .abandoned: return abandoned(device, when)
        case .invalidNotificationSize:
            let limit = candidate(of: row)?.limit ?? device.platform.payloadLimit
            decide(when, .content, "\(device.size) bytes; \(service) accepts at most \(limit)")
            return Conclusion(.payloadTooLarge, ["size": String(device.size), "limit": String(limit)])
        case .invalidCredentials where device.reason == SendPipeline.noConnector:
            decide(when, .service, device.explanation)
            return Conclusion(.noCredentials)
        default: break
        }
        decide(when, .service, "\(service) answered \(reason): \(device.explanation)")
        if device.isRegistrationRemoved {
            let left = self.device.deleted.first { $0.id == device.registrationID }?.tombstone.time ?? self.device.pruned.first?.time
            return Conclusion(.tokenDead, ["time": (left ?? when).inSentence, "reason": reason])
        }
        if device.reason == Rejection.labFullReason { return Conclusion(.labFull) }
        switch device.outcome {
        case .invalidCredentials: return Conclusion(.credentialsRefused, values)
        case .wrongToken: return Conclusion(.otherEnvironment, values)
        case .badChannel where device.reason == "BadDeviceToken": return Conclusion(.otherEnvironment, values)
        case .throttled, .channelThrottled: return Conclusion(.throttled, values)
        case .pnsUnreachable where device.cause == .unanswered: return Conclusion(.noAnswer)
        case .pnsUnreachable, .pnsUnavailable, .pnsServerError: return Conclusion(.serviceInTrouble, values)
        default: return Conclusion(.rejected, values)
        }
    }

    private mutating func skipped(_ device: DeviceOutcome, _ when: Timestamp) -> Conclusion {
        if device.cause == .removedEarly, let left = self.device.deleted.first { return deleted(left) }
        guard device.cause == .duplicate else {
            decide(when, .device, device.explanation)
            return Conclusion(.registrationLeft, ["time": when.inSentence])
        }
        decide(when, .duplicate, device.explanation, isGood: nil)
        let other = facts.rows.first { $0.device.handle == device.handle && $0.device.cause != .duplicate }
        return Conclusion(.duplicate, ["other": other?.device.registrationID?.text ?? "which has been removed"])
    }

    private mutating func abandoned(_ device: DeviceOutcome, _ when: Timestamp) -> Conclusion {
        if device.reason == Rejection.expired.reason {
            let end = request.options.expiration ?? when
            decide(when, .turn, "it expired at \(end.inSentence)")
            return Conclusion(.expired, ["time": end.inSentence])
        }
        if device.cause == .cancelled, outcome.state == .canceled { return cancelled() }
        decide(when, .turn, device.explanation)
        return Conclusion(.abandoned, ["time": when.inSentence, "reason": device.explanation])
    }

    private mutating func addContent(_ row: RecordedOutcome) {
        let candidate = candidate(of: row)
        let template = row.device.templateName.map { "template \"\($0)\"" } ?? (candidate?.registration.template == nil ? nil : "template")
        let limit = candidate?.limit ?? row.device.platform.payloadLimit
        guard row.device.size > 0, row.device.size <= limit else { return }
        let what = [template, "\(row.device.size) bytes of \(limit)"].compactMap { $0 }.joined(separator: ", ")
        let missing = missing(candidate).map { "\"\($0)\"" }.joined(separator: ", ")
        add(facts.sentAt, .content, what + (missing.isEmpty ? "" : "; missing properties: \(missing)"), isGood: missing.isEmpty)
    }

    /// Missing properties of the template, if it is unchanged since the send.
    private func missing(_ candidate: TraceFacts.Candidate?) -> [String] {
        candidate.map { isAsSent($0.registration) ? $0.missing : [] } ?? []
    }

    private mutating func propertyMissing(_ candidate: TraceFacts.Candidate?) -> Conclusion? {
        let names = missing(candidate)
        guard candidate?.isTextless == true, !names.isEmpty else { return nil }
        let words = names.prefix(5).map { "\"\($0)\"" }.joined(separator: ", ")
        decide(facts.sentAt, .content, "no text to show without \(words)")
        return Conclusion(.propertyMissing, ["property": words])
    }

    // MARK: - The phone

    private mutating func phone(_ row: RecordedOutcome, _ when: Timestamp) -> Conclusion {
        guard let result = facts.result, !result.events.isEmpty else {
            if let conclusion = propertyMissing(candidate(of: row)) { return conclusion }
            decide(when, .phone, "a real phone: it does not report what it does with a push", isGood: nil)
            return Conclusion(.accepted, ["time": when.inSentence])
        }
        for event in result.events.dropLast() { add(event.time, .phone, words(event, result), isGood: event.kind.isGood) }
        guard let last = result.events.last else { return Conclusion(.unexplained) }
        let time = ["time": last.time.inSentence]
        var values = time
        let cause: TraceCause
        switch last.kind {
        case .shown: cause = .shown
        case .replaced:
            values["other"] = facts.replacement ?? "of which nothing else is stored"
            let shown = result.events.first { $0.kind == .shown }?.time
            values["shown"] = shown?.inSentence
            cause = shown == nil ? .replacedWaiting : .replacedShown
        case .stored:
            values["time"] = (result.offlineSince ?? result.closedSince ?? last.time).inSentence
            cause = .phoneOffline
        case .deferred:
            values["time"] = (result.savesPowerSince ?? last.time).inSentence
            cause = .savesPower
        case .expired: cause = .expiredWaiting
        case .appClosed: cause = .forceQuit
        case .appUninstalled: cause = .uninstalled
        case .unreachable: cause = .offlineAndLost
        case .dropped(let reason):
            values["reason"] = reason
            cause = .phoneFailed
        case .delivered: return silence(row, result, last)
        }
        decide(last.time, .phone, words(last, result), isGood: last.kind.isGood)
        return Conclusion(cause, values)
    }

    /// Explains a push that was delivered without being displayed.
    private mutating func silence(_ row: RecordedOutcome, _ result: DeviceResult, _ last: DeviceResult.Event) -> Conclusion {
        let time = ["time": last.time.inSentence]
        add(last.time, .phone, words(last, result), isGood: true)
        switch result.silence {
        case .leftToApp:
            let shown = result.shownByApp.map { "the app showed something of its own at \($0.inSentence)" }
            decide(result.shownByApp ?? last.time, .phone, shown ?? "left to the app's own code", isGood: nil)
            return Conclusion(.leftToApp, time)
        case .background:
            decide(last.time, .phone, "a background push shows nothing by itself")
            return Conclusion(.background, time)
        case .noText, nil:
            if let conclusion = propertyMissing(candidate(of: row)) { return conclusion }
            decide(last.time, .phone, "the push has no text to show")
            return Conclusion(.nothingToShow, time)
        }
    }

    private func words(_ event: DeviceResult.Event, _ result: DeviceResult) -> String {
        switch event.kind {
        case .delivered: return "delivered to \(device.name)"
        case .stored:
            let why = result.closedSince != nil && result.offlineSince == nil ? "closed" : "offline"
            return "\(device.name) is \(why); \(service) stores it"
        case .deferred: return "\(device.name) is in low power mode; it waits"
        case .replaced:
            let isWaiting = !result.events.contains { $0.kind == .shown }
            let rule = isWaiting && service == Platform.apns.displayName ? " (APNs stores one per app while a phone is offline)" : ""
            return "replaced by \(facts.replacement ?? "a later one")\(rule)"
        case .expired: return "it expired while it waited"
        case .appClosed: return "the user had force-quit the app"
        case .appUninstalled: return "the app was uninstalled"
        case .unreachable: return "\(device.name) was offline; \(service) dropped the push, which was sent without storage"
        case .dropped(let reason): return reason
        case .shown: return "shown"
        }
    }
}

extension DeviceResult.Event.Kind {
    fileprivate var isGood: Bool? {
        switch self {
        case .delivered, .shown: true
        case .stored, .deferred: nil
        case .replaced, .expired, .appClosed, .appUninstalled, .unreachable, .dropped: false
        }
    }
}

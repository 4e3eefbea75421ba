import HubWire
import NIOHTTP1
import PushModel

/// The outcomes of notifications of a hub on another machine.
struct RemoteOutcomes: Sendable {
    let hub: HubClient
    /// The run's clock, on which outcomes are awaited.
    let clock: any HubClock
    let options: RemoteNotificationHub.Options
    /// The devices that a PushHost reports in addition.
    let details: RemoteDeviceResults

    func outcome(of id: String) async throws(PushError) -> NotificationOutcome {
        var outcomes: [NotificationOutcome] = []
        for id in NotificationParts.ids(of: id) { outcomes.append(try await one(id)) }
        return NotificationParts.merged(outcomes, id: id)
    }

    func finish(_ id: String) async throws(PushError) -> NotificationOutcome {
        try await options.settle()
        let deadline = options.outcomeWait.map { clock.now + $0 }
        var known: [NotificationOutcome] = []
        for id in NotificationParts.ids(of: id) { known.append(try await follow(id, until: deadline)) }
        var outcome = NotificationParts.merged(known, id: id)
        if options.isPushHost, outcome.state.isFinal { await details.add(to: &outcome) }
        return outcome
    }

    /// Waits for the outcome of an accepted send. A failure to read the outcome must not look as if the send could be repeated.
    func finishAccepted(_ id: String, tags: String? = nil) async throws(PushError) -> NotificationOutcome {
        do throws(PushError) {
            return try await finish(id)
        } catch  where error.code == "cancelled" {
            throw error
        } catch  where error.code.hasPrefix("lab.") {
            // The run has lost its phones and its clock, so it cannot continue.
            var error = error
            (error.isRetryable, error.details["may_be_done"], error.details["accepted"]) = (false, true, .string(id))
            throw error
        } catch {
            return NotificationOutcome(id: id, state: .enqueued, tags: tags, times: NotificationTimes(enqueuedAt: clock.now))
        }
    }

    private static let shortestPause: Duration = .milliseconds(50)
    private static let longestPause: Duration = .seconds(2)

    /// Returns the outcome once it is final, scheduled for later, or the deadline has passed.
    private func follow(_ id: String, until deadline: Timestamp?) async throws(PushError) -> NotificationOutcome {
        var pause = Self.shortestPause
        while true {
            let outcome: NotificationOutcome
            do throws(PushError) {
                outcome = try await one(id)
            } catch  where error.code == "notification.not_found" && !options.isPushHost {
                // Azure reports nothing for some time, which can be half an hour.
                outcome = NotificationOutcome(id: id, state: .enqueued, tags: nil, times: NotificationTimes(enqueuedAt: clock.now))
            }
            if outcome.state.isFinal || outcome.state == .scheduled && !Self.isDue(outcome, at: clock.now) { return outcome }
            if let deadline, clock.now + pause > deadline { return outcome }
            do {
                try await clock.sleep(until: clock.now + pause)
            } catch let error as PushError {
                throw error
            } catch {
                throw PushError("cancelled", "the wait for \(id) was cancelled")
            }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func one(_ id: String) async throws(PushError) -> NotificationOutcome {
        let answer: RemoteAnswer
        do throws(PushError) {
            answer = try await hub.ask(.GET, "messages/\(PercentEncoding.encode(id))")
        } catch  where error.code == "hub.not_found" {
            throw Self.unknown(id)
        }
        do {
            return try OutcomeXMLReader.outcome(details: answer.body, id: id)
        } catch {
            throw hub.unreadable("cannot be read: \(error.message)")
        }
    }

    /// Whether a scheduled notification's due time has passed.
    private static func isDue(_ outcome: NotificationOutcome, at now: Timestamp) -> Bool {
        outcome.scheduledFor.map { $0 <= now } ?? false
    }

    static func unknown(_ id: String) -> PushError {
        PushError(
            "notification.not_found", "the hub has no notification \(id)", hint: "check the id; the notification may be too new or too old",
            status: 404)
    }
}

import HubWire
import NIOHTTP1
import PushModel

/// Sends notifications to a hub on another machine.
struct RemoteSender: Sendable {
    let hub: HubClient
    let outcomes: RemoteOutcomes

    private var options: RemoteNotificationHub.Options { outcomes.options }
    private var clock: any HubClock { outcomes.clock }

    private var encoder: HubMessageEncoder {
        HubMessageEncoder(host: hub.address.host, isPushHost: options.isPushHost, random: hub.client.random, now: clock.now)
    }

    /// Each message carries an `Idempotency-Key`, so a PushHost sends it once even if the request is repeated. Azure ignores the key, so a
    /// request whose response was lost is not repeated there.
    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        if options.usesJSONInterface, let body = try HubDocument.send(request, at: nil) {
            return try await outcomes.finishAccepted(try await accept(body), tags: request.audience.words)
        }
        let messages = try encoder.messages(request)
        if request.isTest { return try await test(request, messages) }
        let ids = try await accept(messages, "messages", at: nil)
        return try await outcomes.finishAccepted(NotificationParts.id(joining: ids), tags: request.audience.words)
    }

    func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        let ids: [String]
        if options.usesJSONInterface, let body = try HubDocument.send(request, at: dueTime) {
            ids = [try await accept(body)]
        } else {
            ids = try await accept(encoder.messages(request), "schedulednotifications", at: dueTime)
        }
        return NotificationOutcome(
            id: NotificationParts.id(joining: ids), state: .scheduled, tags: request.audience.words,
            times: NotificationTimes(enqueuedAt: clock.now, scheduledFor: dueTime))
    }

    func cancel(notification id: String) async throws(PushError) {
        var cancelled = 0
        for id in NotificationParts.ids(of: id) {
            do throws(PushError) {
                _ = try await hub.ask(.DELETE, "schedulednotifications/\(PercentEncoding.encode(id))", isRepeatable: false)
                cancelled += 1
            } catch  where cancelled > 0 && error.code == "notification.not_found" {
                // The parts of one notification are sent one after the other.
                throw PushError(
                    "notification.not_found", "\(id) has already been sent; another part of the same notification was cancelled",
                    hint: "push.outcome reads its result", status: error.status)
            } catch  where error.code == "hub.not_found" {
                throw RemoteOutcomes.unknown(id)
            }
        }
    }

    private func accept(
        _ messages: [HubMessage], _ path: String, at dueTime: Timestamp?
    ) async throws(PushError) -> [String] {
        let key = hub.client.random.uuid()
        var ids: [String] = []
        for (number, message) in messages.enumerated() {
            var headers = message.headers
            if let dueTime { headers.add(name: "ServiceBusNotification-ScheduleTime", value: dueTime.iso8601(fraction: false)) }
            headers.add(name: "Idempotency-Key", value: messages.count == 1 ? key : "\(key)-\(number + 1)")
            do throws(PushError) {
                let answer = try await hub.ask(
                    .POST, message.path ?? path, message.flags, headers, message.body, isRepeatable: options.isPushHost,
                    isSingular: true)
                guard let id = answer.lastPartOfLocation else { throw hub.unreadable("to the send has no Location", isSent: true) }
                ids.append(id)
            } catch {
                throw Self.telling(error, accepted: ids)
            }
        }
        return ids
    }

    /// Adds the platforms that have accepted the notification, so that it is not sent to them again.
    private static func telling(_ error: PushError, accepted ids: [String]) -> PushError {
        guard !ids.isEmpty else { return error }
        var error = error
        error.message += "; other platforms have already accepted it, as \(ids.joined(separator: ", "))"
        error.hint = error.hint.map { "\($0); do not send it again to everyone" }
        error.isRetryable = false
        error.details["accepted"] = .array(ids.map(JSON.string))
        return error
    }

    private func test(_ request: NotificationRequest, _ messages: [HubMessage]) async throws(PushError) -> NotificationOutcome {
        var results: [NotificationOutcome] = []
        for message in messages {
            let answer = try await hub.ask(
                .POST, message.path ?? "messages", "\(message.flags)&test", message.headers, message.body, isRepeatable: false)
            let id = answer.lastPartOfLocation ?? "test-\(results.count + 1)"
            do throws(PushError) {
                results.append(try OutcomeXMLReader.outcome(test: answer.body, id: id, tags: request.audience.words, now: clock.now))
            } catch {
                throw hub.unreadable("cannot be read: \(error.message)")
            }
        }
        var outcome = NotificationParts.merged(results, id: NotificationParts.id(joining: results.map(\.id)))
        if options.isPushHost { await outcomes.details.add(to: &outcome) }
        return outcome
    }

    /// Sends through the JSON API. Returns the id.
    func accept(_ body: JSON) async throws(PushError) -> String {
        let answer = try await hub.json(
            "notifications", by: .POST, ["Idempotency-Key": hub.client.random.uuid()], body: body, isSingular: true)
        guard let id = answer["notificationId"]?.string else { throw hub.unreadable("to the send has no notificationId", isSent: true) }
        return id
    }
}

extension Audience {
    /// The value of `ServiceBusNotification-Tags`; nil for everyone and for handles.
    var words: String? { expression.map { "\($0)" } }
}

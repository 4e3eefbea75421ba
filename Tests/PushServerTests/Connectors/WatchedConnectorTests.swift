import Logging
import PushModel
import Synchronization
import Testing

@testable import PushServer

@Suite struct WatchedConnectorTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.all.withLock { $0.append("\(event.level): \(event.message)") } }
    }

    private final class Switch: Connector {
        let platforms: Set<Platform> = [.apns]
        let next = Mutex<[Verdict]>([])

        func deliver(_ batch: DeliveryBatch) async -> [Verdict] { next.withLock { $0 } }
    }

    @Test func `The log has the start and the end of an outage, once each`() async {
        let lines = Lines()
        let service = Switch()
        let (log, outages) = (Logger(label: "test") { _ in Handler(lines: lines) }, WatchedConnector.Outages())
        let away = Verdict.transient(
            Rejection(status: 0, reason: "Unreachable", explanation: "nobody answers", outcome: .pnsUnreachable), retryAfter: nil)
        let refused = Verdict.rejected(
            Rejection(status: 403, reason: "InvalidProviderToken", explanation: "", outcome: .invalidCredentials))
        let slow = Verdict.transient(
            Rejection(status: 429, reason: "TooManyRequests", explanation: "", outcome: .channelThrottled), retryAfter: nil)
        let blocked = Verdict.transient(
            Rejection(
                status: 429, reason: "TooManyProviderTokenUpdates", explanation: "one token for all senders", outcome: .throttled,
                isCredentialBlocked: true), retryAfter: .seconds(1200))
        let invalid = Verdict.rejected(Rejection(status: 410, reason: "Unregistered", explanation: "", outcome: .expiredChannel))
        let handles = [DeviceHandle.apns(token: "AA01"), .apns(token: "AA02")]
        for verdicts in [
            [.accepted(id: nil), away], [away, away], [away, away], [invalid, away], [refused, refused], [.accepted(id: nil), invalid],
            [.unknown(reason: "cut"), away], [], [slow, slow], [away, away], [.unknown(reason: "cut"), .unknown(reason: "cut")], [slow],
            [away], [.accepted(id: nil)], [blocked, blocked], [blocked], [blocked, blocked], [.accepted(id: nil)],
        ] as [[Verdict]] {
            service.next.withLock { $0 = verdicts }
            let batch = DeliveryBatch(notificationID: "n", platform: .apns, body: [], handles: handles)
            // A changed hub gets a new connector.
            let connector = WatchedConnector(base: service, hub: "news", outages: outages, log: log)
            #expect(await connector.deliver(batch) == verdicts)
        }
        #expect(
            lines.all.withLock { $0 } == [
                "warning: hub \"news\": APNs fails all deliveries: Unreachable: nobody answers",
                "notice: hub \"news\": APNs accepts deliveries again",
                "warning: hub \"news\": APNs fails all deliveries: InvalidProviderToken",
                "notice: hub \"news\": APNs accepts deliveries again",
                "warning: hub \"news\": APNs fails all deliveries: Unreachable: nobody answers",
                "notice: hub \"news\": APNs accepts deliveries again",
                "warning: hub \"news\": APNs fails all deliveries: TooManyProviderTokenUpdates: one token for all senders",
                "notice: hub \"news\": APNs accepts deliveries again",
            ])
    }

    @Test func `A fault of one notification is logged once for it and does not count as an outage`() async {
        let lines = Lines()
        let service = Switch()
        let (log, outages) = (Logger(label: "test") { _ in Handler(lines: lines) }, WatchedConnector.Outages())
        func refusal(_ reason: String, _ outcome: OutcomeName, _ scope: Rejection.Scope) -> Verdict {
            .rejected(Rejection(status: 400, reason: reason, explanation: "", outcome: outcome, scope: scope))
        }
        let topic = refusal("TopicDisallowed", .pnsInterfaceError, .headers)
        let payload = refusal("INVALID_ARGUMENT", .pnsInterfaceError, .send)
        let place = refusal("ForbiddenAddress", .pnsUnreachable, .send)
        let credential = refusal("InvalidProviderToken", .invalidCredentials, .hub)
        for (id, verdicts) in [
            ("n-1", [topic, topic]), ("n-1", [topic]), ("n-2", [payload]), ("n-3", [place]), ("n-4", [credential]), ("n-5", [topic]),
            ("n-6", [.accepted(id: nil), topic]),
        ] as [(String, [Verdict])] {
            service.next.withLock { $0 = verdicts }
            let batch = DeliveryBatch(notificationID: id, platform: .apns, body: [], handles: [.apns(token: "AA01")])
            _ = await WatchedConnector(base: service, hub: "news", outages: outages, log: log).deliver(batch)
        }
        #expect(
            lines.all.withLock { $0 } == [
                "notice: hub \"news\": APNs rejected the notification n-1: TopicDisallowed",
                "notice: hub \"news\": APNs rejected the notification n-2: INVALID_ARGUMENT",
                "notice: hub \"news\": APNs rejected the notification n-3: ForbiddenAddress",
                "warning: hub \"news\": APNs fails all deliveries: InvalidProviderToken",
                "notice: hub \"news\": APNs rejected the notification n-5: TopicDisallowed",
                "notice: hub \"news\": APNs rejected the notification n-6: TopicDisallowed",
                "notice: hub \"news\": APNs accepts deliveries again",
            ])
    }
}

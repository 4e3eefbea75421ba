import Delivery
import Logging
import Metrics
import PushHub
import PushModel
import PushRuntime
import Synchronization

extension RunningServer {
    /// Reports removed devices to the webhook of the settings, until cancelled.
    package func reportPrunedDevices() async {
        guard let (settings, network) = settings.feedback.webhook(allowsPrivate: settings.allowsPrivate) else { return }
        let transport = HTTPClientTransport(network: network)
        let webhook = PrunedWebhook(settings, transport: transport, clock: SystemClock(), random: SystemRandom()) { [self] in note($0) }
        await webhook.run { [self] in namespace.isClosed ? [] : namespace.hubs.map { HubPrunings(hub: $0, server: self) } }
        await transport.shutdown()
    }

    private func note(_ news: PrunedWebhook.Event) {
        switch news {
        case .told(let hub, let count): Counter(label: "pushhost_webhook_told_total", dimensions: [("hub", hub)]).increment(by: count)
        case .lost(let hub, let count):
            Counter(label: "pushhost_webhook_lost_total", dimensions: [("hub", hub)]).increment(by: count)
            log.error(
                "the hub \(hub): too many reports to feedback.webhook are pending; dropped \(count), see pushhost pruned list")
        case .failed(let why, let pause, let isFirst):
            Counter(label: "pushhost_webhook_failures_total").increment()
            let now = SystemClock().now
            webhookTrouble.withLock { $0 = WebhookIssue(since: $0?.since ?? now, why: why, nextTry: now + pause) }
            if isFirst { log.warning("feedback.webhook failed: \(why); reports are stored and retried") }
        case .hasRecovered:
            webhookTrouble.withLock { $0 = nil }
            log.notice("feedback.webhook works again")
        case .nothingPending:
            webhookTrouble.withLock { $0 = nil }
            log.notice("feedback.webhook: no reports are pending any more")
        }
    }

    /// The state of the webhook; nil without one.
    var webhook: WebhookState? {
        get async {
            guard let address = settings.feedback.origin else { return nil }
            let waiting = await untold.reduce(0) { $0 + $1.count }
            return WebhookState(address: address, waiting: waiting, trouble: webhookTrouble.withLock { $0 })
        }
    }

    /// Sets `pushhost_webhook_waiting`: the number of removed devices per hub that are not reported yet; no values without a webhook.
    func measureWebhook() async {
        let untold = settings.feedback.origin == nil ? [] : await untold
        metrics.replace("pushhost_webhook_waiting", with: untold.map { ([("hub", $0.hub)], Double($0.count)) })
    }

    private var untold: [(hub: String, count: Int)] {
        get async {
            var all: [(hub: String, count: Int)] = []
            for hub in namespace.isClosed ? [] : namespace.hubs {
                // A hub that is being deleted has none to report.
                let count = try? await onHubs { () async throws(PushError) in try await hub.service.countUnreportedPruned() }
                if let count { all.append((hub.record.name, count)) }
            }
            return all
        }
    }
}

/// Why the webhook cannot be reached.
package struct WebhookIssue: Sendable, Equatable {
    /// Time of the first failed attempt.
    package var since: Timestamp
    /// The error of the last attempt.
    package var why: String
    package var nextTry: Timestamp
}

/// The state of `feedback.webhook`, as reported to `pushhost doctor`.
package struct WebhookState: Sendable, Equatable {
    /// The address without its path, which may contain a secret.
    package var address: String
    /// Number of devices of all hubs that are not reported yet.
    package var waiting: Int
    package var trouble: WebhookIssue?

    init(address: String, waiting: Int, trouble: WebhookIssue?) {
        (self.address, self.waiting, self.trouble) = (address, waiting, trouble)
    }

    var json: JSON {
        var members = JSONObject([("address", .string(address)), ("waiting", .integer(Int64(waiting)))])
        if let trouble {
            members.append("since", .integer(trouble.since.seconds))
            members.append("why", .string(trouble.why))
            members.append("nextTry", .integer(trouble.nextTry.seconds))
        }
        return .object(members)
    }

    package init?(_ json: JSON) {
        guard let address = json["address"]?.string, let waiting = json["waiting"]?.int else { return nil }
        (self.address, self.waiting) = (address, waiting)
        if let since = json["since"]?.int, let why = json["why"]?.string, let next = json["nextTry"]?.int {
            trouble = WebhookIssue(since: Timestamp(seconds: Int64(since)), why: why, nextTry: Timestamp(seconds: Int64(next)))
        }
    }
}

private struct HubPrunings: PrunedDeviceQueue {
    let hub: ServedHub
    let server: RunningServer

    var name: String { hub.record.name }

    func untold(limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await server.onHubs { () async throws(PushError) in try await hub.service.unreportedPruned(limit: limit) }
    }

    func acknowledge(upTo number: Int64) async throws(PushError) {
        try await server.onHubs { () async throws(PushError) in try await hub.service.acknowledgePruned(upTo: number) }
    }

    func dropUnreported(beyond most: Int) async throws(PushError) -> Int {
        try await server.onHubs { () async throws(PushError) in try await hub.service.dropUnreportedPruned(beyond: most) }
    }
}

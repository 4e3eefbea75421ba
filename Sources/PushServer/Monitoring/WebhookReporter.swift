import Delivery
import Logging
import Metrics
import PushHub
import PushModel
import PushRuntime
import Synchronization

/// Reports removed devices to `feedback.webhook`.
package final class WebhookReporter: Sendable {
    private let namespace: Namespace
    private let context: ServerContext
    /// The current failure of the webhook; nil while it works.
    private let issue = Mutex<WebhookIssue?>(nil)

    init(_ namespace: Namespace, _ context: ServerContext) { (self.namespace, self.context) = (namespace, context) }

    /// Reports removed devices to the webhook of the settings, until cancelled.
    package func run() async {
        let current = context.settings.current
        guard let (settings, network) = current.feedback.webhook(allowsPrivate: current.allowsPrivate) else { return }
        let transport = HTTPClientTransport(network: network)
        let webhook = PrunedWebhook(settings, transport: transport, clock: SystemClock(), random: SystemRandom()) { [self] in note($0) }
        await webhook.run { [namespace, context] in namespace.isClosed ? [] : namespace.hubs.map { HubPrunings(hub: $0, context: context) }
        }
        await transport.shutdown()
    }

    private func note(_ event: PrunedWebhook.Event) {
        let log = context.log
        switch event {
        case .delivered(let hub, let count): Counter(label: "pushhost_webhook_told_total", dimensions: [("hub", hub)]).increment(by: count)
        case .lost(let hub, let count):
            Counter(label: "pushhost_webhook_lost_total", dimensions: [("hub", hub)]).increment(by: count)
            log.error(
                "hub \"\(hub)\": too many reports to feedback.webhook are pending; dropped \(count), see pushhost pruned list")
        case .failed(let why, let pause, let isFirst):
            Counter(label: "pushhost_webhook_failures_total").increment()
            let now = SystemClock().now
            issue.withLock { $0 = WebhookIssue(since: $0?.since ?? now, why: why, nextTry: now + pause) }
            if isFirst { log.warning("feedback.webhook failed: \(why); reports are stored and retried") }
        case .hasRecovered:
            issue.withLock { $0 = nil }
            log.notice("feedback.webhook works again")
        case .nothingPending:
            issue.withLock { $0 = nil }
            log.notice("feedback.webhook: no reports are pending any more")
        }
    }

    /// The state of the webhook; nil without one.
    var state: WebhookState? {
        get async {
            guard let address = context.settings.current.feedback.origin else { return nil }
            let waiting = await unreported.reduce(0) { $0 + $1.count }
            return WebhookState(address: address, waiting: waiting, issue: issue.withLock { $0 })
        }
    }

    /// Sets `pushhost_webhook_waiting`: the number of removed devices per hub that are not reported yet; no values without a webhook.
    func measure() async {
        let unreported = context.settings.current.feedback.origin == nil ? [] : await unreported
        context.metrics.replace("pushhost_webhook_waiting", with: unreported.map { ([("hub", $0.hub)], Double($0.count)) })
    }

    private var unreported: [(hub: String, count: Int)] {
        get async {
            var all: [(hub: String, count: Int)] = []
            for hub in namespace.isClosed ? [] : namespace.hubs {
                // A hub that is being deleted has none to report.
                let count = try? await context.onHubs { () async throws(PushError) in try await hub.service.countUnreportedPruned() }
                if let count { all.append((hub.record.name, count)) }
            }
            return all
        }
    }
}

private struct HubPrunings: PrunedDeviceQueue {
    let hub: ServedHub
    let context: ServerContext

    var name: String { hub.record.name }

    func unreported(limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await context.onHubs { () async throws(PushError) in try await hub.service.unreportedPruned(limit: limit) }
    }

    func acknowledge(upTo number: Int64) async throws(PushError) {
        try await context.onHubs { () async throws(PushError) in try await hub.service.acknowledgePruned(upTo: number) }
    }

    func dropUnreported(beyond most: Int) async throws(PushError) -> Int {
        try await context.onHubs { () async throws(PushError) in try await hub.service.dropUnreportedPruned(beyond: most) }
    }
}

import Delivery
import Logging
import Metrics
import PushCore

extension PushServer {
    /// Tells an app's backend which devices left, where the settings name one, until it is cancelled.
    func tellOfPruned() async {
        guard let (settings, network) = settings.feedback.webhook(allowsPrivate: settings.allowsPrivate) else { return }
        let transport = HTTPClientTransport(network: network)
        let webhook = PrunedWebhook(settings, transport: transport, clock: SystemClock(), random: SystemRandom()) { [self] in note($0) }
        await webhook.run { [self] in namespace.isClosed ? [] : namespace.hubs.map { HubPrunings(hub: $0, server: self) } }
        await transport.shutdown()
    }

    private func note(_ news: PrunedWebhook.News) {
        switch news {
        case .told(let hub, let count): Counter(label: "pushhost_webhook_told_total", dimensions: [("hub", hub)]).increment(by: count)
        case .lost(let hub, let count):
            Counter(label: "pushhost_webhook_lost_total", dimensions: [("hub", hub)]).increment(by: count)
            log.error(
                "the hub \(hub): feedback.webhook is not told of \(count) devices that left: too many wait; pushhost pruned list has them")
        case .failing(let why):
            Counter(label: "pushhost_webhook_failures_total").increment()
            log.warning("feedback.webhook takes nothing: \(why); what is to be told is kept and tried again")
        case .worksAgain: log.notice("feedback.webhook takes what is told again")
        }
    }
}

private struct HubPrunings: PrunedSource {
    let hub: ServedHub
    let server: PushServer

    var name: String { hub.record.name }

    func untold(limit: Int) async throws(PushError) -> [PrunedDevice] {
        try await server.onHubs { () async throws(PushError) in try await hub.service.untoldPruned(limit: limit) }
    }

    func acknowledge(upTo number: Int64) async throws(PushError) {
        try await server.onHubs { () async throws(PushError) in try await hub.service.acknowledgePruned(upTo: number) }
    }

    func dropUntold(beyond most: Int) async throws(PushError) -> Int {
        try await server.onHubs { () async throws(PushError) in try await hub.service.dropUntoldPruned(beyond: most) }
    }
}

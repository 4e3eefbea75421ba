import Delivery
import Logging
import Metrics
import PushCore
import Synchronization

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
        case .failed(let why, let pause, let isFirst):
            Counter(label: "pushhost_webhook_failures_total").increment()
            let now = SystemClock().now
            webhookTrouble.withLock { $0 = WebhookTrouble(since: $0?.since ?? now, why: why, nextTry: now + pause) }
            if isFirst { log.warning("feedback.webhook takes nothing: \(why); what is to be told is kept and tried again") }
        case .worksAgain:
            webhookTrouble.withLock { $0 = nil }
            log.notice("feedback.webhook takes what is told again")
        case .nobodyWaits:
            webhookTrouble.withLock { $0 = nil }
            log.notice("feedback.webhook: nobody waits any more of whom it is to be told")
        }
    }

    /// Nil where nobody is told.
    var webhook: WebhookState? {
        get async {
            guard let address = settings.feedback.origin else { return nil }
            let waiting = await untold.reduce(0) { $0 + $1.count }
            return WebhookState(address: address, waiting: waiting, trouble: webhookTrouble.withLock { $0 })
        }
    }

    /// `pushhost_webhook_waiting`: devices of which the app's backend is still to be told, by hubs; none where nobody is told.
    func measureWebhook() async {
        let untold = settings.feedback.origin == nil ? [] : await untold
        metrics.replace("pushhost_webhook_waiting", with: untold.map { ([("hub", $0.hub)], Double($0.count)) })
    }

    private var untold: [(hub: String, count: Int)] {
        get async {
            var all: [(hub: String, count: Int)] = []
            for hub in namespace.isClosed ? [] : namespace.hubs {
                // One that is deleted just now has nobody to tell of.
                let count = try? await onHubs { () async throws(PushError) in try await hub.service.countUntoldPruned() }
                if let count { all.append((hub.record.name, count)) }
            }
            return all
        }
    }
}

/// Why nobody is told just now.
struct WebhookTrouble: Sendable, Equatable {
    /// The first attempt that failed.
    var since: Timestamp
    /// What the last one met.
    var why: String
    var nextTry: Timestamp
}

/// How it stands with `feedback.webhook`, as `pushhost doctor` asks for it.
struct WebhookState: Sendable, Equatable {
    /// Without its path, in which there may be a secret.
    var address: String
    /// Devices of all hubs.
    var waiting: Int
    var trouble: WebhookTrouble?

    init(address: String, waiting: Int, trouble: WebhookTrouble?) {
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

    init?(_ json: JSON) {
        guard let address = json["address"]?.string, let waiting = json["waiting"]?.int else { return nil }
        (self.address, self.waiting) = (address, waiting)
        if let since = json["since"]?.int, let why = json["why"]?.string, let next = json["nextTry"]?.int {
            trouble = WebhookTrouble(since: Timestamp(seconds: Int64(since)), why: why, nextTry: Timestamp(seconds: Int64(next)))
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

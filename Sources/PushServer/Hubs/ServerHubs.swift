import PushHub
import PushModel
import Synchronization

/// Gives plugins and flows access to the server's hubs. Exists before the hubs open, because a hub that opens may call plugins.
final class ServerHubs: ForwardingHub {
    private let name: String
    private let sendGuard: SendGuard
    private let state = Mutex(State())

    private struct State {
        var namespace: Namespace?
        /// Whether `open(_:)` was called.
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    init(name: String, _ sendGuard: SendGuard) { (self.name, self.sendGuard) = (name, sendGuard) }

    /// Sets the hubs; nil if there will be none. Only the first call counts.
    func open(_ namespace: Namespace?) {
        let waiting = state.withLock { state in
            if !state.isOpen { (state.namespace, state.isOpen) = (namespace, true) }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until `open(_:)` is called.
    func opened() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    private var namespace: Namespace? { state.withLock { $0.namespace } }

    /// A gateway to the hub of that name, which is looked up at each call.
    func hub(named name: String) -> any HubGateway { NamedHub(name: name, hubs: self) }

    /// The hub of that name; nil if there is none.
    func served(_ name: String) -> ServedHub? { namespace?.hub(name) }

    /// The hub in the settings or, if it was deleted, the first one.
    var own: ServedHub? { namespace?.hub(name) ?? namespace?.hubs.first }

    var base: any HubGateway { own.map(guarded) ?? UnavailableHub() }

    /// Applies the server's ceiling to sends of plugins. The principal is taken from the hook that is running.
    fileprivate func guarded(_ hub: ServedHub) -> any HubGateway {
        let principal = HookOrigin.plugins.last.map { Principal(origin: $0) } ?? .server
        return LimitedHub(hub.service, admission(to: hub, principal, ceiling: nil), waitsForResults: true)
    }

    /// The check that admits a principal's sends or requires approval for them.
    ///
    /// - Parameters:
    ///   - ceiling: maximum number of devices per send; nil for the server's limit.
    ///   - behalf: the principal on whose behalf it sends.
    func admission(to hub: ServedHub, _ principal: Principal, ceiling: Int?, for behalf: Principal? = nil) -> SendAdmission? {
        let approvalHub = Approval.Hub(number: hub.record.number, name: hub.record.name)
        var sender = SendGuard.Sender(principal, ceiling: ceiling, hub: approvalHub)
        sender.behalf = behalf
        return sendGuard.admission(sender)
    }

    // MARK: - Sends

    // `base` applies the ceiling.

    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome { try await base.send(request) }

    func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await base.schedule(request, at: dueTime)
    }

    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { try await base.send(planned) }

    func cancel(notification id: String) async throws(PushError) { try await base.cancel(notification: id) }
}

extension Principal {
    /// A flow if the text has a flow's prefix, else a plugin.
    fileprivate init(origin: String) {
        if case .flow(let name)? = Principal(origin) { self = .flow(name) } else { self = .plugin(origin) }
    }
}

private struct NamedHub: ForwardingHub {
    let name: String
    let hubs: ServerHubs

    var base: any HubGateway { hubs.served(name).map(hubs.guarded) ?? UnavailableHub() }

    func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome { try await base.send(request) }

    func schedule(_ request: NotificationRequest, at dueTime: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await base.schedule(request, at: dueTime)
    }

    func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome { try await base.send(planned) }

    func cancel(notification id: String) async throws(PushError) { try await base.cancel(notification: id) }
}

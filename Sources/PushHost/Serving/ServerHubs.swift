import PushCore
import Synchronization

/// The hubs of a server for its plugins and flows, once they are there: a hub may ask plugins before it has begun itself.
final class ServerHubs: ForwardingHub {
    private let name: String
    private let sendGuard: SendGuard
    private let state = Mutex(State())

    private struct State {
        var namespace: Namespace?
        /// It is said which one, or that there is none.
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    init(name: String, _ sendGuard: SendGuard) { (self.name, self.sendGuard) = (name, sendGuard) }

    /// Nil: there will be none. Only the first one counts.
    func open(_ namespace: Namespace?) {
        let waiting = state.withLock { state in
            if !state.isOpen { (state.namespace, state.isOpen) = (namespace, true) }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until it is known whether there are hubs.
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

    /// The hub that has that name whenever it is asked for.
    func hub(named name: String) -> any HubGateway { NamedHub(name: name, hubs: self) }

    /// Nil where there is none of that name.
    func served(_ name: String) -> ServedHub? { namespace?.hub(name) }

    /// The server's own hub or, where it was deleted, the first one.
    var own: ServedHub? { namespace?.hub(name) ?? namespace?.hubs.first }

    var base: any HubGateway { own.map(guarded) ?? ClosedHub() }

    /// A plugin may reach as many devices as anybody; which one asks is known from what it does it for.
    fileprivate func guarded(_ hub: ServedHub) -> any HubGateway {
        let principal = HookOrigin.plugins.last.map { Principal(origin: $0) } ?? .server
        return LimitedHub(hub.service, admission(to: hub, principal, ceiling: nil))
    }

    /// What lets somebody's sends pass, or has them wait for leave.
    ///
    /// - Parameters:
    ///   - ceiling: devices that one send of theirs may reach; nil: as many as the server lets anybody reach.
    ///   - behalf: who has them do it.
    func admission(to hub: ServedHub, _ principal: Principal, ceiling: Int?, for behalf: Principal? = nil) -> SendAdmission? {
        let place = Approval.Hub(number: hub.record.number, name: hub.record.name)
        var sender = SendGuard.Sender(principal, ceiling: ceiling, hub: place)
        sender.behalf = behalf
        return sendGuard.admission(sender)
    }
}

extension Principal {
    /// A plugin or, with its word before the name, a flow.
    fileprivate init(origin: String) {
        if case .flow(let name)? = Principal(origin) { self = .flow(name) } else { self = .plugin(origin) }
    }
}

private struct NamedHub: ForwardingHub {
    let name: String
    let hubs: ServerHubs

    var base: any HubGateway { hubs.served(name).map(hubs.guarded) ?? ClosedHub() }
}

import Delivery
import Logging
import PushCore
import RemoteHub
import Simulators
import Synchronization

/// The sessions of a lab, from their beginning to what is left of them.
final class LabSessions: Sendable {
    let lab: Lab
    let namespace: Namespace
    let wires: LabWires
    /// What counts how long a session has not been heard of.
    let system: any HubClock
    private let log: Logger
    private let open = Mutex<[String: LabSession]>([:])
    /// Sessions that have ended, of which something is or may still come that is to be removed.
    private let ended = Mutex<[String: EndedSession]>([:])

    /// Most that are open at a time.
    private static let limit = 64
    /// Without a word from its client a session ends.
    static let patience: Duration = .seconds(120)
    /// How often silent ones are looked for, and how long a request to a hub is expected after the end of its session.
    static let upkeep = patience / 4

    init(lab: Lab, namespace: Namespace, wires: LabWires, log: Logger, system: any HubClock = SystemClock()) {
        (self.lab, self.namespace, self.wires, self.log, self.system) = (lab, namespace, wires, log, system)
    }

    /// Opens a session for a hub, and lets the lab's clock stand still. Throws `hub.not_found` (404), `lab.session` (429).
    /// - Parameter name: nil for the only hub.
    func begin(hub name: String?, run: String) throws(PushError) -> (LabSession, ServedHub) {
        let names = namespace.hubs.map(\.record.name)
        guard let name = name ?? (names.count == 1 ? names[0] : nil) else {
            throw PushError(
                "usage.hub", "the server has \(names.count) hubs, and none is named", hint: "name one: \(names.joined(separator: ", "))",
                status: 400)
        }
        guard let hub = namespace.hub(name) else {
            let near = nearest(name, in: namespace.hubs.map(\.record.name))
            throw PushError(
                "hub.not_found", "there is no hub named \"\(name)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
                hint: "pushhost hub list shows all hubs", status: 404)
        }
        let simulators = lab.simulators
        let session = LabSession(
            id: SystemRandom().hex(32), hub: hub.record.name, run: run,
            phones: SimulatedLab(
                phones: simulators.phones, events: SimulatedLab.EventLog(), app: SimulatorCredentials.app, clock: lab.clock,
                applicationServerKey: { simulators.applicationServerPublicKey }), firstExchange: wires.record.count,
            firstEntry: lab.trace.count,
            now: system.now)
        let isOpen = open.withLock { open in
            guard open.count < Self.limit else { return false }
            open[session.id] = session
            lab.clock.hold()
            return true
        }
        guard isOpen else {
            throw PushError(
                "lab.session", "\(Self.limit) sessions of the lab are open", hint: "end some, or wait until they end by themselves",
                status: 429, isRetryable: true)
        }
        log.notice("the lab's session \(session.id.prefix(8)) began: run \(run) with the hub \(session.hub)")
        return (session, hub)
    }

    /// One that is open. Throws `lab.session` (404).
    func session(_ id: String) throws(PushError) -> LabSession {
        guard let session = open.withLock({ $0[id] }), !session.isOver else { throw Self.missing }
        return session
    }

    static var missing: PushError {
        PushError(
            "lab.session", "the lab has no such session: it has ended, or never began",
            hint: "a session ends with its server, and after two minutes of silence: begin another one (run the flow again)", status: 404)
    }

    /// Ends one that is open, or removes what is left of one that has ended where that failed before. Throws `lab.session` (404), and
    /// why something is left: then it may be called again.
    func end(_ id: String) async throws(PushError) -> LabSession {
        if let failed = ended.withLock({ $0[id] }), failed.isLeft {
            try await removeRest(of: failed)
            return failed.session
        }
        let session = try session(id)
        try await end(session)
        return session
    }

    /// Waits for the requests of a session that are under way and takes no others; then takes its phones out of the lab, what is
    /// registered for them out of every hub, and its faults off the services. Does nothing, at once, where another one does it, or
    /// where its client was heard of after `limit`. What cannot be removed is tried again at every upkeep.
    func end(_ session: LabSession, silentSince limit: Timestamp? = nil) async throws(PushError) {
        guard await session.end(silentSince: limit) else { return }
        let phones = await session.phones.devices().map(\.phone)
        lab.owners.forget(phones)
        lab.simulators.phones.remove(phones)
        let faults = lab.faults(of: session.id)
        for service in PhonePlatform.allCases { faults.clear(Platform(service)) }
        await lab.ledger.note(lead: lab.clock.lead)
        defer {
            let wasOpen = open.withLock { $0.removeValue(forKey: session.id) != nil }
            if wasOpen { lab.clock.release() }
        }
        try await removeRest(of: EndedSession(session: session, at: nil))
        log.notice("the lab's session \(session.id.prefix(8)) ended")
    }

    /// Removes what is registered for the phones of one that has ended. Where that succeeds a while after its end nothing can come
    /// any more, and it is forgotten. Until then the ledger has its handles, so that a start of the server removes it as well.
    ///
    /// - Parameter isLast: whether nothing can come any more anyway.
    private func removeRest(of ended: EndedSession, isLast: Bool = false) async throws(PushError) {
        let (session, begun) = (ended.session, system.now)
        do throws(PushError) {
            try await HandleRemoval(namespace: namespace).remove(session.handles, on: lab.thread)
        } catch {
            log.warning("what the session \(session.id.prefix(8)) leaves behind could not be removed: \(error.message)")
            keep(ended, isLeft: true)
            throw error
        }
        guard isLast || ended.at.map({ $0 + Self.upkeep <= begun }) == true else { return keep(ended, isLeft: false) }
        self.ended.withLock { $0[session.id] = nil }
        await lab.ledger.noteEnd(of: session.id)
    }

    private func keep(_ session: EndedSession, isLeft: Bool) {
        ended.withLock { $0[session.session.id] = EndedSession(session: session.session, at: session.at ?? system.now, isLeft: isLeft) }
    }

    /// Ends those that are silent, again and again until it is cancelled.
    func keepUp() async {
        while (try? await system.sleep(until: system.now + Self.upkeep)) != nil {
            await endSilent()
            await removeLatecomers()
        }
    }

    /// An end takes a while, in which others may be heard of: whether a session is silent is decided when its turn comes.
    func endSilent() async {
        let limit = system.now + (.zero - Self.patience)
        for session in open.withLock({ Array($0.values) }) { try? await end(session, silentSince: limit) }
    }

    /// Where the server stops: no request comes any more.
    func endAll() async {
        for session in open.withLock({ Array($0.values) }) { try? await end(session) }
        for session in ended.withLock({ Array($0.values) }) { try? await removeRest(of: session, isLast: true) }
    }

    /// Removes what was registered for phones of sessions that had ended, by requests to a hub that were on their way at the end, and
    /// what could not be removed before.
    func removeLatecomers() async {
        let now = system.now
        let due = ended.withLock { $0.values.filter { $0.isLeft || ($0.at ?? now) + Self.upkeep <= now } }
        for session in due { try? await removeRest(of: session) }
    }

    /// Removes what sessions of a server before this one have left behind. Where that fails, as on a full disk, the server starts all the
    /// same: the ledger stays as it is, and the next start tries again.
    func removeLeftovers() async {
        if lab.clock.hasBegunAnew {
            log.warning("the lab's clock had gone so far that little was left to skip: it begins with the system's time again")
        }
        do throws(PushError) {
            try await LabLeftovers(ledger: lab.ledger, namespace: namespace, log: log).remove(on: lab.thread)
        } catch {
            log.warning("registrations of earlier lab sessions could not be removed, the next start tries again: \(error.message)")
            return resumeLedger()
        }
        do throws(PushError) {
            try lab.ledger.begin(lead: lab.clock.lead)
        } catch {
            log.warning("the ledger of lab sessions could not be begun anew, the next start tries again: \(error.message)")
            resumeLedger()
        }
    }

    private func resumeLedger() {
        do throws(PushError) {
            try lab.ledger.resume()
        } catch {
            log.warning("lab sessions are not recorded, a crash leaves their registrations in the hubs: \(error.message)")
        }
    }
}

/// A session that has ended.
private struct EndedSession {
    let session: LabSession
    /// Nil as long as nothing of it was removed.
    let at: Timestamp?
    /// What was registered for its phones could not be removed.
    var isLeft = false
}

extension Lab {
    /// The faults of its services and of the wires to them, as far as a session ordered them.
    func faults(of session: String) -> SimulatedFaults {
        SimulatedFaults(wires: faults, owner: session) { [simulators] in PhonePlatform($0).map { simulators[$0] } }
    }
}

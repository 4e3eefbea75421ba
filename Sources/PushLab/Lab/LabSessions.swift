import Delivery
package import Logging
package import PushHub
package import PushModel
import PushRuntime
import RemoteHub
import Simulators
import Synchronization

/// Opens, finds and ends the sessions of a lab, and removes what they leave behind.
package final class LabSessions: Sendable {
    package let lab: Lab
    package let namespace: Namespace
    package let wires: RecordedLabTransport
    /// Measures how long a session has been inactive.
    package let system: any HubClock
    private let log: Logger
    private let open = Mutex<[String: LabSession]>([:])
    /// Ended sessions with registrations that are still to be removed, or that requests under way may still create.
    private let ended = Mutex<[String: EndedSession]>([:])

    /// Maximum number of open sessions.
    private static let limit = 64
    /// A session without a request for this long is ended.
    static let timeout: Duration = .seconds(120)
    /// How often inactive sessions are ended, and how long after a session's end its last requests to a hub may still arrive.
    static let sweepInterval = timeout / 4

    package init(lab: Lab, namespace: Namespace, wires: RecordedLabTransport, log: Logger, system: any HubClock = SystemClock()) {
        (self.lab, self.namespace, self.wires, self.log, self.system) = (lab, namespace, wires, log, system)
    }

    /// Opens a session for a hub and stops the lab's clock. Throws `hub.not_found` (404) and `lab.session` (429).
    /// - Parameter name: nil selects the only hub.
    package func begin(hub name: String?, run: String) throws(PushError) -> (LabSession, ServedHub) {
        let names = namespace.hubs.map(\.record.name)
        guard let name = name ?? (names.count == 1 ? names[0] : nil) else {
            throw PushError(
                "usage.hub", "the server has \(names.count) hubs: choose one", hint: "use one of \(names.joined(separator: ", "))",
                status: 400)
        }
        guard let hub = namespace.hub(name) else {
            let near = nearest(name, in: namespace.hubs.map(\.record.name))
            throw PushError(
                "hub.not_found", "unknown hub \"\(name)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
                hint: "see all hubs with pushhost hub list", status: 404)
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
                "lab.session", "the lab has reached its limit of \(Self.limit) open sessions",
                hint: "end some, or wait: sessions end after two minutes without requests", status: 429, isRetryable: true)
        }
        log.notice("lab session \(session.id.prefix(8)) started: run \(run) with hub \"\(session.hub)\"")
        return (session, hub)
    }

    /// Returns an open session. Throws `lab.session` (404).
    package func session(_ id: String) throws(PushError) -> LabSession {
        guard let session = open.withLock({ $0[id] }), !session.isOver else { throw Self.missing }
        return session
    }

    package static var missing: PushError {
        PushError(
            "lab.session", "unknown lab session: it has ended, or never started",
            hint: "sessions end with their server, and after two minutes without requests; run the flow again", status: 404)
    }

    /// Ends an open session, or retries the removal for an ended one where it failed. Throws `lab.session` (404), or the error of a failed
    /// removal, which a further call retries.
    package func end(_ id: String) async throws(PushError) -> LabSession {
        if let failed = ended.withLock({ $0[id] }), failed.hasLeftovers {
            try await removeRegistrationsOfEnded(of: failed)
            return failed.session
        }
        let session = try session(id)
        try await end(session)
        return session
    }

    /// Rejects further requests of a session and waits for the open ones. Then removes its phones from the lab, their registrations from
    /// every hub, and its faults from the services. Returns at once if another call does this, or if its client sent a request after
    /// `limit`. Every sweep retries a removal that failed.
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
        try await removeRegistrationsOfEnded(of: EndedSession(session: session, at: nil))
        log.notice("lab session \(session.id.prefix(8)) ended")
    }

    /// Removes the registrations of an ended session's phones. The session is forgotten if that succeeds long enough after its end that no
    /// request can arrive any more. Until then the ledger has its handles, so that the next start removes them after a crash.
    ///
    /// - Parameter isLast: whether no further request can arrive, because the server stops.
    private func removeRegistrationsOfEnded(of ended: EndedSession, isLast: Bool = false) async throws(PushError) {
        let (session, begun) = (ended.session, system.now)
        do throws(PushError) {
            try await HandleRemoval(namespace: namespace).remove(session.handles, on: lab.thread)
        } catch {
            log.warning("registrations of lab session \(session.id.prefix(8)) could not be removed; retrying: \(error.message)")
            keep(ended, hasLeftovers: true)
            throw error
        }
        guard isLast || ended.at.map({ $0 + Self.sweepInterval <= begun }) == true else { return keep(ended, hasLeftovers: false) }
        self.ended.withLock { $0[session.id] = nil }
        await lab.ledger.noteEnd(of: session.id)
    }

    private func keep(_ session: EndedSession, hasLeftovers: Bool) {
        let entry = EndedSession(session: session.session, at: session.at ?? system.now, hasLeftovers: hasLeftovers)
        ended.withLock { $0[session.session.id] = entry }
    }

    /// Ends inactive sessions at every `sweepInterval` until the task is cancelled.
    package func keepUp() async {
        while (try? await system.sleep(until: system.now + Self.sweepInterval)) != nil {
            await endSilent()
            await removeLateRegistrations()
        }
    }

    /// Ends inactive sessions. Each is checked just before it is ended, because ending the ones before takes time.
    func endSilent() async {
        let limit = system.now + (.zero - Self.timeout)
        for session in open.withLock({ Array($0.values) }) { try? await end(session, silentSince: limit) }
    }

    /// Ends all sessions when the server stops accepting requests.
    package func endAll() async {
        for session in open.withLock({ Array($0.values) }) { try? await end(session) }
        for session in ended.withLock({ Array($0.values) }) { try? await removeRegistrationsOfEnded(of: session, isLast: true) }
    }

    /// Removes registrations of ended sessions: those that late requests to a hub created, and those whose removal failed.
    func removeLateRegistrations() async {
        let now = system.now
        let due = ended.withLock { $0.values.filter { $0.hasLeftovers || ($0.at ?? now) + Self.sweepInterval <= now } }
        for session in due { try? await removeRegistrationsOfEnded(of: session) }
    }

    /// Removes what the previous server's sessions left behind. If that fails, for example because the disk is full, the server starts
    /// anyway: the ledger stays unchanged, and the next start tries again.
    package func removeLeftovers() async {
        if lab.clock.wasReset {
            log.warning("the lab's clock was too close to its last time; it restarts at the system's time")
        }
        do throws(PushError) {
            try await AbandonedSessions(ledger: lab.ledger, namespace: namespace, log: log).remove(on: lab.thread)
        } catch {
            log.warning("registrations of earlier lab sessions could not be removed; the next start retries: \(error.message)")
            return resumeLedger()
        }
        do throws(PushError) {
            try lab.ledger.begin(lead: lab.clock.lead)
        } catch {
            log.warning("the ledger of lab sessions could not be cleared; the next start retries: \(error.message)")
            resumeLedger()
        }
    }

    private func resumeLedger() {
        do throws(PushError) {
            try lab.ledger.resume()
        } catch {
            log.warning("lab sessions are not recorded; after a crash, their registrations stay in the hubs: \(error.message)")
        }
    }
}

/// A session that has ended but is not forgotten yet.
private struct EndedSession {
    let session: LabSession
    /// When the first removal of its registrations completed or failed; nil before that.
    let at: Timestamp?
    /// Whether registrations of its phones could not be removed.
    var hasLeftovers = false
}

extension Lab {
    /// The faults of the services and of the connections to them that one session has requested.
    package func faults(of session: String) -> SimulatedFaults {
        SimulatedFaults(wires: faults, owner: session) { [simulators] in PhonePlatform($0).map { simulators[$0] } }
    }
}

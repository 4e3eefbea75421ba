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
    /// Sessions that have ended, and when: what came too late for them is still to be removed.
    private let ended = Mutex<[(session: LabSession, at: Timestamp)]>([])

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

    /// Waits for the requests of a session that are under way and takes no others; then takes its phones out of the lab, what is
    /// registered for them out of every hub, and its faults off the services. Does nothing, at once, where another one does it.
    func end(_ session: LabSession) async throws(PushError) {
        guard await session.end() else { return }
        defer {
            ended.withLock { $0.append((session, system.now)) }
            let wasOpen = open.withLock { $0.removeValue(forKey: session.id) != nil }
            if wasOpen { lab.clock.release() }
        }
        let phones = await session.phones.devices().map(\.phone)
        lab.owners.forget(phones)
        lab.simulators.phones.remove(phones)
        let faults = lab.faults(of: session.id)
        for service in PhonePlatform.allCases { faults.clear(Platform(service)) }
        await lab.ledger.note(lead: lab.clock.lead)
        try await HandleRemoval(namespace: namespace).remove(session.handles, on: lab.thread)
        log.notice("the lab's session \(session.id.prefix(8)) ended")
    }

    /// Ends those that are silent, again and again until it is cancelled.
    func keepUp() async {
        while (try? await system.sleep(until: system.now + Self.upkeep)) != nil {
            await endSilent()
            await removeLatecomers()
        }
    }

    func endSilent() async {
        let now = system.now
        await end(open.withLock { $0.values.filter { ($0.silentSince ?? now) + Self.patience <= now } })
    }

    func endAll() async { await end(open.withLock { Array($0.values) }) }

    private func end(_ sessions: [LabSession]) async {
        for session in sessions {
            do throws(PushError) {
                try await end(session)
            } catch {
                note(error, of: session)
            }
        }
    }

    private func note(_ error: PushError, of session: LabSession) {
        log.warning("what the session \(session.id.prefix(8)) leaves behind could not be removed: \(error.message)")
    }

    /// Removes what was registered for phones of sessions that had ended, by requests to a hub that were on their way at the end. Until
    /// then the ledger has their handles, so that a start of the server removes it as well.
    func removeLatecomers() async {
        let now = system.now
        let sessions = ended.withLock { ended in
            defer { ended.removeAll { $0.at + Self.upkeep <= now } }
            return ended.filter { $0.at + Self.upkeep <= now }.map(\.session)
        }
        for session in sessions {
            do throws(PushError) {
                try await HandleRemoval(namespace: namespace).remove(session.handles, on: lab.thread)
                await lab.ledger.noteEnd(of: session.id)
            } catch {
                note(error, of: session)
            }
        }
    }

    /// Removes what sessions of a server before this one have left behind.
    func removeLeftovers() async throws(PushError) {
        try await HandleRemoval(namespace: namespace).remove(lab.ledger.leftovers, on: lab.thread)
        try lab.ledger.begin()
    }
}

extension Lab {
    /// The faults of its services and of the wires to them, as far as a session ordered them.
    func faults(of session: String) -> SimulatedFaults {
        SimulatedFaults(wires: faults, owner: session) { [simulators] in PhonePlatform($0).map { simulators[$0] } }
    }
}

/// Takes everything out of all hubs that is registered for some handles.
private struct HandleRemoval {
    let namespace: Namespace

    func remove(_ handles: [DeviceHandle], on thread: LabThread) async throws(PushError) {
        guard !handles.isEmpty else { return }
        try await withTaskExecutorPreference(thread) { () async throws(PushError) in
            for hub in namespace.hubs {
                for handle in handles { try await removeRegistrations(of: handle, hub.service) }
                try await removeInstallations(of: Set(handles.map(\.text)), hub.service)
            }
        }
    }

    private func removeRegistrations(of handle: DeviceHandle, _ hub: NotificationHub) async throws(PushError) {
        for spelling in handle.spellings {
            var found: [Registration]
            repeat {
                found = try await hub.registrations(.handle(spelling), page: Page(top: 100)).registrations
                for registration in found { try await remove(registration, hub) }
            } while found.count == 100
        }
    }

    private func remove(_ registration: Registration, _ hub: NotificationHub) async throws(PushError) {
        if let installation = registration.installationID { return try await hub.deleteInstallation(installation) }
        do throws(PushError) {
            try await hub.deleteRegistration(registration.id, ifMatch: nil)
        } catch {
            // Somebody else may have been quicker.
            guard error.status == 404 else { throw error }
        }
    }

    /// One whose channel is dead has no registrations any more.
    private func removeInstallations(of addresses: Set<String>, _ hub: NotificationHub) async throws(PushError) {
        var ids: [String] = []
        var page: String?
        repeat {
            let found = try await hub.installations(.all, page: Page(top: 100, continuation: page))
            ids += found.installations.filter { addresses.contains($0.handle.text) }.map(\.id)
            page = found.continuation
        } while page != nil
        for id in ids { try await hub.deleteInstallation(id) }
    }
}

extension DeviceHandle {
    /// Whatever it is registered as: legacy registrations have handles of FCM.
    fileprivate var spellings: [DeviceHandle] {
        switch self {
        case .fcmV1(let token), .gcm(let token): [.fcmV1(token: token), .gcm(token: token)]
        default: [self]
        }
    }
}

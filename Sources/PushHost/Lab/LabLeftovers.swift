import Logging
import PushCore

/// What sessions of a lab have left in the hubs because their server was killed.
struct LabLeftovers {
    let ledger: LabLedger
    let namespace: Namespace
    let log: Logger

    /// Says how much it was.
    func remove(on thread: LabThread?) async throws(PushError) {
        let count = try await HandleRemoval(namespace: namespace).remove(ledger.leftovers, on: thread)
        guard count > 0 else { return }
        let were = count == 1 ? "registration of their phones was" : "registrations of their phones were"
        log.notice("a lab had ended without its sessions: \(count) \(were) removed")
    }

    /// At the start of a server without a lab, which goes on where that fails: the next start tries again.
    static func remove(of folder: DataFolder, _ namespace: Namespace, _ log: Logger) async {
        do throws(PushError) {
            let ledger = try LabLedger(path: LabLedger.path(in: folder.file("lab")))
            guard !ledger.leftovers.isEmpty else { return }
            try await LabLeftovers(ledger: ledger, namespace: namespace, log: log).remove(on: nil)
            try ledger.begin()
        } catch {
            log.warning("what sessions of a lab have left in the hubs could not be removed: \(error.message)")
        }
    }
}

/// Takes everything out of all hubs that is registered for some handles.
struct HandleRemoval {
    let namespace: Namespace

    /// Answers how many registrations and installations there were.
    ///
    /// - Parameter thread: of the lab whose hubs they are; nil without a lab.
    @discardableResult
    func remove(_ handles: [DeviceHandle], on thread: LabThread?) async throws(PushError) -> Int {
        guard !handles.isEmpty else { return 0 }
        return try await withTaskExecutorPreference(thread) { () async throws(PushError) in
            var count = 0
            for hub in namespace.hubs {
                for handle in handles { count += try await removeRegistrations(of: handle, hub.service) }
                count += try await removeInstallations(of: Set(handles.map(\.text)), hub.service)
            }
            return count
        }
    }

    private func removeRegistrations(of handle: DeviceHandle, _ hub: NotificationHub) async throws(PushError) -> Int {
        var count = 0
        for spelling in handle.spellings {
            var found: [Registration]
            repeat {
                found = try await hub.registrations(.handle(spelling), page: Page(top: 100)).registrations
                for registration in found { try await remove(registration, hub) }
                count += found.count
            } while found.count == 100
        }
        return count
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
    private func removeInstallations(of addresses: Set<String>, _ hub: NotificationHub) async throws(PushError) -> Int {
        var ids: [String] = []
        var page: String?
        repeat {
            let found = try await hub.installations(.all, page: Page(top: 100, continuation: page))
            ids += found.installations.filter { addresses.contains($0.handle.text) }.map(\.id)
            page = found.continuation
        } while page != nil
        for id in ids { try await hub.deleteInstallation(id) }
        return ids.count
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

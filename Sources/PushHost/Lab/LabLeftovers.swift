import Logging
import PushCore

/// What sessions of a lab have left in the hubs because their server was killed.
struct LabLeftovers {
    let ledger: LabLedger
    let namespace: Namespace
    let log: Logger

    /// Says how much it was.
    func remove(on thread: LabThread?) async throws(PushError) {
        let count = ledger.leftovers.count
        guard count > 0 else { return }
        try await HandleRemoval(namespace: namespace).remove(ledger.leftovers, on: thread)
        log.notice("a lab had ended without its sessions: what they had registered for \(count) handle\(count == 1 ? "" : "s") was removed")
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

    /// - Parameter thread: of the lab whose hubs they are; nil without a lab.
    func remove(_ handles: [DeviceHandle], on thread: LabThread?) async throws(PushError) {
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

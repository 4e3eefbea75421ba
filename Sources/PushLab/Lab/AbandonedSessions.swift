package import Logging
package import PushHub
import PushModel

/// Removes registrations that sessions of a lab left in the hubs because their server was killed.
package struct AbandonedSessions {
    let ledger: LabLedger
    let namespace: Namespace
    let log: Logger

    /// Removes them and logs how many there were.
    func remove(on thread: LabThread?) async throws(PushError) {
        let count = try await HandleRemoval(namespace: namespace).remove(ledger.leftovers, on: thread)
        guard count > 0 else { return }
        log.notice("removed \(count) registration\(count == 1 ? "" : "s") of lab sessions that were open when the server ended")
    }

    /// Removes them when a server without a lab starts. If that fails, the server starts anyway and the next start tries again.
    package static func remove(recordedIn folder: String, _ namespace: Namespace, _ log: Logger) async {
        do throws(PushError) {
            let ledger = try LabLedger(path: LabLedger.path(in: folder))
            guard !ledger.leftovers.isEmpty else { return }
            try await AbandonedSessions(ledger: ledger, namespace: namespace, log: log).remove(on: nil)
            try ledger.begin()
        } catch {
            log.warning("registrations of earlier lab sessions could not be removed; the next start retries: \(error.message)")
        }
    }
}

/// Removes everything that is registered for some handles from all hubs.
struct HandleRemoval {
    let namespace: Namespace

    /// Returns the number of registrations and installations that were removed.
    ///
    /// - Parameter thread: the executor of the lab's hubs; nil without a lab.
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
            // Another request may have deleted it meanwhile.
            guard error.status == 404 else { throw error }
        }
    }

    /// Finds installations by handle. One whose push channel is invalid has no registrations, so deleting registrations would miss it.
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
    /// The handle in every form in which it may be registered: legacy (GCM) registrations use FCM tokens.
    fileprivate var spellings: [DeviceHandle] {
        switch self {
        case .fcmV1(let token), .gcm(let token): [.fcmV1(token: token), .gcm(token: token)]
        default: [self]
        }
    }
}

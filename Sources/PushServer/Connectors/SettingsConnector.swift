import PushModel
import Synchronization

/// Sends with a credential from the settings; creates a new connector when the credential changes.
final class SettingsConnector: Connector {
    let platforms: Set<Platform>
    private let credential: WatchedCredential
    private let make: @Sendable (SenderSettings) throws(PushError) -> any Connector
    private let made = Mutex<(version: Int, connector: any Connector)?>(nil)

    init(
        _ platforms: Set<Platform>, _ credential: WatchedCredential,
        _ make: @escaping @Sendable (SenderSettings) throws(PushError) -> any Connector
    ) {
        (self.platforms, self.credential, self.make) = (platforms, credential, make)
    }

    func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let connector: any Connector
        do throws(PushError) {
            connector = try current()
        } catch {
            let rejection = Rejection(status: 0, reason: error.code, explanation: error.message, outcome: .invalidCredentials)
            return batch.handles.map { _ in .rejected(rejection) }
        }
        return await connector.deliver(batch)
    }

    private func current() throws(PushError) -> any Connector {
        let (settings, version) = try credential.current()
        if let made = made.withLock({ $0 }), made.version == version { return made.connector }
        let connector = try make(settings)
        made.withLock { $0 = (version, connector) }
        return connector
    }
}

package import PushModel

/// Creates its connector when the first notification is due, so that a rehearsal without FCM does not generate an RSA key.
package actor LazyConnector: Connector {
    package nonisolated let platforms: Set<Platform>
    private let make: @Sendable () throws(PushError) -> any Connector
    private var made: Result<any Connector, PushError>?

    package init(_ platforms: Set<Platform>, _ make: @escaping @Sendable () throws(PushError) -> any Connector) {
        self.platforms = platforms
        self.make = make
    }

    package func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let connector: Result<any Connector, PushError>
        if let made {
            connector = made
        } else {
            do throws(PushError) {
                connector = .success(try make())
            } catch {
                connector = .failure(error)
            }
            made = connector
        }
        switch connector {
        case .success(let connector):
            return await connector.deliver(batch)
        case .failure(let error):
            let rejection = Rejection(
                status: 0, reason: error.code, explanation: error.message, outcome: .invalidCredentials)
            return batch.handles.map { _ in .rejected(rejection) }
        }
    }
}

import HTTPTypes
import Synchronization

/// One HTTP/2 connection to the simulator: remembers the key of its first accepted provider token.
package final class APNsSimulatorConnection: SimulatedService {
    private let simulator: APNsSimulator
    private let key = Mutex<String?>(nil)

    init(simulator: APNsSimulator) {
        self.simulator = simulator
    }

    package var hosts: Set<String> { simulator.hosts }

    package func handle(_ request: HTTPRequest, body: [UInt8]) async -> (response: HTTPResponse, body: [UInt8]) {
        let outcome = simulator.respond(to: request, body: body, connectionKey: key.withLock { $0 })
        if let used = outcome.key { key.withLock { $0 = $0 ?? used } }
        return outcome.answer
    }
}

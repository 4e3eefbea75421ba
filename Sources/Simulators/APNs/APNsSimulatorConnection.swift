package import HTTPTypes
import Synchronization

/// One connection to the simulator. It remembers the key of its first accepted provider token, and the client's certificate.
package final class APNsSimulatorConnection: SimulatedService {
    private let simulator: APNsSimulator
    private let sender: Mutex<APNsSender>

    init(simulator: APNsSimulator, sender: APNsSender = APNsSender()) {
        self.simulator = simulator
        self.sender = Mutex(sender)
    }

    package var hosts: Set<String> { simulator.hosts }

    package func handle(_ request: HTTPRequest, body: [UInt8]) async -> (response: HTTPResponse, body: [UInt8]) {
        respond(to: request, body: body).answer
    }

    /// Returns the response, and whether the sender is authenticated.
    func respond(to request: HTTPRequest, body: [UInt8]) -> (answer: Answer, isAuthenticated: Bool) {
        sender.withLock { sender in
            let answer = simulator.respond(to: request, body: body, sender: &sender)
            return (answer, sender.isAuthenticated)
        }
    }
}

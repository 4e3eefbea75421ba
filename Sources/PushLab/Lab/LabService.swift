import Glibc
import Hummingbird
import Logging
import NIOCore
import PushModel
import PushRuntime
import ServiceLifecycle
import Simulators

/// The running listeners of a lab: the simulators' HTTP port, and the TLS port if there is one.
struct LabService: Sendable {
    /// The port on 127.0.0.1.
    let port: Int
    /// The TLS listener for third-party clients; nil if there is none.
    let listener: TLSListener?
    private let group: ServiceGroup
    private let running: Task<Void, Never>

    /// Starts to serve, and returns once requests are accepted.
    ///
    /// - Parameters:
    ///   - tlsPort: port for the services' own protocols; 0 picks a free one, nil disables it.
    ///   - files: the folder of the TLS certificate.
    ///   - connections: the connections of all ports; nil for no limit.
    /// Throws `lab.port`, and `simulate.data` for the folder.
    static func starting(
        _ server: SimulatorServer, tlsPort: Int?, in files: SimulatorFolder, _ connections: (any PortConnections)?
    ) async throws(PushError) -> LabService {
        let listener = try await listener(of: server, port: tlsPort, in: files, connections)
        let (ports, port) = AsyncStream.makeStream(of: Result<Int, PushError>.self)
        let application = server.application(connections: connections) { port.yield(.success($0)) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: application)], logger: Logger(label: "lab") { _ in SwiftLogNoOpLogHandler() }))
        let running = Task {
            do {
                try await group.run()
            } catch {
                port.yield(.failure(refusal(error)))
            }
            port.finish()
        }
        for await result in ports {
            if case .failure = result { await listener?.end(grace: .zero) }
            return LabService(port: try result.get(), listener: listener, group: group, running: running)
        }
        await listener?.end(grace: .zero)
        throw PushError("lab.port", "the lab stopped before it had started", hint: "start the server again")
    }

    func stop() async {
        await group.triggerGracefulShutdown()
        await running.value
        await listener?.end(grace: .seconds(1))
    }

    /// Listens with TLS. The certificate uses the system's time, because clients do; everything else uses the lab's time.
    private static func listener(
        of server: SimulatorServer, port: Int?, in files: SimulatorFolder, _ connections: (any PortConnections)?
    ) async throws(PushError) -> TLSListener? {
        guard let port else { return nil }
        let clock = SystemClock()
        let identity = try SimulatorFolder.identity(in: files, now: SimulatorClock(now: { clock.now.milliseconds }))
        do {
            return try await server.listen(
                port: port, threads: 1, identity: identity, serving: ServiceSelection(), connections: connections)
        } catch {
            throw refusal(error, setting: "lab.tls_port")
        }
    }

    private static func refusal(_ error: any Error, setting: String = "lab.port") -> PushError {
        let why = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        return PushError("lab.port", "the lab cannot listen: \(why)", hint: "choose another \(setting); 0 picks a free one")
    }
}

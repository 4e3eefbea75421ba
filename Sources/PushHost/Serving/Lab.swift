import Glibc
import Hummingbird
import Logging
import NIOCore
import PushCore
import ServiceLifecycle
import Simulators

/// The simulated push services with their phones inside a server: what `pushhost simulate --adopt` is in a process of its own.
final class Lab: Sendable {
    /// On 127.0.0.1.
    let port: Int
    private let group: ServiceGroup
    private let running: Task<Void, Never>

    var address: String { "http://127.0.0.1:\(port)" }

    /// Answers when it takes requests.
    ///
    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - folder: where its keys are kept, so that browsers stay subscribed from one start to the next.
    /// Throws `lab.port`, and `simulate.data` for the folder.
    static func starting(port: Int, folder: String) async throws(PushError) -> Lab {
        let (clock, random) = (SystemClock(), SystemRandom())
        let randomness = SimulatorRandom(bytes: random.bytes)
        let credentials = try SimulatorFolder(path: folder).credentials { () throws(PushError) in
            try SimulateSession.newKeys(randomness)
        }
        let server = SimulatorServer(
            port: port, credentials: credentials, clock: SimulatorClock(now: { clock.now.milliseconds }), random: randomness,
            adoptsHandles: true)
        let (ports, port) = AsyncStream.makeStream(of: Result<Int, PushError>.self)
        let application = server.application { port.yield(.success($0)) }
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
        for await result in ports { return Lab(port: try result.get(), group: group, running: running) }
        throw PushError("lab.port", "the lab ended before it began", hint: "start the server again")
    }

    private init(port: Int, group: ServiceGroup, running: Task<Void, Never>) {
        self.port = port
        self.group = group
        self.running = running
    }

    func stop() async {
        await group.triggerGracefulShutdown()
        await running.value
    }

    private static func refusal(_ error: any Error) -> PushError {
        let why = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        return PushError("lab.port", "the lab cannot listen: \(why)", hint: "choose another lab.port; 0 takes a free one")
    }
}

extension Lab {
    /// Throws `lab.credentials` where notifications wait for real devices: simulated phones would get them instead.
    static func check(_ store: any NamespaceStore) async throws(PushError) {
        for hub in try await store.load().hubs {
            guard let kind = hub.description.credentials.first(where: { !$0.value.properties.isEmpty })?.key else { continue }
            let waiting = try await store.store(ofHub: hub.number).unfinished(after: 0, limit: 1)
            guard waiting.isEmpty else {
                throw PushError(
                    "lab.credentials",
                    "the hub \(hub.name) has credentials (\(kind.rawValue)) of a real push service, and notifications that wait",
                    hint: "leave out --lab, or name another data folder with --data")
            }
        }
    }
}

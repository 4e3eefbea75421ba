import Bindings
import Glibc
import Logging
import Lua
import NIOCore
import PushLab
import PushModel
import PushRuntime
import PushServer
import ServiceLifecycle
import Simulators
import Synchronization
import WebAPI

/// Runs `pushhost simulate` from opening its files to its end.
struct SimulateSession {
    let options: SimulateOptions
    let plan: SimulatePlan
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(options: SimulateOptions, plan: SimulatePlan) {
        self.options = options
        self.plan = plan
    }

    /// Time for connections to end before they are closed. Shorter than the five seconds after which SIGTERM ends the program.
    private static let grace: Duration = .seconds(3)

    /// Returns the exit code.
    func run(_ interruption: Interruption) async -> Int32 {
        do throws(PushError) {
            try await serve(interruption)
            return output.finish(reportingTo: errors) ? ExitStatus.pass : ExitStatus.failed
        } catch {
            _ = output.finish()
            let palette = Palette(isOn: errors.hasColour)
            for line in Diagnostic(LuaError(error), source: [], scriptName: "", palette: palette).lines { errors.line(line) }
            _ = errors.finish()
            return error.code == "output.failed" ? ExitStatus.failed : ExitStatus.usage
        }
    }

    private func serve(_ interruption: Interruption) async throws(PushError) {
        let (clock, random) = (SystemClock(), SystemRandom())
        let folder = options.data.map(SimulatorFolder.init)
        let randomness = SimulatorRandom(bytes: random.bytes)
        let time = SimulatorClock(now: { clock.now.milliseconds })
        let threads = plan.port == nil ? 0 : plan.threads
        try DescriptorLimit.requireForSimulators(threads: threads, for: plan.command)
        let connections = Connections(limit: DescriptorLimit.simulatorConnectionLimit(threads: threads))
        let credentials = try Self.credentials(in: folder, randomness)
        let identity =
            plan.port == nil ? nil : try SimulatorFolder.identity(in: folder, now: time, names: plan.publicHost.map { [$0] } ?? [])
        // A load test of APNs (`inboxes` set) has no ledger by default, because writing a line per notification would slow it down.
        let path = options.ledger ?? (plan.inboxes == nil ? folder?.ledgerPath : nil)
        let ledger = try path.map { path throws(PushError) in try LedgerFile(path: path) }
        let chance = SimulatorRandom(bytes: SeededRandom(seed: plan.seed).bytes)
        let server = SimulatorServer(
            port: Int(plan.controlPort), credentials: credentials, clock: time, random: randomness,
            adoption: HandleAdoption(isEnabled: options.adopt, fullPhoneLimit: plan.inboxes, limit: options.phones), chance: chance,
            certificate: identity?.certificate,
            observer: SimulatorObserver(ledger: ledger?.append) { [errors] error in
                errors.note(
                    "warning: new connections wait: \(String(cString: strerror(error.errnoCode))); \(DescriptorLimit.hint(for: error.errnoCode))"
                )
            })
        try plan.prepare(server)
        let listener = try await listen(server, identity, connections)
        let application = server.application(connections: connections) { port in
            announce(port: port, listener: listener, hosts: server.hosts, folder: folder, ledger: ledger)
        }
        var services: [any Service] = [application]
        if let listener { services.append(TLSListenerService(listener: listener)) }
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(service: $0) }, logger: Logger(label: "pushhost") { _ in SwiftLogNoOpLogHandler() })
        configuration.maximumGracefulShutdownDuration = Self.grace
        let group = ServiceGroup(configuration: configuration)
        let end: @Sendable () -> Void = { Task { await group.triggerGracefulShutdown() } }
        interruption.onInterrupt(end)
        ledger?.onFailure(end)
        do {
            try await group.run()
        } catch {
            // Services that exceed `grace` are cancelled, which throws here too.
            if !interruption.happened, ledger?.failure == nil { throw refusal(error, port: plan.controlPort, option: "--control-port") }
        }
        if let failure = ledger?.failure { throw failure }
    }

    private func listen(
        _ server: SimulatorServer, _ identity: ServerIdentity?, _ connections: Connections
    ) async throws(PushError) -> TLSListener? {
        guard let port = plan.port, let identity else { return nil }
        do {
            return try await server.listen(
                port: Int(port), threads: plan.threads, identity: identity, serving: plan.selection, connections: connections)
        } catch {
            throw refusal(error, port: port, option: "--port")
        }
    }

    private static func credentials(
        in folder: SimulatorFolder?, _ random: SimulatorRandom
    ) throws(PushError) -> SimulatorCredentials {
        guard let folder else { return try SimulatorCredentials.generated(random) }
        return try folder.credentials { () throws(PushError) in try SimulatorCredentials.generated(random) }
    }

    private func refusal(_ error: any Error, port: UInt16, option: String) -> PushError {
        let number = (error as? IOError)?.errnoCode
        let why = number.map { String(cString: strerror($0)) } ?? "\(error)"
        return PushError(
            "simulate.port", "port \(port) of 127.0.0.1 cannot be used: \(why)",
            hint: number == EACCES ? "choose a port from 1024 on" : "choose another with \(option); 0 picks a free one")
    }

    /// Prints the startup banner.
    private func announce(
        port: Int, listener: TLSListener?, hosts: [(platform: PhonePlatform, hosts: [String])], folder: SimulatorFolder?,
        ledger: LedgerFile?
    ) {
        let address = "http://127.0.0.1:\(port)"
        if let listener {
            output.line("Simulated \(plan.title) on https://127.0.0.1:\(listener.port), \(plan.languages), selected by host:")
            announce(hosts.filter { plan.selection.platforms.contains($0.platform) })
            let trust = folder.map { "clients must trust \($0.certificatePath.printable)" }
            output.line("  TLS       \(trust ?? "new at every start; clients must trust the certificate of GET /certificate")")
            output.line("  control   \(address), with all push services over plain HTTP/1.1")
        } else {
            output.line("Simulated push services on \(address), selected by Host:")
            announce(hosts)
        }
        output.line("  keys      \(folder.map { "\($0.credentialsPath.printable), " } ?? "new at every start, ")GET /credentials")
        output.line("  ledger    \(ledger.map { "\($0.path.printable), " } ?? "")GET /ledger")
        output.line("  phones    GET /phones\(options.adopt ? "; every handle that is pushed to gets a phone" : "")")
        output.line()
        output.line("Next")
        let phone = plan.examplePhone
        output.line("  curl \(address)/phones -d '{\"name\": \"\(phone.name)\", \"platform\": \"\(phone.platform)\"}'")
        output.line("  curl \(address)/phones/\(phone.name)")
        output.line("Press Ctrl-C to stop.")
        output.flush()
    }

    private func announce(_ hosts: [(platform: PhonePlatform, hosts: [String])]) {
        for entry in hosts { output.line("  \(entry.platform.rawValue.padded(to: 10))\(entry.hosts.joined(separator: ", "))") }
        output.line()
    }
}

/// Ends the TLS connections with the other services: sends GOAWAY, answers open requests, then closes.
private struct TLSListenerService: Service {
    let listener: TLSListener

    func run() async throws {
        do {
            try await gracefulShutdown()
            await listener.end(grace: .seconds(2))
        } catch {
            await listener.end(grace: .zero)
        }
    }
}

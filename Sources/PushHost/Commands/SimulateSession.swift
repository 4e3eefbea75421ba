import Bindings
import Glibc
import Logging
import Lua
import NIOCore
import PushCore
import ServiceLifecycle
import Simulators
import Synchronization

/// `pushhost simulate` from its files to its end.
struct SimulateSession {
    let options: SimulateOptions
    let plan: SimulatePlan
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(options: SimulateOptions, plan: SimulatePlan) {
        self.options = options
        self.plan = plan
    }

    /// Whoever is not done by then is cut off. Shorter than what SIGTERM leaves.
    private static let grace: Duration = .seconds(3)

    /// Files for ports, keys, the ledger and a few clients.
    private static let reserve = 16

    /// The exit code.
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
        try OpenFiles.require(
            OpenFiles.ofSharedLoops + (plan.port == nil ? 0 : plan.threads) * OpenFiles.ofLoop + Self.reserve, for: plan.command)
        let credentials = try Self.credentials(in: folder, randomness)
        let identity =
            plan.port == nil ? nil : try SimulatorFolder.identity(in: folder, now: time, names: plan.publicHost.map { [$0] } ?? [])
        // At the rate of a load test of APNs every line in a file costs.
        let path = options.ledger ?? (plan.inboxes == nil ? folder?.ledgerPath : nil)
        let ledger = try path.map { path throws(PushError) in try LedgerFile(path: path) }
        let chance = SimulatorRandom(bytes: SeededRandom(seed: plan.seed).bytes)
        let server = SimulatorServer(
            port: Int(plan.controlPort), credentials: credentials, clock: time, random: randomness, adoptsHandles: options.adopt,
            closeCircle: plan.inboxes, adoptionLimit: options.phones, chance: chance, certificate: identity?.certificate,
            ledger: ledger?.append,
            onShortage: { [errors] error in
                errors.note(
                    "warning: new connections wait: \(String(cString: strerror(error.errnoCode))); \(OpenFiles.hint(for: error.errnoCode))")
            })
        try plan.prepare(server)
        let listener = try await listen(server, identity)
        let application = server.application { port in
            tell(port: port, listener: listener, hosts: server.hosts, folder: folder, ledger: ledger)
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
            // What ends late is cut off by cancelling it.
            if !interruption.happened, ledger?.failure == nil { throw refusal(error, port: plan.controlPort, option: "--control-port") }
        }
        if let failure = ledger?.failure { throw failure }
    }

    private func listen(_ server: SimulatorServer, _ identity: ServerIdentity?) async throws(PushError) -> TLSListener? {
        guard let port = plan.port, let identity else { return nil }
        do {
            return try await server.listen(port: Int(port), threads: plan.threads, identity: identity, serving: plan.selection)
        } catch {
            throw refusal(error, port: port, option: "--port")
        }
    }

    private static func credentials(
        in folder: SimulatorFolder?, _ random: SimulatorRandom
    ) throws(PushError) -> SimulatorCredentials {
        guard let folder else { return try newKeys(random) }
        return try folder.credentials { () throws(PushError) in try newKeys(random) }
    }

    static func newKeys(_ random: SimulatorRandom) throws(PushError) -> SimulatorCredentials {
        guard let credentials = SimulatorCredentials(random: random) else {
            throw PushError("credential.invalid", "the simulators could not make an RSA key")
        }
        return credentials
    }

    private func refusal(_ error: any Error, port: UInt16, option: String) -> PushError {
        let number = (error as? IOError)?.errnoCode
        let why = number.map { String(cString: strerror($0)) } ?? "\(error)"
        return PushError(
            "simulate.port", "port \(port) of 127.0.0.1 cannot be used: \(why)",
            hint: number == EACCES ? "choose a port from 1024 on" : "choose another with \(option); 0 takes a free one")
    }

    /// The first screen.
    private func tell(
        port: Int, listener: TLSListener?, hosts: [(platform: PhonePlatform, hosts: [String])], folder: SimulatorFolder?,
        ledger: LedgerFile?
    ) {
        let address = "http://127.0.0.1:\(port)"
        if let listener {
            output.line("Simulated \(plan.title) on https://127.0.0.1:\(listener.port), \(plan.languages), told apart by host:")
            tell(hosts.filter { plan.selection.platforms.contains($0.platform) })
            let trust = folder.map { "give clients \($0.certificatePath.printable) as their authority" }
            output.line("  TLS       \(trust ?? "new at every start, GET /certificate: give it to clients as their authority")")
            output.line("  control   \(address), with all push services over plain HTTP/1.1")
        } else {
            output.line("Simulated push services on \(address), told apart by Host:")
            tell(hosts)
        }
        output.line("  keys      \(folder.map { "\($0.credentialsPath.printable), " } ?? "new at every start, ")GET /credentials")
        output.line("  ledger    \(ledger.map { "\($0.path.printable), " } ?? "")GET /ledger")
        output.line("  phones    GET /phones\(options.adopt ? "; a handle that is pushed to becomes one" : "")")
        output.line()
        output.line("Next")
        let phone = plan.examplePhone
        output.line("  curl \(address)/phones -d '{\"name\": \"\(phone.name)\", \"platform\": \"\(phone.platform)\"}'")
        output.line("  curl \(address)/phones/\(phone.name)")
        output.line("Ctrl-C ends it.")
        output.flush()
    }

    private func tell(_ hosts: [(platform: PhonePlatform, hosts: [String])]) {
        for entry in hosts { output.line("  \(entry.platform.rawValue.padded(to: 10))\(entry.hosts.joined(separator: ", "))") }
        output.line()
    }
}

/// Ends the connections of TLS with the rest: GOAWAY, what is open is answered, then they close.
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

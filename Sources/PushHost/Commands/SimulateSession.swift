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
    let command: SimulateCommand
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    init(command: SimulateCommand) {
        self.command = command
    }

    /// Whoever is not done by then is cut off. Shorter than what SIGTERM leaves.
    private static let grace: Duration = .seconds(3)

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
        let folder = command.data.map(SimulatorFolder.init)
        let randomness = SimulatorRandom(bytes: random.bytes)
        let credentials = try Self.credentials(in: folder, randomness)
        let ledger = try (command.ledger ?? folder?.ledgerPath).map { path throws(PushError) in try LedgerFile(path: path) }
        let server = SimulatorServer(
            port: Int(command.port), credentials: credentials, clock: SimulatorClock(now: { clock.now.milliseconds }),
            random: randomness, adoptsHandles: command.adopt, ledger: ledger?.append)
        let application = server.application { port in
            tell(port: port, hosts: server.hosts, folder: folder, ledger: ledger)
        }
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: application)], logger: Logger(label: "pushhost") { _ in SwiftLogNoOpLogHandler() })
        configuration.maximumGracefulShutdownDuration = Self.grace
        let group = ServiceGroup(configuration: configuration)
        let end: @Sendable () -> Void = { Task { await group.triggerGracefulShutdown() } }
        interruption.onInterrupt(end)
        ledger?.onFailure(end)
        do {
            try await group.run()
        } catch {
            // What ends late is cut off by cancelling it.
            if !interruption.happened, ledger?.failure == nil { throw refusal(error) }
        }
        if let failure = ledger?.failure { throw failure }
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

    private func refusal(_ error: any Error) -> PushError {
        let number = (error as? IOError)?.errnoCode
        let why = number.map { String(cString: strerror($0)) } ?? "\(error)"
        return PushError(
            "simulate.port", "port \(command.port) of 127.0.0.1 cannot be used: \(why)",
            hint: number == EACCES ? "choose a port from 1024 on" : "choose another with --port; 0 takes a free one")
    }

    /// The first screen.
    private func tell(
        port: Int, hosts: [(platform: PhonePlatform, hosts: [String])], folder: SimulatorFolder?, ledger: LedgerFile?
    ) {
        let address = "http://127.0.0.1:\(port)"
        output.line("Simulated push services on \(address), told apart by Host:")
        for entry in hosts { output.line("  \(entry.platform.rawValue.padded(to: 10))\(entry.hosts.joined(separator: ", "))") }
        output.line()
        output.line("  keys      \(folder.map { "\($0.credentialsPath.printable), " } ?? "new at every start, ")GET /credentials")
        output.line("  ledger    \(ledger.map { "\($0.path.printable), " } ?? "")GET /ledger")
        output.line("  phones    GET /phones\(command.adopt ? "; a handle that is pushed to becomes one" : "")")
        output.line()
        output.line("Next")
        output.line("  curl \(address)/phones -d '{\"name\": \"ana\", \"platform\": \"apns\"}'")
        output.line("  curl \(address)/phones/ana")
        output.line("Ctrl-C ends it.")
        output.flush()
    }
}

import Bindings
import CoreMetrics
import Dispatch
import Glibc
import Logging
import Lua
import NIOCore
import PushCore
import ServiceLifecycle
import Synchronization
import WebAPI

/// `pushhost serve` from its settings to its end.
struct ServeSession {
    let command: ServeCommand
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    /// How often what is old is removed, and the certificate looked at.
    private static let upkeep: Duration = .seconds(60)

    init(command: ServeCommand) {
        self.command = command
    }

    /// The exit code.
    func run() async -> Int32 {
        do throws(PushError) {
            let given = try source.read()
            try await serve(given.settings, given)
            return output.finish(reportingTo: errors) ? ExitStatus.pass : ExitStatus.failed
        } catch {
            _ = output.finish()
            let palette = Palette(isOn: errors.hasColour)
            for line in Diagnostic(LuaError(error), source: [], scriptName: "", palette: palette).lines { errors.line(line) }
            _ = errors.finish()
            return error.code == "serve.failed" ? ExitStatus.failed : ExitStatus.usage
        }
    }

    private var source: SettingsSource {
        var flags: [String: String] = [:]
        flags["data"] = command.data
        flags["listen.host"] = command.host
        flags["listen.port"] = command.port
        flags["listen.tls_port"] = command.tlsPort
        flags["simulators"] = command.simulators
        if command.lab { flags["lab"] = "on" }
        if command.tutorialMode { flags["backend.tutorial_mode"] = "on" }
        return SettingsSource(path: command.config, flags: flags)
    }

    // MARK: - Serving

    private func serve(_ settings: ServerSettings, _ given: GivenSettings) async throws(PushError) {
        var settings = settings
        try OpenFiles.requireForServer(isLab: settings.isLab)
        let folder = try DataFolder(path: settings.data)
        var lab: Lab?
        if settings.isLab {
            let made = try await Lab.starting(
                port: settings.labPort ?? 0, tlsPort: settings.labTLSPort, folder: folder.file("lab"), key: settings.labKey,
                phones: settings.labPhones, tokenRules: settings.labTokenRules)
            settings.simulators = made.address
            lab = made
        }
        let failure: PushError?
        do throws(PushError) {
            try await serve(settings, folder, given, lab)
            failure = nil
        } catch {
            failure = error
        }
        await lab?.stop()
        if let failure { throw failure }
    }

    private func serve(
        _ settings: ServerSettings, _ folder: DataFolder, _ given: GivenSettings, _ lab: Lab?
    ) async throws(PushError) {
        let clock = SystemClock()
        let style = LogStyle(settings)
        let lines = LogLines(descriptor: STDERR_FILENO) { count in
            ServerLog.line(style.format, clock.now, .warning, "\(count) lines of the log are missing: they were not read in time")
        }
        let log = Logger(label: "pushhost") { _ in ServerLog(style: style, clock: clock, write: lines.line) }
        let metrics = PrometheusRegistry()
        MetricsSystem.bootstrap(metrics)
        let failure: PushError?
        do throws(PushError) {
            let server = try await PushServer.opening(settings, folder: folder, lab: lab, log: log, metrics: metrics)
            for text in given.misspelt { log.warning("\(text)") }
            if settings.backend.isTutorialMode {
                log.warning("tutorial mode is on: whoever gives a user name as its own password is logged in; not for real users")
            }
            await server.checkBackend()
            await server.checkFlows()
            let reload = SettingsReload(source, given, server, style, log)
            do throws(PushError) {
                try await run(server, reload, lab, log)
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
            failure = nil
        } catch {
            failure = error
        }
        await lines.finish()
        if let failure { throw failure }
    }

    /// Answers on the ports until a signal ends it.
    private func run(
        _ server: PushServer, _ reload: SettingsReload, _ lab: Lab?, _ log: Logger
    ) async throws(PushError) {
        let (settings, clock) = (server.settings, SystemClock())
        let certificates = CertificateFiles(settings: settings)
        let identity: TLSIdentity? =
            settings.tlsPort == nil ? nil : try certificates.identity(now: clock.now)
        let manager = ServiceManager()
        let screen = FirstScreen(
            settings: settings, server: server, authority: certificates.authority, lab: lab, reveal: command.reveal,
            output: output, whenShown: { manager.tell("READY=1") })
        var services = [try server.controlApplication { screen.listeningForCommands() }]
        func add(_ service: any Service, _ setting: String, _ port: Int) {
            services.append(ListeningService(base: service, setting: setting, host: settings.host, port: port))
        }
        if let port = settings.port {
            add(try server.application(port: port, tls: nil) { screen.listening(port: $0) }, "listen.port", port)
        }
        if let port = settings.tlsPort, let identity {
            add(try server.application(port: port, tls: identity) { screen.listening(tlsPort: $0) }, "listen.tls_port", port)
        }
        Signals.watch(SIGHUP) {
            Task {
                manager.tell("RELOADING=1")
                await server.readCredentialsAgain()
                await reload.run()
                manager.tell("READY=1")
            }
        }
        try await run(services, log, manager) {
            await server.flows.hush()
            // Who waits for a run is answered while there is time left for it.
            guard (try? await clock.sleep(until: clock.now + ConnectionLimits.grace * 3 / 4)) != nil else { return }
            await server.flows.stop()
        } beside: {
            async let lab: Void = server.keepLab()
            async let telling: Void = server.tellOfPruned()
            async let plugins: Void = server.plugins.keepUp(log)
            async let pages: Void = server.database.checkPages()
            await Self.keepUp(server, certificates, identity, clock, log)
            await lab
            await telling
            await plugins
            await pages
        }
    }

    /// Runs the services until a signal ends them.
    private func run(
        _ services: [any Service], _ log: Logger, _ manager: ServiceManager, ending: @escaping @Sendable () async -> Void,
        beside upkeep: @escaping @Sendable () async -> Void
    ) async throws(PushError) {
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(service: $0) }, logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        configuration.maximumGracefulShutdownDuration = ConnectionLimits.grace
        let group = ServiceGroup(configuration: configuration)
        let asked = Asked()
        let task = Task { await upkeep() }
        for number in [SIGINT, SIGTERM] {
            Signals.watch(number) {
                // The second one does not wait.
                if asked.again() { _exit(ExitStatus.interrupted) }
                log.notice("ending: requests that have begun are finished")
                manager.tell("STOPPING=1")
                Self.endInAnyCase(log)
                task.cancel()
                Task { await group.triggerGracefulShutdown() }
                Task { await ending() }
            }
        }
        var failure: PushError?
        do {
            try await group.run()
        } catch {
            // What ends late is cut off by cancelling it.
            if !asked.happened { failure = refusal(error) }
        }
        // The files are closed next, and nobody is to miss them.
        task.cancel()
        await task.value
        if let failure { throw failure }
    }

    /// Ends the process before systemd kills it, should anything hold it up. What is stored survives that as it survives a crash.
    private static func endInAnyCase(_ log: Logger) {
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.longestEnd) {
            log.error("the server has not ended within \(Self.longestEnd) s: it ends at once; the next start goes on with what is stored")
            _exit(ExitStatus.failed)
        }
    }

    /// Seconds from the first signal. The service file allows 40.
    private static let longestEnd = 37.0

    /// Every minute, and at SIGHUP, until it is cancelled.
    private static func keepUp(
        _ server: PushServer, _ certificates: CertificateFiles, _ identity: TLSIdentity?, _ clock: SystemClock, _ log: Logger
    ) async {
        let fingerprint = Mutex(certificates.fingerprint)
        let reload: @Sendable () -> Void = {
            guard let identity else { return }
            do throws(PushError) {
                if try certificates.renew(now: clock.now) {
                    log.warning("the certificate for development was made anew: clients must be told to trust its authority")
                }
            } catch {
                log.error("the certificate for development could not be made anew: \(error.message)")
            }
            // None, too, is told: whoever has exchanged the files would take them for read.
            let now = certificates.fingerprint
            let isNew = fingerprint.withLock { known in
                defer { known = now }
                return known != now
            }
            guard isNew else { return }
            do throws(PushError) {
                try certificates.reload(identity)
                log.notice("the certificate was read again")
            } catch {
                log.error("the certificate stays as it was: \(error.message)")
            }
        }
        Signals.watch(SIGHUP, reload)
        var warned: String?
        var warnedOf: Set<String> = []
        while !Task.isCancelled {
            await server.removeOld()
            await server.database.check()
            await server.readCredentialsAgain()
            warnedOf = server.warnOfCredentials(known: warnedOf)
            let check = try? await blocking { () throws(PushError) in
                reload()
                return identity.map { _ in CertificateCheck(settings: server.settings).check(now: clock.now) }
            }
            // What clients refuse must not be found out from them.
            if let check = check ?? nil, !check.isWell, check.finding != warned {
                log.warning("the certificate: \(check.finding)\(check.hint.map { "; \($0)" } ?? "")")
                warned = check.finding
            }
            try? await clock.sleep(until: clock.now + upkeep)
        }
    }

    private func refusal(_ error: any Error) -> PushError {
        if let error = error as? PushError { return error }
        return PushError("serve.failed", "the server could not go on: \(error)", hint: "look at the log before this line")
    }
}

/// Whether the server was asked to end.
private final class Asked: Sendable {
    private let count = Mutex(0)

    var happened: Bool { count.withLock { $0 > 0 } }

    /// False the first time.
    func again() -> Bool {
        count.withLock { count in
            count += 1
            return count > 1
        }
    }
}

import Bindings
import CoreMetrics
import Dispatch
import Glibc
import Logging
import Lua
import NIOCore
import PushBackend
import PushLab
import PushModel
import PushRuntime
import PushServer
import ServiceLifecycle
import Synchronization
import WebAPI

/// One run of `pushhost serve`.
struct ServeSession {
    let command: ServeCommand
    private let program: HostProgram
    private let output = Output(descriptor: STDOUT_FILENO)
    private let errors = Output(descriptor: STDERR_FILENO)

    /// Interval of maintenance: deleting expired data and checking the certificate.
    private static let maintenanceInterval: Duration = .seconds(60)

    init(command: ServeCommand, program: HostProgram) {
        self.command = command
        self.program = program
    }

    /// Runs the server until it ends. Returns the exit code.
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

    private func serve(_ settings: ServerSettings, _ given: ConfiguredSettings) async throws(PushError) {
        try DescriptorLimit.requireForServer(isLab: settings.isLab)
        let folder = try DataFolder(path: settings.data)
        let clock = SystemClock()
        let style = LogStyle(settings)
        let lines = LogWriter(descriptor: STDERR_FILENO) { count in
            ServerLog.line(style.format, clock.now, .warning, "\(count) log lines were dropped: they were not read in time")
        }
        let log = Logger(label: "pushhost") { _ in ServerLog(style: style, clock: clock, write: lines.line) }
        let failure: PushError?
        do throws(PushError) {
            try await serve(settings, folder, given, style, log)
            failure = nil
        } catch {
            failure = error
        }
        await lines.finish()
        if let failure { throw failure }
    }

    private func serve(
        _ settings: ServerSettings, _ folder: DataFolder, _ given: ConfiguredSettings, _ style: LogStyle, _ log: Logger
    ) async throws(PushError) {
        var settings = settings
        let connections = ServerConnections(settings, SystemClock(), log)
        var lab: Lab?
        if settings.isLab {
            let made = try await Lab.starting(
                port: settings.labPort ?? 0, tlsPort: settings.labTLSPort, folder: folder.file("lab"), key: settings.labKey,
                phones: settings.labPhones, tokenRules: settings.labTokenRules,
                connections: connections.ofPorts)
            settings.simulators = made.address
            lab = made
        }
        let failure: PushError?
        do throws(PushError) {
            let metrics = PrometheusRegistry()
            MetricsSystem.bootstrap(metrics)
            let server = try await RunningServer.opening(
                settings, program, folder: folder, lab: lab, connections: connections, log: log, metrics: metrics)
            try await serve(server, given, style, lab, log)
            failure = nil
        } catch {
            failure = error
        }
        await lab?.stop()
        if let failure { throw failure }
    }

    /// Serves until a signal ends the server, and stops it.
    private func serve(
        _ server: RunningServer, _ given: ConfiguredSettings, _ style: LogStyle, _ lab: Lab?, _ log: Logger
    ) async throws(PushError) {
        for text in given.misspelt { log.warning("\(text)") }
        if server.settings.backend.isTutorialMode {
            log.warning("tutorial mode is on: a user name is also the password; never for real users")
        }
        await server.checkBackend()
        await server.flows.check()
        let reload = SettingsReload(source, given, server, style, log)
        do throws(PushError) {
            try await run(server, reload, lab, log)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// Serves the ports until a signal ends the server.
    private func run(
        _ server: RunningServer, _ reload: SettingsReload, _ lab: Lab?, _ log: Logger
    ) async throws(PushError) {
        let (settings, clock) = (server.settings, SystemClock())
        let certificates = CertificateFiles(settings: settings)
        let identity: TLSIdentity? =
            settings.tlsPort == nil ? nil : try certificates.identity(now: clock.now)
        let manager = ServiceManager()
        let screen = StartupBanner(
            settings: settings, server: server, authority: certificates.authority, lab: lab, reveal: command.reveal,
            output: output, whenShown: { manager.notify("READY=1") })
        var services = [try server.listeners.controlApplication { screen.listeningForCommands() }]
        func add(_ service: any Service, _ setting: String, _ port: Int) {
            services.append(PortService(base: service, setting: setting, host: settings.host, port: port))
        }
        if let port = settings.port {
            add(try server.listeners.application(port: port, tls: nil) { screen.listening(port: $0) }, "listen.port", port)
        }
        if let port = settings.tlsPort, let identity {
            add(try server.listeners.application(port: port, tls: identity) { screen.listening(tlsPort: $0) }, "listen.tls_port", port)
        }
        Signals.watch(SIGHUP) {
            Task {
                manager.notify("RELOADING=1")
                await server.credentials.reload()
                await reload.run()
                manager.notify("READY=1")
            }
        }
        try await run(services, log, manager) {
            await server.beginStop()
            // Stop the flows before the grace period ends, so that requests waiting for a run still get their response.
            guard (try? await clock.sleep(until: clock.now + ConnectionLimits.grace * 3 / 4)) != nil else { return }
            await server.flows.dispatcher.stop()
        } beside: {
            async let lab: Void = server.endIdleLabSessions()
            async let telling: Void = server.webhook.run()
            async let plugins: Void = server.plugins.keepUp()
            async let pages: Void = server.database.checkPages()
            await Self.keepUp(server, certificates, identity, clock, log)
            await lab
            await telling
            await plugins
            await pages
        }
    }

    /// Runs the services and the maintenance until a signal ends them.
    private func run(
        _ services: [any Service], _ log: Logger, _ manager: ServiceManager, ending: @escaping @Sendable () async -> Void,
        beside maintenance: @escaping @Sendable () async -> Void
    ) async throws(PushError) {
        var configuration = ServiceGroupConfiguration(
            services: services.map { .init(service: $0) }, logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        configuration.maximumGracefulShutdownDuration = ConnectionLimits.grace
        let group = ServiceGroup(configuration: configuration)
        let signals = ShutdownSignals()
        let task = Task { await maintenance() }
        for number in [SIGINT, SIGTERM] {
            Signals.watch(number) {
                // A second signal ends the process at once.
                if signals.again() { _exit(ExitStatus.interrupted) }
                log.notice("stopping: finishing requests in progress")
                manager.notify("STOPPING=1")
                Self.exitAfterTimeout(log)
                task.cancel()
                Task { await group.triggerGracefulShutdown() }
                Task { await ending() }
            }
        }
        var failure: PushError?
        do {
            try await group.run()
        } catch {
            // Services that exceed the grace period are cancelled, which is not a failure.
            if !signals.happened { failure = refusal(error) }
        }
        // Wait for the maintenance, which uses the files that are closed next.
        task.cancel()
        await task.value
        if let failure { throw failure }
    }

    /// Ends the process if shutdown takes too long, before systemd kills it. Stored data is as safe as after a crash.
    private static func exitAfterTimeout(_ log: Logger) {
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.shutdownTimeout) {
            log.error("the server did not stop within \(Self.shutdownTimeout) s: exiting now; stored work continues after the next start")
            _exit(ExitStatus.failed)
        }
    }

    /// Seconds after the first signal. The systemd unit allows 40.
    private static let shutdownTimeout = 37.0

    /// Performs maintenance every minute and on SIGHUP, until cancelled.
    private static func keepUp(
        _ server: RunningServer, _ certificates: CertificateFiles, _ identity: TLSIdentity?, _ clock: SystemClock, _ log: Logger
    ) async {
        let fingerprint = Mutex(certificates.fingerprint)
        let reload: @Sendable () -> Void = {
            guard let identity else { return }
            do throws(PushError) {
                if try certificates.renew(now: clock.now) {
                    log.warning("the development certificate was renewed: clients must trust its new authority")
                }
            } catch {
                log.error("cannot renew the development certificate: \(error.message)")
            }
            // Also report unreadable files: otherwise an operator who replaced them would believe that they are in use.
            let now = certificates.fingerprint
            let isNew = fingerprint.withLock { known in
                defer { known = now }
                return known != now
            }
            guard isNew else { return }
            do throws(PushError) {
                try certificates.reload(identity)
                log.notice("the certificate was reloaded")
            } catch {
                log.error("the previous certificate stays in use: \(error.message)")
            }
        }
        Signals.watch(SIGHUP, reload)
        var warned: String?
        var warnedOf: Set<String> = []
        while !Task.isCancelled {
            await server.maintenance.run()
            await server.database.check()
            await server.credentials.reload()
            warnedOf = server.credentials.warn(known: warnedOf)
            let check = try? await blocking { () throws(PushError) in
                reload()
                return identity.map { _ in CertificateCheck(settings: server.settings).check(now: clock.now) }
            }
            // Warn of problems before clients reject the certificate.
            if let check = check ?? nil, !check.isWell, check.finding != warned {
                log.warning("the certificate: \(check.finding)\(check.hint.map { "; \($0)" } ?? "")")
                warned = check.finding
            }
            try? await clock.sleep(until: clock.now + maintenanceInterval)
        }
    }

    private func refusal(_ error: any Error) -> PushError {
        if let error = error as? PushError { return error }
        return PushError("serve.failed", "the server failed: \(error)", hint: "see the log lines before this one")
    }
}

/// Counts the signals that ask the server to end.
private final class ShutdownSignals: Sendable {
    private let count = Mutex(0)

    var happened: Bool { count.withLock { $0 > 0 } }

    /// Records a signal. Returns `false` for the first one.
    func again() -> Bool {
        count.withLock { count in
            count += 1
            return count > 1
        }
    }
}

import HTTPTypes
import NIOCore

/// One connection to the simulators' TLS port: routes requests, limits streams, injects connection faults, and records responses in the
/// ledger.
final class SiteConnection: ConnectionResponder {
    private let responder: SimulatorResponder
    private let faults: ConnectionFaults
    private let selection: ServiceSelection
    private var sender = APNsSender()
    private var accounts: [APNsEnvironment: APNsSimulatorConnection] = [:]
    /// Services requested on this connection, and whether it is to be reset at the next request.
    private var visited: [PhonePlatform: Bool] = [:]
    private var isOpen = false
    /// A request was accepted whose response ends the connection; later requests are ignored.
    private var isBreaking = false
    private var goesAway = false

    private static let largestBody = HTTP2Limits().largestBody
    /// Maximum number of concurrent streams for FCM and Web Push.
    private static let streams: UInt32 = 100

    init(_ responder: SimulatorResponder, serving selection: ServiceSelection) {
        self.responder = responder
        self.selection = selection
        faults = responder.controlPlane.connections
    }

    /// If APNs is one of several services, its stream limit applies from the first request to it.
    func open(_ connection: any ServerConnection, certificate: [UInt8]?) -> UInt32 {
        isOpen = true
        faults.connect()
        let authority = responder.site.credentials.apnsAuthority.publicKey
        sender.certificate = certificate.map { APNsPushCertificate(der: $0, authority: authority) }
        guard selection.platforms == [.apns] else { return Self.streams }
        return sender.certificate == nil ? selection.apns.firstStreams : selection.apns.streams
    }

    func closed(_ connection: any ServerConnection) {
        if isOpen { faults.disconnect() }
        isOpen = false
    }

    func end(_ connection: any ServerConnection) {
        guard let goAwayData = goAwayData("Shutdown") else { return }
        connection.goAway(debugData: goAwayData)
    }

    /// The debug data of GOAWAY, as JSON; `nil` if it was sent before.
    private func goAwayData(_ reason: String) -> [UInt8]? {
        guard !goesAway else { return nil }
        goesAway = true
        return JSONValue(members: ["reason": .string(reason)]).bytes
    }

    // MARK: - Requests

    /// A request in progress.
    private struct Exchange {
        var request: HTTPRequest
        var body: [UInt8]
        var stream: Int32
        var platform: PhonePlatform
        /// Set for APNs.
        var environment: APNsEnvironment?
        var faults: ConnectionFaults.RequestFaults
    }

    func handle(_ request: HTTPRequest, body: [UInt8], stream: Int32, on connection: any ServerConnection) {
        guard !isBreaking else { return }
        let platform: PhonePlatform
        var environment: APNsEnvironment?
        switch selection.destination(of: request, in: responder.site) {
        case .apns(let known):
            guard connection.isMultiplexed else {
                let refusal = ControlRefusal.version.answer
                return connection.respond(to: stream, refusal.response, body: refusal.body, goAwayData: [])
            }
            (platform, environment) = (.apns, known)
        case .service(let known): platform = known
        case .controlPlane, .nobody:
            let answer = otherAnswer(to: request, body: body)
            return connection.respond(to: stream, answer.response, body: answer.body, goAwayData: nil)
        }
        let isToBeReset = visited[platform] ?? faults.firstRequest(to: platform)
        visited[platform] = isToBeReset
        guard !isToBeReset else {
            isBreaking = true
            return connection.resetConnection()
        }
        let exchange = Exchange(
            request: request, body: body, stream: stream, platform: platform, environment: environment,
            faults: faults.request(to: platform))
        guard exchange.faults.latency > 0, let loop = connection.eventLoop else { return take(exchange, on: connection) }
        _ = loop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(exchange.faults.latency))) {
            // Requests that are delayed beyond the end of the connection are dropped.
            guard self.isOpen, !self.isBreaking else { return }
            self.take(exchange, on: connection)
        }
    }

    /// Answers from the control plane on names of this machine, otherwise with an error.
    private func otherAnswer(to request: HTTPRequest, body: [UInt8]) -> Answer {
        // The body was cut off at the limit.
        if body.count > Self.largestBody { return ControlRefusal.size(Self.largestBody).answer }
        if responder.site.isOwn(request.host) { return responder.controlPlane.handle(request, body: body) }
        let hosts = PhonePlatform.allCases.filter { selection.platforms.contains($0) }.flatMap { responder.site.hosts(of: $0) }
        return ControlRefusal.host(request.host, hosts: hosts).answer
    }

    private func take(_ exchange: Exchange, on connection: any ServerConnection) {
        if exchange.faults.resetsConnection { isBreaking = true }
        let (site, ledger) = (responder.site, responder.ledger)
        let service: any RefusingService = exchange.environment.map { site[$0] } ?? site[exchange.platform]
        var isAuthenticated = false
        let answer: Answer
        if let environment = exchange.environment {
            (answer, isAuthenticated) = account(environment).respond(to: exchange.request, body: exchange.body)
        } else {
            answer = service.respond(to: exchange.request, body: exchange.body)
        }
        let summary = service.summary(of: exchange.request, body: exchange.body, answer: answer.response, answerBody: answer.body)
        guard let summary, let loop = connection.eventLoop else {
            return give(answer, to: exchange, isAuthenticated: isAuthenticated, reason: nil, on: connection)
        }
        let here = NIOLoopBound((self, connection, exchange), eventLoop: loop)
        let isAwaited = ledger.isWrittenDown
        ledger.record(
            summary, service: exchange.platform, status: answer.response.status.code, payload: exchange.body, time: site.clock.now()
        ) { [isAuthenticated] in
            guard isAwaited else { return }
            loop.execute {
                let (responder, connection, exchange) = here.value
                responder.give(answer, to: exchange, isAuthenticated: isAuthenticated, reason: summary.reason, on: connection)
            }
        }
        if !isAwaited { give(answer, to: exchange, isAuthenticated: isAuthenticated, reason: summary.reason, on: connection) }
    }

    private func account(_ environment: APNsEnvironment) -> APNsSimulatorConnection {
        if let known = accounts[environment] { return known }
        let made = APNsSimulatorConnection(simulator: responder.site[environment], sender: sender)
        accounts[environment] = made
        return made
    }

    /// - Parameters:
    ///   - isAuthenticated: Whether the sender is authenticated.
    ///   - reason: The reason of a rejection.
    private func give(
        _ answer: Answer, to exchange: Exchange, isAuthenticated: Bool, reason: String?, on connection: any ServerConnection
    ) {
        if exchange.faults.resetsConnection { return connection.resetConnection() }
        if exchange.platform == .apns { adjustStreams(after: answer, isAuthenticated: isAuthenticated, on: connection) }
        var goAwayData = exchange.faults.goesAway ? goAwayData("Shutdown") : nil
        // For these reasons APNs closes the connection as well.
        let last: [APNsReason] = [.badCertificate, .idleTimeout, .shutdown]
        if exchange.platform == .apns, goAwayData == nil, let reason, last.contains(where: { $0.rawValue == reason }) {
            goAwayData = self.goAwayData(reason)
        }
        if !exchange.faults.isStalled {
            connection.respond(to: exchange.stream, answer.response, body: answer.body, goAwayData: goAwayData)
        } else if let goAwayData {
            connection.goAway(debugData: goAwayData)
        }
    }

    private func adjustStreams(after answer: Answer, isAuthenticated: Bool, on connection: any ServerConnection) {
        let settings = selection.apns
        if answer.response.status.kind == .successful {
            connection.setStreamLimit(settings.streams)
        } else if settings.dropsAfterRejection {
            connection.setStreamLimit(settings.firstStreams)
        } else if isAuthenticated {
            connection.setStreamLimit(settings.streams)
        }
    }
}

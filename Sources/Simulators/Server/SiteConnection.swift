import HTTPTypes
import NIOCore

/// One connection to the simulators' port of TLS: whom a request is for, the limit of open requests, the faults of the wire, and the
/// ledger around the answers.
final class SiteConnection: ConnectionResponder {
    private let responder: SimulatorResponder
    private let faults: ConnectionFaults
    private let selection: ServiceSelection
    private var sender = APNsSender()
    private var accounts: [APNsEnvironment: APNsSimulatorConnection] = [:]
    /// Services that this connection has brought requests, and whether it is to break off at the next.
    private var visited: [PhonePlatform: Bool] = [:]
    private var isOpen = false
    /// A request was taken whose answer is to be the end of the connection: those behind it never arrive.
    private var isBreaking = false
    private var goesAway = false

    private static let largestBody = HTTP2Limits().largestBody
    /// How many requests FCM and Web Push let a client have open.
    private static let streams: UInt32 = 100

    init(_ responder: SimulatorResponder, serving selection: ServiceSelection) {
        self.responder = responder
        self.selection = selection
        faults = responder.controlPlane.connections
    }

    /// Where APNs is one of several, a connection is APNs' own from its first request to it on.
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
        guard let farewell = farewell("Shutdown") else { return }
        connection.goAway(debugData: farewell)
    }

    /// The reason of GOAWAY as JSON, once.
    private func farewell(_ reason: String) -> [UInt8]? {
        guard !goesAway else { return nil }
        goesAway = true
        return JSONValue(members: ["reason": .string(reason)]).bytes
    }

    // MARK: - Requests

    /// A request on its way through a service.
    private struct Exchange {
        var request: HTTPRequest
        var body: [UInt8]
        var stream: Int32
        var platform: PhonePlatform
        /// Of APNs.
        var environment: APNsEnvironment?
        var fate: ConnectionFaults.Fate
    }

    func handle(_ request: HTTPRequest, body: [UInt8], stream: Int32, on connection: any ServerConnection) {
        guard !isBreaking else { return }
        let platform: PhonePlatform
        var environment: APNsEnvironment?
        switch selection.destination(of: request, in: responder.site) {
        case .apns(let known):
            guard connection.isMultiplexed else {
                let refusal = ControlRefusal.version.answer
                return connection.respond(to: stream, refusal.response, body: refusal.body, farewell: [])
            }
            (platform, environment) = (.apns, known)
        case .service(let known): platform = known
        case .controlPlane, .nobody:
            let answer = otherAnswer(to: request, body: body)
            return connection.respond(to: stream, answer.response, body: answer.body, farewell: nil)
        }
        let isDoomed = visited[platform] ?? faults.firstRequest(to: platform)
        visited[platform] = isDoomed
        guard !isDoomed else {
            isBreaking = true
            return connection.breakOff()
        }
        let exchange = Exchange(
            request: request, body: body, stream: stream, platform: platform, environment: environment, fate: faults.request(to: platform))
        guard exchange.fate.latency > 0, let loop = connection.eventLoop else { return take(exchange, on: connection) }
        _ = loop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(exchange.fate.latency))) {
            // What has not arrived when the connection ends never does.
            guard self.isOpen, !self.isBreaking else { return }
            self.take(exchange, on: connection)
        }
    }

    /// The control plane, on this machine's names, or a refusal.
    private func otherAnswer(to request: HTTPRequest, body: [UInt8]) -> Answer {
        // A body of which more was to come.
        if body.count > Self.largestBody { return ControlRefusal.size(Self.largestBody).answer }
        if responder.site.isOwn(request.host) { return responder.controlPlane.handle(request, body: body) }
        let hosts = PhonePlatform.allCases.filter { selection.platforms.contains($0) }.flatMap { responder.site.hosts(of: $0) }
        return ControlRefusal.host(request.host, hosts: hosts).answer
    }

    private func take(_ exchange: Exchange, on connection: any ServerConnection) {
        if exchange.fate.breaksOff { isBreaking = true }
        let (site, ledger) = (responder.site, responder.ledger)
        let service: any RefusingService = exchange.environment.map { site[$0] } ?? site[exchange.platform]
        var isProven = false
        let answer: Answer
        if let environment = exchange.environment {
            (answer, isProven) = account(environment).respond(to: exchange.request, body: exchange.body)
        } else {
            answer = service.respond(to: exchange.request, body: exchange.body)
        }
        let summary = service.summary(of: exchange.request, body: exchange.body, answer: answer.response, answerBody: answer.body)
        guard let summary, let loop = connection.eventLoop else {
            return give(answer, to: exchange, isProven: isProven, reason: nil, on: connection)
        }
        let here = NIOLoopBound((self, connection, exchange), eventLoop: loop)
        let isAwaited = ledger.isWrittenDown
        ledger.record(
            summary, service: exchange.platform, status: answer.response.status.code, payload: exchange.body, time: site.clock.now()
        ) { [isProven] in
            guard isAwaited else { return }
            loop.execute {
                let (responder, connection, exchange) = here.value
                responder.give(answer, to: exchange, isProven: isProven, reason: summary.reason, on: connection)
            }
        }
        if !isAwaited { give(answer, to: exchange, isProven: isProven, reason: summary.reason, on: connection) }
    }

    private func account(_ environment: APNsEnvironment) -> APNsSimulatorConnection {
        if let known = accounts[environment] { return known }
        let made = APNsSimulatorConnection(simulator: responder.site[environment], sender: sender)
        accounts[environment] = made
        return made
    }

    /// - Parameters:
    ///   - isProven: Whether APNs knows who sent it.
    ///   - reason: Of a refusal.
    private func give(
        _ answer: Answer, to exchange: Exchange, isProven: Bool, reason: String?, on connection: any ServerConnection
    ) {
        if exchange.fate.breaksOff { return connection.breakOff() }
        if exchange.platform == .apns { adjustStreams(after: answer, isProven: isProven, on: connection) }
        var farewell = exchange.fate.goesAway ? farewell("Shutdown") : nil
        // With these APNs ends the connection as well.
        let last: [APNsReason] = [.badCertificate, .idleTimeout, .shutdown]
        if exchange.platform == .apns, farewell == nil, let reason, last.contains(where: { $0.rawValue == reason }) {
            farewell = self.farewell(reason)
        }
        if !exchange.fate.isStalled {
            connection.respond(to: exchange.stream, answer.response, body: answer.body, farewell: farewell)
        } else if let farewell {
            connection.goAway(debugData: farewell)
        }
    }

    private func adjustStreams(after answer: Answer, isProven: Bool, on connection: any ServerConnection) {
        let settings = selection.apns
        if answer.response.status.kind == .successful {
            connection.setStreamLimit(settings.streams)
        } else if settings.dropsAfterRejection {
            connection.setStreamLimit(settings.firstStreams)
        } else if isProven {
            connection.setStreamLimit(settings.streams)
        }
    }
}

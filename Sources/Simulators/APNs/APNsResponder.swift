import HTTPTypes
import NIOCore

/// One connection to APNs over HTTP/2: the limit of open requests, the faults of the wire, and the ledger around the answers.
final class APNsResponder: HTTP2Responder {
    private let responder: SimulatorResponder
    private let faults: ConnectionFaults
    private let settings: APNsHTTP2Settings
    private var sender = APNsSender()
    private var connections: [APNsEnvironment: APNsSimulatorConnection] = [:]
    private var isDoomed = false
    private var isOpen = false
    private var goesAway = false

    private static let largestBody = HTTP2Limits().largestBody
    private static let machine: Set<String> = ["127.0.0.1", "localhost", "[::1]", ""]

    init(_ responder: SimulatorResponder, settings: APNsHTTP2Settings) {
        self.responder = responder
        self.settings = settings
        faults = responder.controlPlane.connections
    }

    func open(_ connection: HTTP2ServerHandler, certificate: [UInt8]?) -> UInt32 {
        isOpen = true
        isDoomed = faults.connect()
        let authority = responder.site.credentials.apnsAuthority.publicKey
        sender.certificate = certificate.map { APNsPushCertificate(der: $0, authority: authority) }
        return sender.certificate == nil ? settings.firstStreams : settings.streams
    }

    func closed(_ connection: HTTP2ServerHandler) {
        if isOpen { faults.disconnect() }
        isOpen = false
    }

    func end(_ connection: HTTP2ServerHandler) { sayGoodbye("Shutdown", connection) }

    /// GOAWAY with the reason as JSON, once; after the answer to a request, where there is one.
    private func sayGoodbye(_ reason: String, after stream: Int32? = nil, _ connection: HTTP2ServerHandler) {
        guard !goesAway else { return }
        goesAway = true
        let text = JSONValue(members: ["reason": .string(reason)]).bytes
        if let stream { connection.goAway(after: stream, debugData: text) } else { connection.goAway(debugData: text) }
    }

    // MARK: - Requests

    func handle(_ request: HTTPRequest, body: [UInt8], stream: Int32, on connection: HTTP2ServerHandler) {
        guard let environment = environment(of: request) else {
            let answer = otherAnswer(to: request, body: body)
            return connection.respond(to: stream, answer.response, body: answer.body)
        }
        guard !isDoomed else { return connection.breakOff() }
        let fate = faults.request()
        guard fate.latency > 0, let loop = connection.eventLoop else {
            return take(request, body: body, stream: stream, environment, fate, on: connection)
        }
        _ = loop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(fate.latency))) {
            // What has not arrived when the connection ends never does.
            guard self.isOpen else { return }
            self.take(request, body: body, stream: stream, environment, fate, on: connection)
        }
    }

    /// Which world of APNs a request is for; nil for one that is not for APNs.
    private func environment(of request: HTTPRequest) -> APNsEnvironment? {
        let host = request.host
        if let known = [APNsEnvironment.production, .development].first(where: { responder.site[$0].answers(for: host) }) { return known }
        return Self.machine.contains(host) && !ControlPlane.has(request.path ?? "") ? settings.environment : nil
    }

    /// The control plane, on this machine's names, or a refusal.
    private func otherAnswer(to request: HTTPRequest, body: [UInt8]) -> Answer {
        // A body of which more was to come.
        if body.count > Self.largestBody { return ControlRefusal.size(Self.largestBody).answer }
        if Self.machine.contains(request.host) { return responder.controlPlane.handle(request, body: body) }
        return ControlRefusal.host(request.host, hosts: responder.site.hosts(of: .apns)).answer
    }

    private func take(
        _ request: HTTPRequest, body: [UInt8], stream: Int32, _ environment: APNsEnvironment, _ fate: ConnectionFaults.Fate,
        on connection: HTTP2ServerHandler
    ) {
        let service = responder.site[environment]
        let (answer, isProven) = account(environment, service).respond(to: request, body: body)
        let summary = service.summary(of: request, body: body, answer: answer.response, answerBody: answer.body)
        guard let summary, let loop = connection.eventLoop else {
            return give(answer, isProven: isProven, summary: nil, stream: stream, fate, on: connection)
        }
        let ledger = responder.ledger
        guard ledger.isWrittenDown else {
            ledger.record(
                summary, service: .apns, status: answer.response.status.code, payload: body, time: responder.site.clock.now()
            ) {}
            return give(answer, isProven: isProven, summary: summary, stream: stream, fate, on: connection)
        }
        let here = NIOLoopBound((self, connection), eventLoop: loop)
        ledger.record(summary, service: .apns, status: answer.response.status.code, payload: body, time: responder.site.clock.now()) {
            loop.execute {
                here.value.0.give(answer, isProven: isProven, summary: summary, stream: stream, fate, on: here.value.1)
            }
        }
    }

    private func account(_ environment: APNsEnvironment, _ service: APNsSimulator) -> APNsSimulatorConnection {
        if let known = connections[environment] { return known }
        let made = APNsSimulatorConnection(simulator: service, sender: sender)
        connections[environment] = made
        return made
    }

    private func give(
        _ answer: Answer, isProven: Bool, summary: NotificationSummary?, stream: Int32, _ fate: ConnectionFaults.Fate,
        on connection: HTTP2ServerHandler
    ) {
        if fate.breaksOff { return connection.breakOff() }
        if answer.response.status.kind == .successful {
            connection.setStreamLimit(settings.streams)
        } else if settings.dropsAfterRejection {
            connection.setStreamLimit(settings.firstStreams)
        } else if isProven {
            connection.setStreamLimit(settings.streams)
        }
        if !fate.isStalled { connection.respond(to: stream, answer.response, body: answer.body) }
        if fate.goesAway { sayGoodbye("Shutdown", after: stream, connection) }
        // With these the real one ends the connection as well.
        let last: [APNsReason] = [.badCertificate, .idleTimeout, .shutdown]
        if let reason = summary?.reason, last.contains(where: { $0.rawValue == reason }) { sayGoodbye(reason, after: stream, connection) }
    }
}

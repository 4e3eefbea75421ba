import Crypto
import HTTPTypes
import Simulators

/// A team, a phone, and a request that APNs accepts; tests change one thing.
final class APNsBench: Sendable {
    static let topic = "com.example.news"

    let time = ManualTime()
    let log = EventLog()
    let key = P256.Signing.PrivateKey()
    let lab: PhoneLab
    let simulator: APNsSimulator
    let phone: PhoneID
    /// The provider token of the valid request, reused like a good sender does.
    let standing: String

    init(environment: APNsEnvironment = .production) {
        lab = PhoneLab(clock: time.clock, random: time.random, observer: PhoneObserver(event: log.add))
        simulator = APNsSimulator(
            lab: lab, clock: time.clock, random: time.random,
            settings: APNsSimulatorSettings(
                teamID: "TEAM123456", keys: ["KEY1234567": .init(publicKey: key.publicKey)], topics: [Self.topic],
                environment: environment))
        phone = lab.addPhone(
            PhoneDescription(name: "alice", platform: .apns, app: PhoneApp(Self.topic, environment: environment)))
        let claims = #"{"iss":"TEAM123456","iat":\#(time.seconds)}"#
        standing =
            (try? TokenText.es256(header: #"{"alg":"ES256","kid":"KEY1234567"}"#, claims: claims, key: key)) ?? ""
    }

    func token(
        header: String = #"{"alg":"ES256","kid":"KEY1234567"}"#, team: String = "TEAM123456", issuedAt: Int64? = nil,
        key: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        try TokenText.es256(
            header: header, claims: #"{"iss":"\#(team)","iat":\#(issuedAt ?? time.seconds)}"#, key: key ?? self.key)
    }

    func request() -> HTTPRequest {
        HTTPRequest(
            host: "api.push.apple.com", path: "/3/device/\(lab.pushHandle(of: phone) ?? "")",
            [
                ("authorization", "bearer \(standing)"), ("apns-topic", Self.topic), ("apns-push-type", "alert"),
                ("apns-id", "123e4567-e89b-12d3-a456-4266554400a0"),
            ])
    }

    /// Sends the valid request with a change.
    func send(
        _ body: String = #"{"aps":{"alert":"Hello"}}"#, change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> Reply {
        var request = request()
        try change(&request)
        return Reply(await simulator.handle(request, body: Array(body.utf8)))
    }

    /// The status and the reason, such as `400 BadTopic`; `200` when accepted.
    func verdict(
        _ body: String = #"{"aps":{"alert":"Hello"}}"#, change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> String {
        let reply = try await send(body, change: change)
        return reply.member("reason").map { "\(reply.status) \($0)" } ?? String(reply.status)
    }
}

import Delivery
import PushModel
import Testing

@Suite("Verdicts for answers of APNs")
struct APNsVerdictTests {
    private func verdict(_ steps: ScriptedTransport.Step...) async throws -> Verdict? {
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: ScriptedTransport(steps), clock: VirtualClock(now: Accounts.start))
        return await connector.deliver(.apns()).first
    }

    private struct Row: Sendable, CustomTestStringConvertible {
        let reason: String
        let status: Int
        let outcome: OutcomeName
        var isInvalid = false
        var isTransient = false
        var testDescription: String { reason }
    }

    private static let rows: [Row] = [
        Row(reason: "BadCollapseId", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "BadDeviceToken", status: 400, outcome: .badChannel),
        Row(reason: "BadExpirationDate", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "BadMessageId", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "BadPriority", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "BadTopic", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "DeviceTokenNotForTopic", status: 400, outcome: .wrongToken),
        Row(reason: "DuplicateHeaders", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "IdleTimeout", status: 400, outcome: .pnsUnavailable, isTransient: true),
        Row(reason: "InvalidPushType", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "MissingDeviceToken", status: 400, outcome: .badChannel),
        Row(reason: "MissingTopic", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "PayloadEmpty", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "TopicDisallowed", status: 400, outcome: .invalidCredentials),
        Row(reason: "BadCertificate", status: 403, outcome: .invalidCredentials),
        Row(reason: "BadCertificateEnvironment", status: 403, outcome: .invalidCredentials),
        Row(reason: "BadEnvironmentKeyIdInToken", status: 403, outcome: .invalidCredentials),
        Row(reason: "ExpiredProviderToken", status: 403, outcome: .invalidCredentials),
        Row(reason: "Forbidden", status: 403, outcome: .invalidCredentials),
        Row(reason: "InvalidProviderToken", status: 403, outcome: .invalidCredentials),
        Row(reason: "MissingProviderToken", status: 403, outcome: .invalidCredentials),
        Row(reason: "UnrelatedKeyIdInToken", status: 403, outcome: .invalidCredentials),
        Row(reason: "BadPath", status: 404, outcome: .pnsInterfaceError),
        Row(reason: "MethodNotAllowed", status: 405, outcome: .pnsInterfaceError),
        Row(reason: "ExpiredToken", status: 410, outcome: .expiredChannel, isInvalid: true),
        Row(reason: "Unregistered", status: 410, outcome: .expiredChannel, isInvalid: true),
        Row(reason: "PayloadTooLarge", status: 413, outcome: .invalidNotificationSize),
        Row(reason: "TooManyProviderTokenUpdates", status: 429, outcome: .throttled, isTransient: true),
        Row(reason: "TooManyRequests", status: 429, outcome: .throttled, isTransient: true),
        Row(reason: "InternalServerError", status: 500, outcome: .pnsServerError, isTransient: true),
        Row(reason: "ServiceUnavailable", status: 503, outcome: .pnsUnavailable, isTransient: true),
        Row(reason: "Shutdown", status: 503, outcome: .pnsUnavailable, isTransient: true),
        Row(reason: "MissingChannelId", status: 400, outcome: .badChannel),
        Row(reason: "BadChannelId", status: 400, outcome: .badChannel),
        Row(reason: "ChannelNotRegistered", status: 400, outcome: .badChannel),
        Row(reason: "MissingPushType", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "CannotCreateChannelConfig", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "BadRequestParams", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "BadRequestPayload", status: 400, outcome: .pnsInterfaceError),
        Row(reason: "FeatureNotEnabled", status: 403, outcome: .invalidCredentials),
        Row(reason: "TopicMismatch", status: 403, outcome: .invalidCredentials),
        Row(reason: "BadEnvironmentKeyInToken", status: 403, outcome: .invalidCredentials),
    ]

    @Test("The table has a row for every documented reason, and nothing else")
    func completeTable() {
        #expect(Set(Self.rows.map(\.reason)) == Set(APNsReason.allCases.map(\.rawValue)))
        for row in Self.rows { #expect(APNsReason(rawValue: row.reason)?.status == row.status) }
    }

    @Test("Every documented reason has its verdict", arguments: rows)
    private func documentedReason(_ row: Row) async throws {
        let verdict = try #require(
            await verdict(.answer(row.status, [:], #"{"reason":"\#(row.reason)","timestamp":1767500000123}"#)))
        let rejection = try #require(verdict.rejection)
        #expect(verdict.isTransient == row.isTransient)
        #expect(rejection.status == row.status)
        #expect(rejection.reason == row.reason)
        #expect(rejection.outcome == row.outcome)
        #expect(rejection.isHandleInvalid == row.isInvalid)
        #expect(rejection.invalidSince == (row.isInvalid ? Timestamp(milliseconds: 1_767_500_000_123) : nil))
        #expect(!rejection.explanation.isEmpty)
    }

    @Test("200 is accepted under the id that APNs echoes")
    func accepted() async throws {
        let id = "6d7aa6a5-8a6e-4b1c-9d51-0a0b0c0d0e0f"
        #expect(try await verdict(.answer(200, ["apns-id": id])) == .accepted(id: id))
    }

    @Test("200 without an id is accepted under the id that was sent")
    func acceptedWithoutEcho() async throws {
        let transport = ScriptedTransport([.answer(200)])
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: VirtualClock(now: Accounts.start))
        let verdict = await connector.deliver(.apns()).first
        #expect(verdict == .accepted(id: try #require(transport.pushes.first?.header("apns-id"))))
    }

    @Test(
        "Retry-After is honoured, in seconds and as a date",
        arguments: [
            ("120", Duration.seconds(120)), ("Mon, 05 Jan 2026 08:01:00 GMT", .seconds(60)),
        ])
    func retryAfter(text: String, wait: Duration) async throws {
        let step = ScriptedTransport.Step.answer(503, ["Retry-After": text], #"{"reason":"ServiceUnavailable"}"#)
        #expect(try await verdict(step)?.retryAfter == wait)
    }

    @Test("TooManyProviderTokenUpdates delays the retry by twenty minutes")
    func tokenUpdates() async throws {
        let step = ScriptedTransport.Step.answer(429, [:], #"{"reason":"TooManyProviderTokenUpdates"}"#)
        #expect(try await verdict(step)?.retryAfter == .seconds(1200))
    }

    @Test("TooManyProviderTokenUpdates is the only reason that blocks the credential for every device", arguments: APNsReason.allCases)
    func blocks(reason: APNsReason) async throws {
        let step = ScriptedTransport.Step.answer(reason.status, [:], #"{"reason":"\#(reason.rawValue)"}"#)
        #expect(try await verdict(step)?.rejection?.isCredentialBlocked == (reason == .tooManyProviderTokenUpdates))
    }

    @Test(
        "An unknown reason is passed on as text, and the status determines the verdict",
        arguments: [
            (400, false, false), (403, false, false), (410, false, true), (429, true, false), (500, true, false),
            (502, true, false),
        ])
    func newReason(status: Int, isTransient: Bool, isInvalid: Bool) async throws {
        let verdict = try #require(await verdict(.answer(status, [:], #"{"reason":"QuantumFlux"}"#)))
        #expect(verdict.rejection?.reason == "QuantumFlux")
        #expect(verdict.isTransient == isTransient)
        #expect(verdict.rejection?.isHandleInvalid == isInvalid)
    }

    @Test(
        "Malicious answers do no harm",
        arguments: [
            "", "not json", "[]", "{", #"{"reason":7}"#, #"{"reason":null,"timestamp":"soon"}"#, "\u{0}\u{1}",
            #"{"reason":"\#(String(repeating: "A", count: 5000))"}"#, String(repeating: "[", count: 60_000),
        ])
    func hostileAnswer(text: String) async throws {
        let rejection = try #require(await verdict(.answer(400, [:], text))?.rejection)
        #expect(rejection.status == 400)
        #expect(!rejection.isHandleInvalid)
        #expect(rejection.reason.count <= 201)
    }

    @Test("An answer of a megabyte is not read as a reason")
    func hugeAnswer() async throws {
        let body =
            Array(#"{"reason":"Unregistered","x":""#.utf8) + Array(repeating: 0x41, count: 1 << 20) + Array("\"}".utf8)
        #expect(try await verdict(.bytes(400, body))?.rejection?.reason == "HTTP 400")
    }

    @Test("A timestamp out of range is omitted")
    func absurdTimestamp() async throws {
        let step = ScriptedTransport.Step.answer(410, [:], #"{"reason":"Unregistered","timestamp":-1}"#)
        let rejection = try #require(await verdict(step)?.rejection)
        #expect(rejection.isHandleInvalid)
        #expect(rejection.invalidSince == nil)
    }
}

import Delivery
import PushModel
import Testing

@Suite("Verdicts for answers of WNS")
struct WNSVerdictTests {
    private func verdict(_ steps: ScriptedTransport.Step...) async throws -> Verdict? {
        let connector = try WNSConnector(
            settings: Accounts.wns, transport: ScriptedTransport(steps), clock: VirtualClock(now: Accounts.start))
        return await connector.deliver(.wns()).first
    }

    private struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        var headers: [String: String] = [:]
        let reason: String
        let outcome: OutcomeName
        var isInvalid = false
        var isTransient = false
        var testDescription: String { "\(status) \(reason)" }
    }

    private static let rows: [Row] = [
        Row(status: 200, headers: ["X-WNS-Status": "dropped"], reason: "dropped", outcome: .dropped),
        Row(status: 200, headers: ["X-WNS-NotificationStatus": "Dropped"], reason: "dropped", outcome: .dropped),
        Row(
            status: 200, headers: ["X-WNS-Status": "dropped", "X-WNS-DeviceConnectionStatus": "disconnected"],
            reason: "disconnected", outcome: .channelDisconnected),
        Row(
            status: 200, headers: ["X-WNS-Status": "channelthrottled"], reason: "channelthrottled",
            outcome: .channelThrottled, isTransient: true),
        Row(status: 400, reason: "BadRequest", outcome: .pnsInterfaceError),
        Row(status: 401, reason: "Unauthorized", outcome: .invalidCredentials),
        Row(status: 403, reason: "Forbidden", outcome: .wrongToken),
        Row(status: 404, reason: "ChannelNotFound", outcome: .badChannel, isInvalid: true),
        Row(status: 405, reason: "MethodNotAllowed", outcome: .pnsInterfaceError),
        Row(status: 406, reason: "Throttled", outcome: .throttled, isTransient: true),
        Row(status: 410, reason: "ChannelExpired", outcome: .expiredChannel, isInvalid: true),
        Row(
            status: 410, headers: ["X-WNS-Error-Description": "The cloud service domain is blocked"],
            reason: "DomainBlocked", outcome: .invalidCredentials),
        Row(status: 413, reason: "PayloadTooLarge", outcome: .invalidNotificationSize),
        Row(status: 500, reason: "InternalServerError", outcome: .pnsServerError, isTransient: true),
        Row(status: 503, reason: "ServiceUnavailable", outcome: .pnsUnavailable, isTransient: true),
        Row(status: 302, reason: "HTTP 302", outcome: .unknownError),
        Row(status: 418, reason: "HTTP 418", outcome: .unknownError),
        Row(status: 429, reason: "HTTP 429", outcome: .throttled, isTransient: true),
        Row(status: 502, reason: "HTTP 502", outcome: .pnsServerError, isTransient: true),
    ]

    @Test("Every status has its verdict", arguments: rows)
    private func table(_ row: Row) async throws {
        let step = ScriptedTransport.Step.answer(row.status, row.headers)
        let verdict = try #require(await verdict(step, step))
        let rejection = try #require(verdict.rejection)
        #expect(rejection.status == row.status)
        #expect(rejection.reason == row.reason)
        #expect(rejection.outcome == row.outcome)
        #expect(rejection.isHandleInvalid == row.isInvalid)
        #expect(verdict.isTransient == row.isTransient)
        #expect(!rejection.explanation.isEmpty)
    }

    @Test("Every reason is in the table")
    func completeTable() {
        for reason in WNSReason.allCases {
            #expect(Self.rows.contains { $0.reason == reason.rawValue && $0.status == reason.status })
        }
    }

    @Test("The status received is accepted under the message's id")
    func accepted() async throws {
        let step = ScriptedTransport.Step.answer(200, ["X-WNS-Status": "received", "X-WNS-Msg-ID": "3E1E8CC6"])
        #expect(try await verdict(step) == .accepted(id: "3E1E8CC6"))
        #expect(try await verdict(.answer(200)) == .accepted(id: nil))
    }

    @Test("Retry-After is honoured for a throttled sender")
    func retryAfter() async throws {
        #expect(try await verdict(.answer(406, ["Retry-After": "30"]))?.retryAfter == .seconds(30))
    }

    @Test("The error description of WNS is passed on, as one line")
    func description() async throws {
        let text = String(repeating: "x", count: 3000)
        let explanation = try #require(
            await verdict(.answer(400, ["X-WNS-Error-Description": text]))?.rejection?.explanation)
        #expect(explanation.contains("xxx"))
        #expect(explanation.count < 400)
    }

    private func exchanges(_ steps: [ScriptedTransport.Step], width: Int) async throws -> (verdicts: [Verdict], pushes: Int) {
        let transport = ScriptedTransport(steps)
        let connector = try WNSConnector(
            settings: Accounts.wns, transport: transport, width: width, clock: VirtualClock(now: Accounts.start))
        let channels = (0..<steps.count).map { "https://db5.notify.windows.com/?token=\($0)" }
        return (await connector.deliver(.wns(channels: channels)), transport.pushes.count)
    }

    private static let silence = ScriptedTransport.Step.fail(.unknown("no answer came in time"))

    @Test("A batch without answers ends before each device times out")
    func silence() async throws {
        let (verdicts, pushes) = try await exchanges(Array(repeating: Self.silence, count: 500), width: 32)
        // Those beyond the first 33 were in flight when it was detected.
        #expect((33...64).contains(pushes))
        #expect(verdicts.count { $0 == .unknown(reason: "no answer came in time") } == pushes)
        #expect(verdicts.count { $0.isTransient && $0.rejection?.outcome == .pnsUnreachable } == 500 - pushes)
        #expect(verdicts.last?.rejection?.explanation.contains("no response to the previous") == true)
    }

    @Test("After any answer, a batch continues")
    func silences() async throws {
        let some = Array(repeating: Self.silence, count: 20)
        let (verdicts, pushes) = try await exchanges(some + [.answer(503)] + some + [.answer(200)] + some, width: 1)
        #expect(pushes == 62)
        #expect(verdicts.count { $0 == .accepted(id: nil) } == 1)
    }
}

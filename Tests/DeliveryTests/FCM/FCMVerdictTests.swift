import Delivery
import PushModel
import Testing

@Suite("Verdicts for answers of FCM")
struct FCMVerdictTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func verdict(_ steps: ScriptedTransport.Step...) async throws -> Verdict? {
        let connector = try FCMConnector(
            settings: Accounts.fcm, transport: ScriptedTransport(steps), clock: clock)
        return await connector.deliver(.fcm()).first
    }

    private static func error(
        _ code: Int, _ status: String, message: String = "", fcm: String? = nil, fields: [String] = []
    ) -> String {
        var details: [JSON] = []
        if let fcm {
            details.append(["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(fcm)])
        }
        if !fields.isEmpty {
            let violations = fields.map { JSON.object(["field": .string($0), "description": "Invalid value"]) }
            details.append(
                ["@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": .array(violations)])
        }
        let error: JSON = [
            "error": [
                "code": .integer(Int64(code)), "message": .string(message), "status": .string(status),
                "details": .array(details),
            ]
        ]
        return String(decoding: error.serialized(), as: UTF8.self)
    }

    private struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let code: String
        var fcm: String?
        var message = ""
        var fields: [String] = []
        let outcome: OutcomeName
        var isInvalid = false
        var wait: Wait = .final
        var testDescription: String { "\(status) \(code) \(fcm ?? "without FcmError") \(fields)" }

        enum Wait: Equatable { case final, open, seconds(Int) }
    }

    private static let rows: [Row] = [
        Row(status: 404, code: "NOT_FOUND", fcm: "UNREGISTERED", outcome: .expiredChannel, isInvalid: true),
        Row(status: 404, code: "NOT_FOUND", message: "Requested entity was not found.", outcome: .invalidCredentials),
        Row(
            status: 400, code: "INVALID_ARGUMENT", fcm: "INVALID_ARGUMENT",
            message: "The registration token is not a valid FCM registration token", outcome: .badChannel, isInvalid: true),
        Row(
            status: 400, code: "INVALID_ARGUMENT", fcm: "INVALID_ARGUMENT",
            message: "The registration token is not a valid FCM registration token", fields: ["message.token"],
            outcome: .badChannel, isInvalid: true),
        Row(
            status: 400, code: "INVALID_ARGUMENT",
            message: "The registration token is not a valid FCM registration token",
            outcome: .pnsInterfaceError),
        Row(
            status: 400, code: "INVALID_ARGUMENT", fcm: "INVALID_ARGUMENT",
            message: "Invalid value at 'message.data[0]'",
            fields: ["message.data[0].value"], outcome: .pnsInterfaceError),
        Row(
            status: 400, code: "INVALID_ARGUMENT", fcm: "INVALID_ARGUMENT",
            message: "Invalid registration token or ttl",
            fields: ["message.token", "message.android.ttl"], outcome: .pnsInterfaceError),
        Row(
            status: 400, code: "INVALID_ARGUMENT", message: "Unknown name", fields: ["message"],
            outcome: .pnsInterfaceError),
        Row(status: 403, code: "PERMISSION_DENIED", fcm: "SENDER_ID_MISMATCH", outcome: .wrongToken),
        Row(status: 403, code: "PERMISSION_DENIED", outcome: .invalidCredentials),
        Row(status: 429, code: "RESOURCE_EXHAUSTED", fcm: "QUOTA_EXCEEDED", outcome: .throttled, wait: .seconds(60)),
        Row(status: 429, code: "RESOURCE_EXHAUSTED", outcome: .throttled, wait: .seconds(60)),
        Row(status: 503, code: "UNAVAILABLE", fcm: "UNAVAILABLE", outcome: .pnsUnavailable, wait: .open),
        Row(status: 503, code: "UNAVAILABLE", outcome: .pnsUnavailable, wait: .open),
        Row(status: 500, code: "INTERNAL", fcm: "INTERNAL", outcome: .pnsServerError, wait: .open),
        Row(status: 500, code: "INTERNAL", outcome: .pnsServerError, wait: .open),
        Row(status: 401, code: "UNAUTHENTICATED", fcm: "THIRD_PARTY_AUTH_ERROR", outcome: .invalidCredentials),
        Row(status: 400, code: "UNKNOWN", fcm: "UNSPECIFIED_ERROR", outcome: .unknownError),
        Row(status: 400, code: "FAILED_PRECONDITION", fcm: "BRAND_NEW", outcome: .pnsInterfaceError),
    ]

    @Test("Every row of the error model has its verdict", arguments: rows)
    private func errorModel(_ row: Row) async throws {
        let text = Self.error(row.status, row.code, message: row.message, fcm: row.fcm, fields: row.fields)
        let verdict = try #require(await verdict(.answer(row.status, [:], text)))
        let rejection = try #require(verdict.rejection)
        #expect(rejection.status == row.status)
        #expect(rejection.reason == row.fcm ?? row.code)
        #expect(rejection.outcome == row.outcome)
        #expect(rejection.isHandleInvalid == row.isInvalid)
        #expect(!rejection.explanation.isEmpty)
        #expect(verdict.isTransient == (row.wait != .final))
        if case .seconds(let seconds) = row.wait { #expect(verdict.retryAfter == .seconds(seconds)) }
        for field in row.fields { #expect(rejection.explanation.contains(field)) }
    }

    @Test("Every error code of FCM is in the table")
    func completeTable() {
        for reason in FCMReason.allCases { #expect(Self.rows.contains { $0.fcm == reason.rawValue }) }
    }

    @Test("200 is accepted under the message's name")
    func accepted() async throws {
        let verdict = try await verdict(.answer(200, [:], #"{"name":"projects/demo-project/messages/0:17"}"#))
        #expect(verdict == .accepted(id: "projects/demo-project/messages/0:17"))
    }

    @Test("200 with an unexpected body is accepted too", arguments: ["", "ok", "[]", #"{"name":7}"#])
    func acceptedWithoutName(text: String) async throws {
        #expect(try await verdict(.answer(200, [:], text)) == .accepted(id: nil))
    }

    @Test(
        "Retry-After can extend the wait for quota; it is at least a minute",
        arguments: [
            ("10", 60), ("300", 300), ("soon", 60), ("-5", 60),
        ])
    func quota(header: String, seconds: Int) async throws {
        let text = Self.error(429, "RESOURCE_EXHAUSTED", fcm: "QUOTA_EXCEEDED")
        #expect(try await verdict(.answer(429, ["Retry-After": header], text))?.retryAfter == .seconds(seconds))
    }

    @Test("Retry-After is honoured for an unavailable service")
    func unavailable() async throws {
        let text = Self.error(503, "UNAVAILABLE", fcm: "UNAVAILABLE")
        #expect(try await verdict(.answer(503, ["Retry-After": "17"], text))?.retryAfter == .seconds(17))
    }

    @Test("The reason of APNs behind FCM is passed on")
    func apnsDetail() async throws {
        let text = #"""
            {"error":{"code":401,"status":"UNAUTHENTICATED","message":"Auth error from APNS or Web Push Service",
            "details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"THIRD_PARTY_AUTH_ERROR"},
            {"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":403,"reason":"InvalidProviderToken"}]}}
            """#
        let rejection = try #require(await verdict(.answer(401, [:], text))?.rejection)
        #expect(rejection.explanation.contains("APNs answered 403 InvalidProviderToken"))
    }

    @Test(
        "Malicious answers do no harm and remove no handle",
        arguments: [
            "", "<html>502</html>", "[]", #"{"error":"x"}"#, #"{"error":{"details":{"a":1}}}"#,
            #"{"error":{"details":[1,null,"x",{"@type":5}],"message":7,"status":[]}}"#, "\u{0}",
            #"{"error":{"status":"\#(String(repeating: "N", count: 9000))"}}"#,
            String(repeating: "{\"a\":", count: 10_000),
        ])
    func hostile(text: String) async throws {
        for status in [400, 404, 502] {
            let verdict = try #require(await verdict(.answer(status, [:], text)))
            #expect(verdict.rejection?.isHandleInvalid == false)
            #expect(verdict.isTransient == (status == 502))
            #expect((verdict.rejection?.reason.count ?? 0) <= 201)
        }
    }

    @Test("A megabyte of answer is not read")
    func huge() async throws {
        #expect(try await verdict(.bytes(404, Array(repeating: 0x20, count: 1 << 20)))?.rejection?.reason == "HTTP 404")
    }
}

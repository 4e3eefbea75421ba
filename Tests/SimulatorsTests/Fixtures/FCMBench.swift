import Crypto
import CryptoExtras
import HTTPTypes
import Simulators
import Testing

/// A project, a phone, and a message that FCM accepts; tests change one thing.
final class FCMBench: Sendable {
    static let email = "push@example-project.iam.gserviceaccount.com"
    static let sharedKey = try? _RSA.Signing.PrivateKey(keySize: .bits2048)
    static let otherKey = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    let time = ManualTime()
    let log = EventLog()
    let lab: PhoneLab
    let simulator: FCMSimulator
    let phone: PhoneID

    /// - Parameter adoptionLimit: nil for a lab that adopts no handles.
    init(adoptionLimit: Int? = nil, storageLimit: Int = .max) {
        lab = PhoneLab(
            clock: time.clock, random: time.random,
            adoption: adoptionLimit.map { HandleAdoption(limit: $0) } ?? .disabled, storageLimit: storageLimit,
            observer: PhoneObserver(event: log.add))
        simulator = FCMSimulator(
            lab: lab, clock: time.clock, random: time.random,
            settings: FCMSimulatorSettings(projectID: "example-project", clientEmail: Self.email))
        if let key = Self.sharedKey { simulator.trust(key: key.publicKey, kid: "key-1") }
        phone = lab.addPhone(PhoneDescription(name: "bob", platform: .fcm, app: PhoneApp("com.example.news")))
    }

    var handle: String { lab.pushHandle(of: phone) ?? "" }

    func assertion(
        issuer: String = email, kid: String = "key-1", audience: String = "https://oauth2.googleapis.com/token",
        scope: String = "https://www.googleapis.com/auth/firebase.messaging", issuedAt: Int64 = 0,
        lifetime: Int64 = 3600, key: _RSA.Signing.PrivateKey? = sharedKey
    ) throws -> String {
        let start = time.seconds + issuedAt
        let claims =
            #"{"iss":"\#(issuer)","aud":"\#(audience)","scope":"\#(scope)","iat":\#(start),"exp":\#(start + lifetime)}"#
        return try TokenText.rs256(
            header: #"{"alg":"RS256","typ":"JWT","kid":"\#(kid)"}"#, claims: claims, key: #require(key))
    }

    func grant(
        _ assertion: String, type: String = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer",
        contentType: String = "application/x-www-form-urlencoded"
    ) async -> Reply {
        let request = HTTPRequest(
            host: "oauth2.googleapis.com", path: "/token", [("content-type", contentType)])
        return Reply(
            await simulator.handle(request, body: Array("grant_type=\(type)&assertion=\(assertion)".utf8)))
    }

    func accessToken() async throws -> String {
        try #require(await grant(assertion()).member("access_token"))
    }

    /// Sends `fields` (JSON members) to the phone's token.
    func send(
        _ fields: String = #""notification":{"title":"News","body":"Hello"}"#, target: String? = nil,
        around: String = "", change: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> Reply {
        let target = target ?? #""token":"\#(handle)""#
        let members = [target, fields].filter { !$0.isEmpty }.joined(separator: ",")
        return try await send(body: #"{"message":{\#(members)}\#(around)}"#, change: change)
    }

    func send(body: String, change: (inout HTTPRequest) -> Void = { _ in }) async throws -> Reply {
        var request = HTTPRequest(
            host: "fcm.googleapis.com", path: "/v1/projects/example-project/messages:send",
            [("authorization", "Bearer \(try await accessToken())"), ("content-type", "application/json")])
        change(&request)
        return Reply(await simulator.handle(request, body: Array(body.utf8)))
    }
}

extension Reply {
    /// The kind of an FCM answer: `200`, or the status, the canonical code, and the kinds of its details.
    var kind: String {
        guard status != 200 else { return "200" }
        var parts = [String(status)]
        for code in ["INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED", "RESOURCE_EXHAUSTED"]
        where text.contains(#""status":"\#(code)""#) {
            parts.append(code)
        }
        if let code = text.split(separator: #""errorCode":""#).dropFirst().first?.split(separator: "\"").first {
            parts.append("fcm:\(code)")
        }
        if text.contains("google.rpc.BadRequest") { parts.append("field") }
        return parts.joined(separator: " ")
    }
}

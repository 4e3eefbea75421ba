import Crypto
import Foundation
import HTTPTypes
import Simulators
import Testing

/// A web app, its server's key, a browser, and a message that the service accepts; tests change one thing.
final class WebPushBench: Sendable {
    static let origin = "https://updates.push.services.mozilla.com"

    let time = ManualTime()
    let log = EventLog()
    let key = P256.Signing.PrivateKey()
    let lab: PhoneLab
    let simulator: WebPushSimulator
    let phone: PhoneID

    /// - Parameter adoptionLimit: nil for a lab that adopts no handles.
    init(random: SimulatorRandom? = nil, isRestricted: Bool = true, adoptionLimit: Int? = nil, storageLimit: Int = .max) {
        lab = PhoneLab(
            clock: time.clock, random: random ?? time.random,
            adoption: adoptionLimit.map { HandleAdoption(limit: $0) } ?? .disabled, storageLimit: storageLimit,
            observer: PhoneObserver(event: log.add))
        simulator = WebPushSimulator(lab: lab, clock: time.clock, random: time.random)
        phone = lab.addPhone(
            PhoneDescription(
                name: "dora", platform: .browser,
                app: PhoneApp(
                    "example.com", applicationServerKey: isRestricted ? Array(key.publicKey.x963Representation) : nil)))
    }

    /// The subscription that the browser gives to the web app.
    struct Subscription: Decodable {
        struct Keys: Decodable {
            var p256dh: String
            var auth: String
        }

        var endpoint: String
        var keys: Keys
    }

    func subscription() throws -> Subscription {
        try JSONDecoder().decode(Subscription.self, from: Data(#require(lab.pushHandle(of: phone)).utf8))
    }

    var items: [InboxItem] { lab.inbox(of: phone) }

    /// A message in `aes128gcm` for the browser (RFC 8291), or for the given keys.
    func seal(
        _ text: [UInt8], padding: [UInt8] = [2], recordSize: UInt32 = 4096, p256dh: String? = nil, auth: String? = nil
    ) throws -> [UInt8] {
        let keys = try subscription().keys
        let recipient = try #require(TokenText.bytes(p256dh ?? keys.p256dh))
        let secret = try #require(TokenText.bytes(auth ?? keys.auth))
        let sender = P256.KeyAgreement.PrivateKey()
        let shared = try sender.sharedSecretFromKeyAgreement(with: .init(x963Representation: recipient))
        let senderKey = sender.publicKey.x963Representation
        let material = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: secret, sharedInfo: Data("WebPush: info\0".utf8) + recipient + senderKey,
            outputByteCount: 32)
        let salt = Data(repeating: 7, count: 16)
        func derived(_ info: String, _ count: Int) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: material, salt: salt, info: Data("Content-Encoding: \(info)\0".utf8),
                outputByteCount: count)
        }
        let nonce = derived("nonce", 12).withUnsafeBytes { Data($0) }
        let box = try AES.GCM.seal(
            text + padding, using: derived("aes128gcm", 16), nonce: AES.GCM.Nonce(data: nonce))
        let size = withUnsafeBytes(of: recordSize.bigEndian) { Data($0) }
        return [UInt8](salt + size + [65] + senderKey + box.ciphertext + box.tag)
    }

    /// The value of `Authorization`; nil omits a claim.
    func authorization(
        audience: String? = origin, lifetime: Int64? = 12 * 3600, subject: String? = "mailto:push@example.com",
        header: String = #"{"typ":"JWT","alg":"ES256"}"#, key: P256.Signing.PrivateKey? = nil,
        named: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        let claims = [
            audience.map { #""aud":"\#($0)""# }, lifetime.map { #""exp":\#(time.seconds + $0)"# },
            subject.map { #""sub":"\#($0)""# },
        ].compactMap { $0 }
        let token = try TokenText.es256(
            header: header, claims: "{\(claims.joined(separator: ","))}", key: key ?? self.key)
        return "vapid t=\(token), k=\(TokenText.base64URL((named ?? self.key).publicKey.x963Representation))"
    }

    func request(to endpoint: String? = nil) throws -> HTTPRequest {
        let (host, path) = WNSBench.parts(of: try endpoint ?? subscription().endpoint)
        return HTTPRequest(
            host: host, path: path,
            [
                ("authorization", try authorization()), ("ttl", "3600"), ("content-encoding", "aes128gcm"),
                ("content-type", "application/octet-stream"),
            ])
    }

    /// Sends a valid message with a change.
    @discardableResult
    func send(
        _ text: String = #"{"title":"News","body":"Hello"}"#, change: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> Reply {
        try await send(body: seal(Array(text.utf8)), change: change)
    }

    @discardableResult
    func send(body: [UInt8], change: (inout HTTPRequest) throws -> Void = { _ in }) async throws -> Reply {
        var request = try request()
        try change(&request)
        return Reply(await simulator.handle(request, body: body))
    }
}

extension Reply {
    /// The status and the error number, such as `400 111`; `201` for a success.
    var webPushKind: String { status == 201 ? "201" : "\(status) \(member("errno") ?? "-")" }
}

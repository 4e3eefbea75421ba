import Crypto
import PushModel
import Support
import Testing

@testable import Storage

// Accounts, secure payloads and tokens for push services.
extension VersionContent {
    func expectAccounts(in storage: SQLiteStorage) async throws {
        func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
        let ana = Account(
            user: try Tag("username:ana"), username: "ana", hash: PasswordHash(cost: 131_072, salt: bytes(1, 16), digest: bytes(2, 32)))
        let bob = Account(
            user: try Tag("username:Böb"), username: "Böb", hash: PasswordHash(cost: 16, salt: bytes(3, 16), digest: bytes(4, 32)))
        let accounts = storage.accounts
        #expect(try await accounts.accounts(after: nil, limit: 9) == [ana, bob])
        #expect(try await accounts.account(try Tag("username:BÖB")) == bob)
        let sessions = [
            StoredSession(digest: bytes(5, 32), username: "Ana", expiration: Self.at(3600)),
            StoredSession(digest: bytes(6, 32), username: "carol", expiration: Self.at(-3600)),
        ]
        for session in sessions { #expect(try await accounts.session(session.digest) == session) }
        let token = try await storage.providerTokens.token("apns/TEAM/KEY1")
        #expect(token?.token.reveal() == "token-for-apns" && token?.issuedAt == Self.at(5))
    }

    func expectSecurePayloads(in storage: SQLiteStorage) async throws {
        let key = SymmetricKey(data: try version.payloadKey())
        let mark = Array(HMAC<SHA256>.authenticationCode(for: Array("key of secure payloads".utf8), using: key).prefix(8))
        let store = storage.securePayloads
        for (expected, content) in try securePayloads(mark) {
            let payload = try #require(try await store.payload(expected.id), "\(expected.id)")
            var wanted = expected
            // The bytes cannot be predicted: only the content is compared.
            wanted.sealed = payload.sealed
            #expect(payload == wanted, "\(expected.id)")
            #expect((payload.sealed == nil) == (content == nil), "\(expected.id)")
            guard payload.sealed != nil else { continue }
            #expect(try Self.opened(payload, key) == content, "\(expected.id)")
        }
        #expect(try await store.readable(by: try Tag("username:BÖB")).map(\.id) == ["201376544", "7"])
        let byKey: [[UInt8]: Int] = version >= .payloadKeys ? [mark: 1, []: 1] : [[]: 2]
        #expect(try await store.readableByKey() == byKey)
        let unmarked: [String] = version >= .payloadKeys ? ["7"] : ["201376544", "7"]
        #expect(try await store.unmarked(limit: 9).map(\.id).sorted() == unmarked)
    }

    /// The payloads without their bytes, and the contents of those that are readable.
    private func securePayloads(_ mark: [UInt8]) throws -> [(SealedPayload, JSON?)] {
        let (ana, bob) = (try Tag("username:ana"), try Tag("username:Böb"))
        let recorded = version >= .payloadKeys ? mark : []
        var reads = [
            SecureRead(time: Self.at(120), username: "böb", result: .granted),
            SecureRead(time: Self.at(121), username: "eve", result: .forbidden),
        ]
        if version >= .origins { reads.append(SecureRead(time: Self.at(122), username: "Böb", result: .vetoed)) }
        let limited = SealedPayload(
            id: "201376544", sender: ana, recipient: bob, expiration: Self.at(86_400), maximumReads: 2, keyMark: recorded,
            history: SealedPayload.History(grantedReads: 1, reads: reads))
        // Sealed by a version that did not record its key.
        let older = SealedPayload(id: "7", sender: bob, recipient: bob, expiration: Self.at(172_800))
        let exhausted = SealedPayload(
            id: "8", sender: ana, recipient: ana, expiration: Self.at(100), maximumReads: 1, keyMark: recorded,
            history: SealedPayload.History(
                grantedReads: 1, ending: .exhausted, reads: [SecureRead(time: Self.at(90), username: "ana", result: .granted)]))
        let revoked = SealedPayload(
            id: "9", sender: ana, recipient: bob, expiration: Self.at(200), keyMark: recorded,
            history: SealedPayload.History(ending: .revoked))
        let expired = SealedPayload(
            id: "10", sender: ana, recipient: bob, expiration: Self.at(-10), keyMark: recorded,
            history: SealedPayload.History(ending: .expired, reads: [SecureRead(time: Self.at(0), username: "Böb", result: .expired)]))
        return [
            (limited, ["code": "1234", "é": [1, .null]]), (older, "older"), (exhausted, nil), (revoked, nil), (expired, nil),
        ]
    }

    /// The content of a readable payload, which is sealed with the payload key itself.
    private static func opened(_ payload: SealedPayload, _ key: SymmetricKey) throws -> JSON {
        let maximum: JSON = payload.maximumReads.map { .integer(Int64($0)) } ?? .null
        let header: JSON = [
            .string(payload.id), .string(payload.recipient.text.lowercased()), .integer(payload.expiration.milliseconds), maximum,
        ]
        let box = try AES.GCM.SealedBox(combined: payload.sealed ?? [])
        return try JSON(parsing: Array(AES.GCM.open(box, using: key, authenticating: header.serialized())))
    }
}

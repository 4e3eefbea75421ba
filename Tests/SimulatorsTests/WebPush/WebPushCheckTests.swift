import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import Simulators

/// Checks of the Web Push service and of the browser, each with a valid request and one change that only this check refuses.
@Suite struct WebPushCheckTests {
    let bench = WebPushBench()

    private func kind(authorization: String) async throws -> String {
        try await bench.send { $0.set("authorization", authorization) }.webPushKind
    }

    /// The token and the key of a valid authorization header.
    private func parts() throws -> (token: Substring, key: Substring) {
        let parts = try bench.authorization().dropFirst("vapid ".count).split(separator: ", ")
        return (parts[0], parts[1])
    }

    @Test(arguments: ["Bearer", "WebPush", "vapid2", "vapi"])
    func `only the scheme vapid is accepted`(scheme: String) async throws {
        let (token, key) = try parts()
        #expect(try await kind(authorization: "\(scheme) \(token), \(key)") == "401 109")
        #expect(try await kind(authorization: "vapid \(token), \(key)") == "201")
    }

    @Test func `parameter names are read in any case, and values may be quoted and surrounded by blanks`() async throws {
        let (token, key) = try parts()
        let (t, k) = (token.dropFirst(2), key.dropFirst(2))
        for text in [
            "vapid T=\(t), K=\(k)", "vapid t=\"\(t)\", k=\"\(k)\"", "vapid t = \(t) , k = \(k)", "VAPID k=\(k),t=\(t)",
            "Vapid \(token),\t\(key)",
        ] { #expect(try await kind(authorization: text) == "201", "\(text)") }
        #expect(try await kind(authorization: "vapid t=\"\(t), k=\(k)") == "401 109")
    }

    @Test func `a key in standard base64 or with padding is accepted, as autopush does`() async throws {
        let (token, key) = try parts()
        let standard = key.dropFirst(2).replacing("-", with: "+").replacing("_", with: "/")
        for text in [standard, standard + "=", "\(key.dropFirst(2))="] {
            #expect(try await kind(authorization: "vapid \(token), k=\(text)") == "201", "\(text)")
        }
    }

    /// Unlike Apple, autopush reads `exp` as a whole number, `aud` as a text, and the signature as RFC 7518 has it.
    @Test func `tokens in forms that autopush does not read are refused`() async throws {
        let header = TokenText.base64URL(Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8))
        let key = TokenText.base64URL(bench.key.publicKey.x963Representation)
        func kind(_ audience: String, _ expires: String, isDER: Bool = false) async throws -> String {
            let claims = #"{"aud":\#(audience),"exp":\#(expires),"sub":"mailto:push@example.com"}"#
            let signed = "\(header).\(TokenText.base64URL(Array(claims.utf8)))"
            let made = try bench.key.signature(for: Data(signed.utf8))
            let signature = TokenText.base64URL(isDER ? made.derRepresentation : made.rawRepresentation)
            return try await self.kind(authorization: "vapid t=\(signed).\(signature), k=\(key)")
        }
        let (origin, end) = ("\"\(WebPushBench.origin)\"", bench.time.seconds + 3600)
        #expect(try await kind(origin, "\(end)") == "201")
        #expect(try await kind(origin, "\(end)", isDER: true) == "401 109")
        #expect(try await kind(origin, "\(end).5") == "401 109")
        #expect(try await kind(origin, "\"\(end)\"") == "401 109")
        #expect(try await kind("[\(origin)]", "\(end)") == "401 109")
        #expect(try await kind("\"\(WebPushBench.origin)/\"", "\(end)") == "401 109")
    }

    @Test func `a token without its key is refused, and a key without a token`() async throws {
        let (token, key) = try parts()
        for part in [token, key] { #expect(try await kind(authorization: "vapid \(part)") == "401 109") }
    }

    @Test func `a key is an uncompressed point of P-256`() async throws {
        let (token, key) = try parts()
        // A subscription without a key, so that the key need not match.
        let open = WebPushBench(isRestricted: false)
        func kind(_ key: some DataProtocol) async throws -> String {
            let authorization = try open.authorization().split(separator: ", k=")[0] + ", k=\(TokenText.base64URL(key))"
            return try await open.send { $0.set("authorization", String(authorization)) }.webPushKind
        }
        let good = open.key.publicKey
        #expect(try await kind(good.x963Representation) == "201")
        #expect(try await kind(good.compressedRepresentation) == "401 109")
        #expect(try await kind(good.x963Representation.dropFirst()) == "401 109")
        #expect(try await kind(good.x963Representation + [0]) == "401 109")
        #expect(try await kind(Data([4]) + Data(repeating: 7, count: 64)) == "401 109")
        #expect(try await self.kind(authorization: "vapid \(token), \(key)=!") == "401 109")
    }

    @Test func `a token has three parts, of which two are JSON objects`() async throws {
        let (token, key) = try parts()
        let (head, claims, signature) = {
            let parts = token.split(separator: ".")
            return (parts[0], parts[1], parts[2])
        }()
        let list = TokenText.base64URL(Array("[]".utf8))
        let bad = [
            "\(head).\(claims)", "\(token).\(signature)", "\(head).\(claims).", "t=\(list).\(claims).\(signature)",
            "\(head).\(list).\(signature)",
            "\(token)A", "\(head).\(claims).!\(signature)",
        ]
        for text in bad { #expect(try await kind(authorization: "vapid \(text), \(key)") == "401 109", "\(text)") }
        #expect(try await kind(authorization: "vapid \(head).\(claims).\(signature), \(key)") == "201")
    }

    @Test func `a handle of another service at the same address is not an endpoint`() async throws {
        bench.lab.publish(ServiceAddress(authority: "localhost:8091", platforms: [.browser, .wns]))
        let channel = try #require(
            bench.lab.pushHandle(of: bench.lab.addPhone(PhoneDescription(name: "tom", platform: .wns, app: PhoneApp("x")))))
        let browser = bench.lab.addPhone(PhoneDescription(name: "eve", platform: .browser, app: PhoneApp("example.com")))
        let endpoint = try #require(bench.lab.subscription(of: browser)?.endpoint)
        for (handle, status) in [(channel, 404), (endpoint, 201)] {
            let (host, path) = WNSBench.parts(of: handle)
            #expect(host == "localhost:8091")
            let request = HTTPRequest(host: host, path: path, [("ttl", "60")])
            #expect(Reply(await bench.simulator.handle(request, body: [])).status == status)
        }
    }

    @Test func `a record must be large enough for its content`() async throws {
        // One byte of padding and the tag: 17 bytes, which RFC 8188 does not allow as a record size.
        for (size, isRead) in [(UInt32(17), false), (18, true)] {
            #expect(try await bench.send(body: bench.seal([], recordSize: size)).status == 201)
            #expect(bench.items.last?.reasonNotShown?.contains("more than one record") == !isRead)
        }
    }
}

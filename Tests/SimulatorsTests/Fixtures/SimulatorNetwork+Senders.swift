import Foundation
import HTTPTypes
import Testing

@testable import Simulators

/// Tokens and requests of senders of the other services.
extension SimulatorNetwork {
    /// The form with an assertion that asks the simulated Google for an access token.
    ///
    /// - Parameter audience: The audience of the assertion; nil for the address in the credentials.
    func googleForm(audience: String? = nil) throws -> String {
        let tokenURI = try control(.get, "/credentials")["fcm"]?["token_uri"]?.string
        let claims = [
            #""iss":"\#(SimulatorCredentials.clientEmail)""#, #""aud":"\#(try #require(audience ?? tokenURI))""#,
            #""scope":"https://www.googleapis.com/auth/firebase.messaging https://www.googleapis.com/auth/cloud-platform""#,
            #""iat":\#(time.seconds)"#, #""exp":\#(time.seconds + 3600)"#,
        ]
        let assertion = try TokenText.rs256(
            header: #"{"alg":"RS256","typ":"JWT","kid":"\#(SimulatorCredentials.keyID)"}"#,
            claims: "{\(claims.joined(separator: ","))}", key: credentials.fcmKey)
        return "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    }

    var microsoftForm: String {
        let sid = SimulatorCredentials.packageSID.replacing(":", with: "%3A").replacing("/", with: "%2F")
        return "grant_type=client_credentials&client_id=\(sid)&client_secret=\(credentials.windowsSecret)&scope=notify.windows.com"
    }

    /// The header value `vapid t=…, k=…` for an origin.
    func vapid(for origin: String) throws -> String {
        let token = try TokenText.es256(
            header: #"{"typ":"JWT","alg":"ES256"}"#,
            claims: #"{"aud":"\#(origin)","exp":\#(time.seconds + 3600),"sub":"mailto:a@example.com"}"#,
            key: credentials.applicationServerKey)
        return "vapid t=\(token), k=\(Base64URL.text(credentials.applicationServerPublicKey))"
    }

    /// Adds a phone over the control plane.
    func add(_ name: String, _ platform: String) throws -> JSONValue {
        try control(.post, "/phones", #"{"name": "\#(name)", "platform": "\#(platform)"}"#)
    }

    func inbox(of name: String) throws -> [String?] {
        try (control(.get, "/phones/\(name)")["inbox"]?.elements ?? []).map { $0["text"]?.string }
    }
}

extension HTTP1Caller {
    /// A POST request with the usual headers of clients.
    static func post(_ path: String, _ body: String, host: String = "localhost:8443", _ fields: String...) -> String {
        let lines = ["POST \(path) HTTP/1.1", "Host: \(host)", "Content-Length: \(body.utf8.count)"] + fields
        return lines.joined(separator: "\n") + "\n\n" + body
    }

    /// The access token in an answer.
    static func token(_ answer: String) throws -> String {
        let body = try #require(answer.components(separatedBy: "\n\n").last)
        return try #require(JSONValue(Array(body.utf8))?["access_token"]?.string)
    }
}

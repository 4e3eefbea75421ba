import JWTKit
package import PushModel
import SwiftASN1

/// A Firebase project and the service account that sends for it ("Authorize send requests").
package struct FCMSettings: Sendable {
    package static let host = "fcm.googleapis.com"
    package static let tokenURI = "https://oauth2.googleapis.com/token"

    package var projectID: String
    package var clientEmail: String
    /// Identifies the key within the account; sent as `kid` of the assertion. Optional, as in Azure's credential.
    package var privateKeyID: String?
    /// An RSA key as PEM, PKCS #8. An escaped `\n`, as in the JSON file, is accepted.
    package var privateKey: Secret
    package var tokenURI: String

    package init(
        projectID: String, clientEmail: String, privateKeyID: String? = nil, privateKey: Secret,
        tokenURI: String = FCMSettings.tokenURI
    ) {
        self.projectID = projectID
        self.clientEmail = clientEmail
        self.privateKeyID = privateKeyID
        self.privateKey = privateKey
        self.tokenURI = tokenURI
    }

    /// Reads the JSON file of a service account as the Google Cloud console creates it. Throws `credential.invalid`, which says what the
    /// file is instead.
    package init(serviceAccount file: [UInt8]) throws(PushError) {
        guard let json = try? JSON(parsing: file.withoutByteOrderMark), json.object != nil else {
            throw .invalidCredential("the service account is not JSON: \(Self.kind(ofText: file))", Self.fix)
        }
        guard json["type"]?.string == "service_account" else {
            throw .invalidCredential("this is not a service account: \(Self.kind(of: json))", Self.fix)
        }
        func field(_ name: String) throws(PushError) -> String {
            guard let text = json[name]?.string, !text.isEmpty else {
                throw .invalidCredential("the service account has no \(name)", Self.fix)
            }
            return text
        }
        self.init(
            projectID: try field("project_id"), clientEmail: try field("client_email"),
            privateKeyID: json["private_key_id"]?.string, privateKey: Secret(try field("private_key")),
            tokenURI: json["token_uri"]?.string ?? Self.tokenURI)
    }

    private static let fix =
        "pass the JSON file of the account's key, unchanged: Firebase console, Project settings, Service accounts, Generate new private key"

    private static func kind(ofText file: [UInt8]) -> String {
        file.isEmpty || !CredentialText.blocks(file).isEmpty ? CredentialText.kind(file) : "it is damaged, or another file"
    }

    private static func kind(of json: JSON) -> String {
        if json["project_info"] != nil { return "it is google-services.json, which is for building apps" }
        if json["installed"] != nil || json["web"] != nil { return "it is an OAuth client" }
        return json["type"]?.string.map { "its type is \"\($0.excerpt)\"" } ?? "it has no type"
    }
}

extension FCMSettings {
    /// Checks what can be checked without asking Google: the key can sign, and the names have Google's format. Throws `credential.invalid`.
    package func check() throws(PushError) {
        guard !projectID.isEmpty, projectID.utf8.allSatisfy(\.isProjectCharacter) else {
            throw .invalidCredential(
                "invalid project id \"\(projectID.excerpt)\"",
                "pass project_id: lower-case letters, digits and hyphens, not the project's name")
        }
        let address = clientEmail.split(separator: "@", omittingEmptySubsequences: false)
        guard address.count == 2, !address.contains(""), clientEmail.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw .invalidCredential(
                "invalid service account address \"\(clientEmail.excerpt)\"",
                "pass client_email, such as NAME@PROJECT.iam.gserviceaccount.com")
        }
        guard let endpoint = WebAddress(tokenURI), endpoint.scheme == "https" else {
            throw .invalidCredential("the token URI of the service account is not an https: URI", "use \(Self.tokenURI)")
        }
        _ = try signer()
    }

    /// Parses the key. Throws `credential.invalid`, which says what the text is instead.
    func signer() throws(PushError) -> Insecure.RSA.PrivateKey {
        let bytes = Array(privateKey.reveal().utf8)
        if let block = CredentialText.privateKey(bytes) {
            // Bare base64 has no label, so try PKCS #1 as well.
            for label in [block.label, "RSA PRIVATE KEY"] {
                if let key = try? Insecure.RSA.PrivateKey(pem: PEMBlock(label: label, bytes: block.bytes).text) { return key }
            }
        }
        throw .invalidCredential(
            "the private key of the service account is not an RSA key in PEM: \(CredentialText.keyKind(bytes))",
            "pass private_key from the account's JSON file")
    }
}

extension UInt8 {
    /// Domain-scoped project ids contain a colon and dots: `example.com:shop`.
    fileprivate var isProjectCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: false
        }
    }
}

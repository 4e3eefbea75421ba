import PushCore

/// A Firebase project and the service account that sends for it ("Authorize send requests").
package struct FCMSettings: Sendable {
    package static let host = "fcm.googleapis.com"
    package static let tokenURI = "https://oauth2.googleapis.com/token"

    package var projectID: String
    package var clientEmail: String
    /// Names the key among those of the account; goes into the assertion's `kid`. Optional, as in Azure's credential.
    package var privateKeyID: String?
    /// An RSA key in PEM, PKCS #8. `\n` written out, as in the JSON file, is understood.
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

    /// Reads the JSON file of a service account as the Google Cloud console hands it out. Throws `credential.invalid`.
    package init(serviceAccount file: [UInt8]) throws(PushError) {
        let json = try? JSON(parsing: file)
        func field(_ name: String) throws(PushError) -> String {
            guard let text = json?[name]?.string, !text.isEmpty else {
                throw .invalidCredential(
                    "the service account has no \(name)", "pass the JSON file of the account's key, unchanged")
            }
            return text
        }
        self.init(
            projectID: try field("project_id"), clientEmail: try field("client_email"),
            privateKeyID: json?["private_key_id"]?.string, privateKey: Secret(try field("private_key")),
            tokenURI: json?["token_uri"]?.string ?? Self.tokenURI)
    }
}

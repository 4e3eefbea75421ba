import Crypto
import FoundationEssentials
import PushModel

/// A JSON Web Token (RFC 7519), parsed without the library that created it.
struct SignedToken {
    let header: JSON
    let claims: JSON
    private let signedBytes: [UInt8]
    private let signature: [UInt8]

    init?(_ text: some StringProtocol) {
        let parts = String(text).split(separator: "." as Character, omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 3, let signature = Self.decoded(parts[2]),
            let header = Self.decoded(parts[0]).flatMap({ try? JSON(parsing: $0) }),
            let claims = Self.decoded(parts[1]).flatMap({ try? JSON(parsing: $0) })
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
    }

    func isSigned(by key: P256.Signing.PublicKey) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: signedBytes)
    }

    private static func decoded(_ text: String) -> [UInt8]? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.count % 4) % 4)
        return Data(base64Encoded: plain + padding).map { [UInt8]($0) }
    }
}

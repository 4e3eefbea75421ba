import Crypto
import CryptoExtras
import FoundationEssentials

/// Signs JSON Web Tokens for requests (RFC 7515).
enum TokenText {
    static func base64URL(_ data: some DataProtocol) -> String {
        Data(data).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func bytes(_ text: String) -> Data? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }

    static func es256(header: String, claims: String, key: P256.Signing.PrivateKey) throws -> String {
        let signed = base64URL(Array(header.utf8)) + "." + base64URL(Array(claims.utf8))
        return signed + "." + base64URL(try key.signature(for: Data(signed.utf8)).rawRepresentation)
    }

    static func rs256(header: String, claims: String, key: _RSA.Signing.PrivateKey) throws -> String {
        let signed = base64URL(Array(header.utf8)) + "." + base64URL(Array(claims.utf8))
        let digest = SHA256.hash(data: Data(signed.utf8))
        return signed + "."
            + base64URL(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
    }
}

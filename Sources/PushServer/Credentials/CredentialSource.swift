import Crypto
import PushModel
import PushRuntime

/// A credential in the settings, for hubs without their own.
package protocol CredentialSource: Sendable {
    var kind: PlatformCredential.Kind { get }
    /// Whether the settings contain this credential.
    var isGiven: Bool { get }
    /// The name of the setting.
    var setting: String { get }
    /// The files that contain it.
    var files: [String?] { get }
    /// Reads the files. Throws `credential.invalid`, which names the file.
    func sender() throws(PushError) -> SenderSettings
}

extension CredentialSource {
    /// A hash of the files' contents. Also changes when a file appears or disappears.
    var fingerprint: [UInt8] {
        var hash = SHA256()
        for path in files {
            let bytes = path.flatMap { try? CredentialFile.read($0) }
            hash.update(data: Array("\(bytes?.count ?? -1) ".utf8) + (bytes ?? []))
        }
        return Array(hash.finalize())
    }
}

/// Reads the operator's files that contain secrets.
enum CredentialFile {
    private static let largest = 1 << 20

    /// Reads a file. Throws `credential.invalid`.
    static func read(_ path: String) throws(PushError) -> [UInt8] {
        do {
            return try TextFile.read(path, limit: largest, kind: "credential file")
        } catch {
            throw PushError(
                "credential.invalid", error.message, hint: "check the path in the settings and the permissions of the file", status: 400)
        }
    }

    /// Reads a one-line secret, such as a password, without its line end. Throws `credential.invalid`.
    static func line(_ path: String) throws(PushError) -> Secret {
        guard let secret = Secret(line: try read(path)) else {
            throw fault(path, PushError("credential.invalid", "it is not one line of text", hint: "write only the secret into it"))
        }
        return secret
    }

    /// Adds the name of the file to an error.
    static func fault(_ path: String, _ error: PushError) -> PushError {
        let message = error.message.contains(path) ? error.message : "\(path): \(error.message)"
        return PushError("credential.invalid", message, hint: error.hint, status: 400)
    }
}

extension Secret {
    /// Reads one line, with or without a line end. Nil for several lines or invalid UTF-8.
    package init?(line bytes: [UInt8]) {
        guard var text = String(validating: bytes, as: UTF8.self) else { return nil }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        guard !text.contains(where: \.isNewline) else { return nil }
        self.init(text)
    }
}

import Crypto
import PushCore

/// A credential that the settings name, for hubs that have none of their own.
protocol CredentialSource: Sendable {
    var kind: PlatformCredential.Kind { get }
    /// Whether the settings name one.
    var isGiven: Bool { get }
    /// The setting that names it.
    var setting: String { get }
    /// Those that it lies in.
    var files: [String?] { get }
    /// What it is, with what the files hold now. Throws `credential.invalid`, which names the file.
    func sender() throws(PushError) -> SenderSettings
}

extension CredentialSource {
    /// Changes when the content of one of the files does, and when one of them goes or comes.
    var fingerprint: [UInt8] {
        var hash = SHA256()
        for path in files {
            let bytes = path.flatMap { try? CredentialFile.read($0) }
            hash.update(data: Array("\(bytes?.count ?? -1) ".utf8) + (bytes ?? []))
        }
        return Array(hash.finalize())
    }
}

/// A file of the operator with something secret in it.
enum CredentialFile {
    private static let largest = 1 << 20

    /// Throws `credential.invalid`.
    static func read(_ path: String) throws(PushError) -> [UInt8] {
        do {
            return try TextFile.read(path, limit: largest, kind: "credential file")
        } catch {
            throw PushError(
                "credential.invalid", error.message, hint: "check the path in the settings, and the rights of the file", status: 400)
        }
    }

    /// A text of one line, such as a password, without the line end that editors put behind it. Throws `credential.invalid`.
    static func line(_ path: String) throws(PushError) -> Secret {
        guard let secret = Secret(line: try read(path)) else {
            throw fault(path, PushError("credential.invalid", "it is not one line of text", hint: "write the secret into it, alone"))
        }
        return secret
    }

    /// An error with the name of the file that is to blame.
    static func fault(_ path: String, _ error: PushError) -> PushError {
        let message = error.message.contains(path) ? error.message : "\(path): \(error.message)"
        return PushError("credential.invalid", message, hint: error.hint, status: 400)
    }
}

extension Secret {
    /// One line, with its end or without; nil for several, and for what is not UTF-8.
    init?(line bytes: [UInt8]) {
        guard var text = String(validating: bytes, as: UTF8.self) else { return nil }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        guard !text.contains(where: \.isNewline) else { return nil }
        self.init(text)
    }
}

import PushModel
import PushRuntime

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

import Delivery
import Glibc
import PushModel
import PushRuntime
import PushServer

/// Reads a secret from a file, from standard input for `-`, or from the terminal. Secrets are never arguments, because other users can see
/// those in the list of processes.
struct SecretFile {
    /// The option's name: `--client-secret-file`.
    let option: String
    /// The secret's name in messages: `client secret`.
    let name: String

    private static let largest = 64 << 10

    /// Reads one line. Throws `usage.value`, and `usage.password` if no file is given and there is no terminal.
    func line(_ path: String?) async throws(PushError) -> Secret {
        guard let path else { return try await PasswordPrompt().askOnce("The \(name): ", name, hint: "name a file with \(option)") }
        if path == "-" { return try await PasswordPrompt.line() }
        guard let secret = Secret(line: try await bytes(path)) else {
            throw PushError("usage.value", "\(option): \(path) is not one line of text", hint: "write only the \(name) into it")
        }
        return secret
    }

    /// Reads a whole file. Throws `usage.value`.
    func bytes(_ path: String) async throws(PushError) -> [UInt8] {
        do {
            return try await TextFile.read(
                path == "-" ? "/dev/stdin" : path, limit: Self.largest, kind: "credential file", within: nil)
        } catch {
            throw PushError("usage.value", "\(option): \(error.message)", hint: error.hint ?? "name a file with the \(name)")
        }
    }

    /// Reads a key from a file in strict PEM or base64. Throws `usage.value`.
    func key(_ path: String) async throws(PushError) -> String { CredentialText.text(ofFile: try await bytes(path)) }

    /// Reads a whole text file. Throws `usage.value`.
    func text(_ path: String) async throws(PushError) -> String {
        guard let text = String(validating: try await bytes(path), as: UTF8.self) else {
            throw PushError("usage.value", "\(option): \(path) is not text", hint: "name a file with the \(name)")
        }
        return text
    }
}

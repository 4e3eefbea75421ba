import Delivery
import Glibc
import PushCore

/// Where a command takes something secret from: a file, standard input for `-`, or the terminal. Never its arguments, which any list
/// of processes shows.
struct SecretFile {
    /// As it stands on the command line: `--client-secret-file`.
    let option: String
    /// What is in it, for people: `client secret`.
    let name: String

    private static let largest = 64 << 10

    /// One line. Throws `usage.value`, and `usage.password` where it is neither given nor can be asked for.
    func line(_ path: String?) async throws(PushError) -> Secret {
        guard let path else { return try await PasswordPrompt().askOnce("The \(name): ", name, hint: "name a file with \(option)") }
        if path == "-" { return try await PasswordPrompt.line() }
        guard let secret = Secret(line: try await bytes(path)) else {
            throw PushError("usage.value", "\(option): \(path) is not one line of text", hint: "write the \(name) into it, alone")
        }
        return secret
    }

    /// A whole file. Throws `usage.value`.
    func bytes(_ path: String) async throws(PushError) -> [UInt8] {
        do {
            return try await TextFile.read(
                path == "-" ? "/dev/stdin" : path, limit: Self.largest, kind: "credential file", within: nil)
        } catch {
            throw PushError("usage.value", "\(option): \(error.message)", hint: error.hint ?? "name a file with the \(name)")
        }
    }

    /// The key in a file: PEM in its strict form, or base64. Throws `usage.value`.
    func key(_ path: String) async throws(PushError) -> String { CredentialText.text(ofFile: try await bytes(path)) }

    /// A whole file of text. Throws `usage.value`.
    func text(_ path: String) async throws(PushError) -> String {
        guard let text = String(validating: try await bytes(path), as: UTF8.self) else {
            throw PushError("usage.value", "\(option): \(path) is no text", hint: "name a file with the \(name)")
        }
        return text
    }
}

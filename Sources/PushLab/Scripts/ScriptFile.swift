package import Bindings
import Crypto
import Glibc
package import PushModel
import PushRuntime

/// Reads a script from a file, with specific errors for everything else that a path may be.
package enum ScriptFile {
    /// Maximum size of a script in bytes.
    package static let limit = 4 << 20

    /// Reads a script; waits for a pipe, up to `time`. Throws `script.*` errors, which name the path.
    package static func read(_ path: String, within time: Duration?) async throws(PushError) -> FlowScript {
        try script(path, try await TextFile.read(path, limit: limit, kind: "script", within: time))
    }

    /// Reads a script; refuses a pipe.
    ///
    /// - Parameter openedPath: the path to open instead, if the file has been checked under it.
    package static func read(_ path: String, opening openedPath: String? = nil) throws(PushError) -> FlowScript {
        try script(path, try TextFile.read(path, opening: openedPath, limit: limit, kind: "script"))
    }

    private static func script(_ path: String, _ source: [UInt8]) throws(PushError) -> FlowScript {
        try check(source, of: path)
        let digest = SHA256.hash(data: source).prefix(3)
        let version = digest.map { byte in
            let hex = String(byte, radix: 16)
            return hex.count == 1 ? "0" + hex : hex
        }.joined()
        return FlowScript(name: path, source: source, version: version)
    }

    /// Throws `script.encoding` if the bytes are not UTF-8 or contain NUL.
    static func check(_ source: [UInt8], of path: String) throws(PushError) {
        guard let text = String(validating: source, as: UTF8.self) else {
            let line = firstInvalidLine(source)
            throw PushError(
                "script.encoding", "\(path) is not UTF-8: line \(line) has invalid bytes",
                hint: "save the script as UTF-8")
        }
        guard !text.unicodeScalars.contains("\u{0}") else {
            throw PushError("script.encoding", "\(path) has NUL characters: it is not a script", hint: "pass a Lua script")
        }
    }

    private static func firstInvalidLine(_ source: [UInt8]) -> Int {
        for (index, line) in source.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated()
        where String(validating: line, as: UTF8.self) == nil {
            return index + 1
        }
        return 1
    }
}

import Crypto
import Foundation
import HostSupport
import PushModel
import PushRuntime
import Support
import Synchronization
import Testing

/// `pushhost simulate apns`, or another service, in its own process.
final class SimulatorProgram: Sendable {
    let dialogue: Dialogue
    /// The TLS port.
    let port: Int
    let controlPort: Int
    let folder: ScriptFolder
    /// The startup banner.
    let screen: String
    /// A limit of open files that is a little higher than a simulator with one thread needs.
    static let fewFiles = DescriptorLimit.sharedLoopFiles + 58

    /// The provider token of all shell lines, shared as APNs requires.
    private let bearer = Mutex<String?>(nil)

    /// - Parameters:
    ///   - files: limit of open files; nil for the limit of the tests.
    ///   - blocks: maximum size of a file in blocks of 512 bytes; nil for no limit.
    init(
        _ arguments: [String] = [], serving service: String = "apns", in folder: ScriptFolder? = nil, files: Int? = nil, blocks: Int? = nil
    ) async throws {
        let folder = try folder ?? ScriptFolder()
        self.folder = folder
        let words = ["simulate", service, "--port", "0", "--control-port", "0", "--data", "sim"] + arguments
        if let limit = files.map({ "-n \($0)" }) ?? blocks.map({ "-f \($0)" }) {
            let limited = ["-c", #"trap '' XFSZ; ulimit $0; exec "$P" "$@""#, limit] + words
            dialogue = try Dialogue(limited, tool: "/bin/sh", in: folder.url)
        } else {
            dialogue = try Dialogue(words, in: folder.url)
        }
        let screen = try await dialogue.hear("Press Ctrl-C to stop.")
        func number(after text: String) throws -> Int {
            let start = try #require(screen.range(of: text)?.upperBound)
            return try #require(Int(screen[start...].prefix { $0.isNumber }))
        }
        port = try number(after: "https://127.0.0.1:")
        controlPort = try number(after: "control   http://127.0.0.1:")
        self.screen = screen
    }

    /// The certificate that clients trust.
    var certificate: String { folder.url.appending(path: "sim/certificate.pem").path }

    func end(_ signal: Int32 = SIGINT) async -> (output: String, status: Int32) {
        dialogue.signal(signal)
        return await dialogue.end(closingInput: false)
    }

    /// Runs a script of `Clients` with both ports as arguments.
    func run(_ script: String, _ more: [String] = []) async throws {
        try await PythonClientTests.run(script, [String(port), String(controlPort)] + more, trusting: certificate)
    }

    /// Runs a shell line in the folder. `$APNS` and `$CONTROL` are the addresses and `$TOKEN` is a provider token.
    func shell(_ line: String) async throws -> BuiltProgram {
        let names = "APNS=https://127.0.0.1:\(port) CONTROL=http://127.0.0.1:\(controlPort)"
        return try await BuiltProgram.shell("\(names) TOKEN=\(try await token()); \(line)", in: folder.url)
    }

    func control(_ method: String, _ path: String, _ body: String = "") async throws -> JSON {
        let data = body.isEmpty ? "" : " -d '\(body)'"
        let program = try await BuiltProgram.shell("curl -sS -X \(method) 'http://127.0.0.1:\(controlPort)\(path)'\(data)")
        #expect(program.status == 0, "\(program.errors)")
        return try JSON(parsing: program.output)
    }

    private func token() async throws -> String {
        if let known = bearer.withLock({ $0 }) { return known }
        let made = try await newToken()
        bearer.withLock { $0 = made }
        return made
    }

    /// A new provider token whose signature is raw (64 bytes) or ASN.1 DER.
    func newToken(isDER: Bool = false) async throws -> String {
        let credentials = try #require(try await control("GET", "/credentials")["apns"])
        func text(_ name: String) throws -> String { try #require(credentials[name]?.string) }
        func part(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let key = try P256.Signing.PrivateKey(pemRepresentation: text("private_key"))
        let header = try part(Data(#"{"alg":"ES256","kid":"\#(text("key_id"))"}"#.utf8))
        let claims = try part(Data(#"{"iss":"\#(text("team_id"))","iat":\#(Int(Date().timeIntervalSince1970))}"#.utf8))
        let signature = try key.signature(for: Data("\(header).\(claims)".utf8))
        return "\(header).\(claims).\(part(isDER ? signature.derRepresentation : signature.rawRepresentation))"
    }
}

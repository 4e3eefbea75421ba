import Foundation
import HostSupport
import Support
import Testing

extension ScriptFolder {
    /// Serves the folder `data` in this one while `body` runs, and ends the server with a signal. Passes the server and its output up to the
    /// startup banner.
    func serving(
        until end: Int32 = SIGTERM, _ body: (Dialogue, String) async throws -> Void = { _, _ in }
    ) async throws {
        let server = try Dialogue(
            ["serve", "--port", "0", "--tls-port", "none", "--data", "data"], in: url, environment: ["PUSHHOST_LOG_LEVEL": "warning"])
        let screen = try await server.hear("Press Ctrl-C to stop.")
        do {
            try await body(server, screen)
        } catch {
            server.signal(SIGKILL)
            _ = await server.end(closingInput: false)
            throw error
        }
        server.signal(end)
        let status = await server.end(closingInput: false).status
        #expect(end == SIGKILL || status == 0)
    }
}

import Foundation
import HostSupport
import Testing

/// The commands of the guides to targets, the lab and the app backend, with a server started as the guides say.
@Suite struct GuideCommandTests {
    /// The lines between "```sh" and "```", except those that start the server.
    private static func commands(_ page: String) throws -> [String] {
        let text = try String(contentsOf: BuiltProgram.root.appending(path: "docs/\(page).md"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```sh\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        return blocks.flatMap { $0.split(separator: "\n").map(String.init) }.filter { !$0.contains("pushhost serve") }
    }

    private static let subscription = """
        { endpoint: "https://updates.push.services.mozilla.com/wpush/v2/z", \
        p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", \
        auth: "BTBZMqHH6r4Tts7J_aSIgg" }
        """

    /// Devices for the audience of `scripts/breaking_news.lua`.
    private static let settings = """
        data: data
        devices:
          ana: { platform: apns, handle: "00000000000000000000000000000000000000000000000000000000000000a1" }
          wei: { platform: fcm, handle: "\(String(repeating: "c", count: 22)):APA91b\(String(repeating: "x", count: 134))" }
          tom: { platform: wns, handle: "https://db3.notify.windows.com/?token=t" }
          zoé: { platform: browser, handle: \(subscription) }
          eve: { platform: apns, handle: "00000000000000000000000000000000000000000000000000000000000000a2" }
        """

    @Test(arguments: [("how-to/targets", 4), ("reference/lab", 1), ("how-to/backend", 5)])
    func `every command on the page works`(page: String, count: Int) async throws {
        let settings = ["PUSHHOST_LAB": "on", "PUSHHOST_LAB_KEY": "let-me-in", "PUSHHOST_BACKEND_TUTORIAL_MODE": "on"]
        try await ServedHub.serving(settings: settings) { hub in
            let folder = hub.data.deletingLastPathComponent()
            try Data(Self.settings.utf8).write(to: folder.appending(path: "pushhost.yaml"))
            let commands = try Self.commands(page)
            #expect(commands.count == count)
            let connection = try hub.plainConnectionString()
            let script = commands.map { command in
                command.replacing("http://localhost:8080", with: "http://localhost:\(hub.port)")
                    .replacing(/Endpoint=sb:[^']*/) { _ in connection }.replacing("--hub news", with: "--hub hub")
                    .replacing("scripts/", with: "\(BuiltProgram.root.path)/scripts/")
                    .replacing("user remove alice", with: "user remove alice --yes")
                    // On a terminal the password would be typed.
                    .replacing(/^pushhost user (add|passwd) .*/) { "printf 'a password\\n' | \($0.0) --password-stdin" }
                    .replacing(/(^|\| |=let-me-in )pushhost/) { "\($0.1)\"$P\"" }
                    .replacing("curl ", with: "curl --silent --show-error --fail-with-body ")
            }
            let run = try await BuiltProgram.shell("set -e\n" + script.joined(separator: "\n"), in: folder)
            #expect(run.status == 0, "\(run.output)\(run.errors)")
        }
    }
}

import Foundation
import Synchronization
import Testing

@testable import PushHost

/// A plugin's file changes again and again while its route is asked.
@Suite struct PluginReloadTests {
    /// The versions that have answered, and how many answers there were.
    private final class Seen: Sendable {
        let state = Mutex<(versions: Set<Int>, count: Int)>(([], 0))
    }

    private static func source(_ number: Int) -> String {
        """
        local push = require "push"
        local begun = \(number)
        return {
          name = "whole", version = "1.\(number)",
          routes = { { path = "/whole", auth = "open", run = function()
            push.sleep "2ms"
            return { json = { begun = begun, ended = \(number) } }
          end } },
        }
        """
    }

    @Test func `no request fails while the file changes, and each is answered by one whole version`() async throws {
        let last = 25
        let folder = try ScriptFolder(["plugins/whole/init.lua": Self.source(0), "plugins/plugins.yaml": "- name: whole\n"])
        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none"], in: folder.url)
        let screen = try await server.hear("Ctrl-C ends it.")
        let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        let seen = Seen()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let connection = try WireConnection(port: port)
                    while !seen.state.withLock({ $0.versions.contains(last) }) {
                        await connection.send("GET /plugins/whole/whole HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        let answer = try #require(await connection.answer())
                        #expect(answer.status == 200, "\(answer.body)")
                        let match = try #require(answer.body.wholeMatch(of: /\{"begun":(\d+),"ended":(\d+)\}/), "\(answer.body)")
                        #expect(match.1 == match.2)
                        seen.state.withLock { seen in
                            seen.versions.insert(Int(match.1) ?? -1)
                            seen.count += 1
                        }
                    }
                }
            }
            group.addTask {
                for number in 1...last {
                    // As many requests as the server should have answered in a tenth of a second.
                    let goal = seen.state.withLock { $0.count } + 50
                    while seen.state.withLock({ $0.count }) < goal { await Task.yield() }
                    let draft = folder.url.appending(path: "plugins/whole/.draft")
                    try Data(Self.source(number).utf8).write(to: draft)
                    #expect(rename(draft.path, folder.url.appending(path: "plugins/whole/init.lua").path) == 0)
                }
            }
            try await group.waitForAll()
        }
        #expect(seen.state.withLock { $0.versions.count } > 2)
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }
}

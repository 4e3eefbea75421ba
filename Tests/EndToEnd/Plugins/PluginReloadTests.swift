import Foundation
import Support
import Synchronization
import Testing

/// Requests to a plugin's route while its file changes.
@Suite struct PluginReloadTests {
    /// Sends this many requests on one connection. Each must succeed and come from one version. Returns the versions seen.
    private static func versions(answering count: Int, port: Int) async throws -> Set<Int> {
        let connection = try WireConnection(port: port)
        var versions: Set<Int> = []
        for _ in 0..<count {
            await connection.send("GET /plugins/whole/whole HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let answer = try #require(await connection.answer())
            #expect(answer.status == 200, "\(answer.body)")
            let match = try #require(answer.body.wholeMatch(of: /\{"begun":(\d+),"ended":(\d+)\}/), "\(answer.body)")
            #expect(match.1 == match.2)
            versions.insert(try #require(Int(match.1)))
        }
        return versions
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

    @Test func `no request fails while the file changes, and each is answered by a single version`() async throws {
        let last = 25
        let folder = try ScriptFolder(["plugins/whole/init.lua": Self.source(0), "plugins/plugins.yaml": "- name: whole\n"])
        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none"], in: folder.url)
        let screen = try await server.hear("Press Ctrl-C to stop.")
        let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        var versions: Set<Int> = []
        for number in 1...last {
            // The file is replaced while requests are in progress.
            try await withThrowingTaskGroup(of: Set<Int>.self) { group in
                for _ in 0..<4 { group.addTask { try await Self.versions(answering: 12, port: port) } }
                let draft = folder.url.appending(path: "plugins/whole/.draft")
                try Data(Self.source(number).utf8).write(to: draft)
                #expect(rename(draft.path, folder.url.appending(path: "plugins/whole/init.lua").path) == 0)
                for try await found in group { versions.formUnion(found) }
            }
            // Changes in quick succession count as one, so that most versions may never be live.
            guard number.isMultiple(of: 5) else { continue }
            try await until {
                versions.formUnion(try await Self.versions(answering: 1, port: port))
                return versions.contains(number)
            }
        }
        #expect(versions.count > 2)
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }
}

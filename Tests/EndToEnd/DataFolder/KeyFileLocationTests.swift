import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// A key file outside of the data folder, and commands that get the folder without the settings.
@Suite struct KeyFileLocationTests {
    private static let settings = "data: data\nkey:\n  file: elsewhere.key\n"
    private let folder: ScriptFolder

    init() throws { folder = try ScriptFolder(["s.yaml": Self.settings]) }

    private func url(_ path: String) -> URL { folder.url.appending(path: path) }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: url(path).path) }

    private func run(_ words: String...) async throws -> BuiltProgram { try await BuiltProgram.run(words, in: folder.url) }

    /// Serves from the folder `data` while `body` runs.
    private func serving(_ options: String..., body: () async throws -> Void = {}) async throws {
        let server = try Dialogue(
            ["serve", "--port", "0", "--tls-port", "none"] + options, in: folder.url, environment: ["PUSHHOST_LOG_LEVEL": "warning"])
        try await server.hear("Press Ctrl-C to stop.")
        try await body()
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    /// The values of the access keys.
    private func keys() async throws -> Set<String> {
        let keys = try await run("key", "list", "--reveal", "--hub", "hub", "--data", "data")
        #expect(keys.status == 0, "\(keys.errors)")
        return Set(keys.output.matches(of: /SharedAccessKey=(\S+)/).map { String($0.1) })
    }

    private func recorded() throws -> String? { try JSON(parsing: Array(try Data(contentsOf: url("data/identity.json"))))["key"]?.string }

    /// Serves with a key outside of the folder and makes a backup.
    ///
    /// - Returns: the access keys.
    private func used() async throws -> Set<String> {
        var before: Set<String> = []
        try await serving("--config", "s.yaml") {
            before = try await keys()
            #expect(try await run("hub", "backup", "kept.sqlite", "--data", "data").status == 0)
        }
        #expect(before.count == 4)
        return before
    }

    private static let commands = [
        ["serve", "--port", "0", "--tls-port", "none"], ["hub", "renew-secrets", "--yes"],
        ["hub", "restore", "kept.sqlite", "--yes", "--renew-secrets"], ["hub", "restore", "kept.sqlite", "--yes"],
    ]

    @Test func `The data folder records where its key is, so that the key does not count as lost without the settings`() async throws {
        let before = try await used()
        let place = try #require(try recorded())
        #expect(place.hasPrefix("/") && place.hasSuffix("/elsewhere.key"))
        let database = try Data(contentsOf: url("data/pushhost.sqlite"))
        for command in Self.commands {
            let refused = try await BuiltProgram.run(command + ["--data", "data"], in: folder.url)
            #expect(refused.status == 2 && refused.errors.contains("error[data.key_missing]"), "\(command): \(refused.errors)")
            #expect(refused.errors.contains("the key file of the data folder data is \(place)"), "\(refused.errors)")
            #expect(refused.errors.contains("--config") && refused.errors.contains("--key-is-lost"), "\(refused.errors)")
        }
        // The key file of something else does not change that.
        try Data(repeating: 1, count: 32).write(to: url("data/payload.key"))
        for command in Self.commands.dropFirst() {
            let refused = try await BuiltProgram.run(command + ["--data", "data"], in: folder.url)
            #expect(refused.status == 2 && refused.errors.contains("error[data.key_missing]"), "\(command): \(refused.errors)")
        }
        let other = try await run("doctor", "--data", "data")
        #expect(other.status == 1 && other.output.contains("✗ secrets       the key file of the data folder data is"), "\(other.output)")
        try FileManager.default.removeItem(at: url("data/payload.key"))
        let sick = try await run("doctor", "--data", "data")
        #expect(sick.status == 1 && sick.output.contains("✗ payload key   the key file of the data folder data is"), "\(sick.output)")
        #expect(sick.output.contains("--config") && !sick.output.contains("payload.key is gone"), "\(sick.output)")
        #expect(try Data(contentsOf: url("data/pushhost.sqlite")) == database && !exists("data/payload.key"))
        // The settings find the key.
        let renewed = try await run("hub", "renew-secrets", "--config", "s.yaml", "--yes")
        #expect(
            renewed.status == 0 && renewed.output.contains("all secrets can be decrypted with the key file; nothing was changed"),
            "\(renewed.errors)")
        #expect(try await run("hub", "restore", "kept.sqlite", "--yes", "--config", "s.yaml").status == 0)
        var after: Set<String> = []
        try await serving("--config", "s.yaml") { after = try await keys() }
        #expect(after == before)
        #expect(try recorded() == place)
    }

    @Test func `A lost key outside of the folder is given up with --key-is-lost, and the folder then has its own`()
        async throws
    {
        let before = try await used()
        try FileManager.default.removeItem(at: url("elsewhere.key"))
        let renewed = try await run("hub", "renew-secrets", "--data", "data", "--yes", "--key-is-lost")
        #expect(renewed.status == 0 && renewed.output.contains("new access keys of hub \"hub\""), "\(renewed.output)\(renewed.errors)")
        #expect(exists("data/payload.key"))
        #expect(try recorded() == nil)
        var after: Set<String> = []
        try await serving("--data", "data") { after = try await keys() }
        #expect(after.count == before.count && after.isDisjoint(with: before))
        // Settings that still name the old location do not create another key.
        let refused = try await BuiltProgram.run(Self.commands[0] + ["--config", "s.yaml"], in: folder.url)
        #expect(refused.status == 2 && refused.errors.contains("mv data/payload.key elsewhere.key"), "\(refused.errors)")
    }

    @Test func `A backup is restored without the folder's lost key by --key-is-lost`() async throws {
        let before = try await used()
        try FileManager.default.removeItem(at: url("elsewhere.key"))
        let restored = try await run("hub", "restore", "kept.sqlite", "--yes", "--renew-secrets", "--key-is-lost", "--data", "data")
        #expect(restored.status == 0 && restored.output.contains("new access keys of hub \"hub\""), "\(restored.errors)")
        #expect(try recorded() == nil)
        try await serving("--data", "data") {
            let after = try await keys()
            #expect(after.count == before.count && after.isDisjoint(with: before))
        }
    }

    @Test func `A key that was moved back into the folder is found there, and the folder records that`() async throws {
        let before = try await used()
        try FileManager.default.moveItem(at: url("elsewhere.key"), to: url("data/payload.key"))
        let renewed = try await run("hub", "renew-secrets", "--data", "data", "--yes")
        #expect(
            renewed.status == 0 && renewed.output.contains("all secrets can be decrypted with the key file; nothing was changed"),
            "\(renewed.errors)")
        #expect(try recorded() == nil)
        try await serving("--data", "data") {
            let after = try await keys()
            #expect(after == before)
        }
        // The same for new settings, and for a backup sealed with another key.
        try await serving("--data", "other")
        #expect(try await run("hub", "backup", "other.sqlite", "--data", "other").status == 0)
        try FileManager.default.moveItem(at: url("data/payload.key"), to: url("elsewhere.key"))
        try await serving("--config", "s.yaml")
        try FileManager.default.moveItem(at: url("elsewhere.key"), to: url("data/payload.key"))
        let restored = try await run("hub", "restore", "other.sqlite", "--yes", "--renew-secrets", "--data", "data")
        #expect(restored.status == 0 && restored.output.contains("new access keys of hub \"hub\""), "\(restored.errors)")
        #expect(try recorded() == nil)
    }
}

import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// The key file of a server: its location, and what happens without it.
@Suite struct KeyFileTests {
    private let folder: ScriptFolder

    init() throws { folder = try ScriptFolder() }

    private func url(_ path: String) -> URL { folder.url.appending(path: path) }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: url(path).path) }

    private func run(_ words: String..., key: String? = nil) async throws -> BuiltProgram {
        try await BuiltProgram.run(words, in: folder.url, environment: key.map { ["PUSHHOST_KEY_FILE": $0] } ?? [:])
    }

    /// Serves from the folder `data` while `body` runs.
    private func serving(key: String? = nil, data: String = "data", _ body: () async throws -> Void = {}) async throws {
        var environment = ["PUSHHOST_LOG_LEVEL": "warning"]
        environment["PUSHHOST_KEY_FILE"] = key
        let server = try Dialogue(
            ["serve", "--port", "0", "--tls-port", "none", "--data", data], in: folder.url, environment: environment)
        try await server.hear("Press Ctrl-C to stop.")
        try await body()
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    private func refused(key: String? = nil) async throws -> BuiltProgram {
        try await run("serve", "--port", "0", "--tls-port", "none", "--data", "data", key: key)
    }

    /// The connection strings of the server and its hub.
    private func keys() async throws -> String {
        let all = try await run("key", "list", "--reveal", "--data", "data")
        let hub = try await run("key", "list", "--reveal", "--hub", "hub", "--data", "data")
        #expect(all.status == 0 && hub.status == 0, "\(all.errors)\(hub.errors)")
        return all.output + hub.output
    }

    @Test func `key.file names a location outside of the data folder, and the file is readable only by its owner`() async throws {
        try await serving(key: "elsewhere.key") {}
        #expect(exists("elsewhere.key") && !exists("data/payload.key"))
        let attributes = try FileManager.default.attributesOfItem(atPath: url("elsewhere.key").path)
        #expect(attributes[.posixPermissions] as? Int == 0o600 && attributes[.size] as? Int == 32)
        let key = try Data(contentsOf: url("elsewhere.key"))
        try await serving(key: "elsewhere.key") {}
        #expect(try Data(contentsOf: url("elsewhere.key")) == key)
        let well = try await run("doctor", "--data", "data", key: "elsewhere.key")
        #expect(well.output.contains("✓ secrets       encrypted with the key in elsewhere.key"), "\(well.output)")
        // Secrets are often mounted as links.
        try FileManager.default.createSymbolicLink(atPath: url("link.key").path, withDestinationPath: "elsewhere.key")
        try await serving(key: "link.key") {}
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url("elsewhere.key").path)
        let open = try await run("doctor", "--data", "data", key: "elsewhere.key")
        #expect(open.status == 1 && open.output.contains("✗ payload key   other users can read elsewhere.key"), "\(open.output)")
    }

    @Test func `An unusable key location is reported, and no data is created with another key`() async throws {
        let missing = try await refused(key: "no/folder/key")
        #expect(missing.status == 2 && missing.errors.contains("error[data.payload_key]: key.file: no/folder/key cannot be created"))
        #expect(!exists("data/pushhost.sqlite"))
    }

    @Test func `A missing key file of a used database is not replaced, and the error says what to do`() async throws {
        try await serving {}
        try FileManager.default.moveItem(at: url("data/payload.key"), to: url("away"))
        for program in [try await refused(), try await refused(key: "other.key")] {
            #expect(program.status == 2 && program.errors.contains("error[data.key_missing]"), "\(program.errors)")
            #expect(program.errors.contains("pushhost hub renew-secrets"))
        }
        #expect(!exists("data/payload.key") && !exists("other.key"))
        let sick = try await run("doctor", "--data", "data")
        #expect(sick.status == 1 && sick.output.contains("✗ payload key   data/payload.key is missing"), "\(sick.output)")
        // A backup is still possible.
        #expect(try await run("hub", "backup", "kept.sqlite", "--data", "data").status == 0)
        try FileManager.default.moveItem(at: url("away"), to: url("data/payload.key"))
        // If the settings name another file, the error says to move the old one there.
        let moved = try await refused(key: "other.key")
        #expect(moved.status == 2 && moved.errors.contains("mv data/payload.key other.key"), "\(moved.errors)")
        try FileManager.default.moveItem(at: url("data/payload.key"), to: url("other.key"))
        try await serving(key: "other.key") {}
    }

    @Test func `A folder whose key is elsewhere is not taken for a new one, and the doctor reports the same`() async throws {
        try await serving(key: "elsewhere.key") {}
        for name in ["identity.json", "pushhost.sqlite"] { try FileManager.default.removeItem(at: url("data/\(name)")) }
        for finding in ["is missing", "is empty"] {
            if finding == "is empty" { try Data().write(to: url("data/pushhost.sqlite")) }
            let program = try await refused(key: "elsewhere.key")
            let text = "the database data/pushhost.sqlite \(finding), although a server has used its folder"
            #expect(program.status == 2 && program.errors.contains("error[storage.damaged]: \(text)"), "\(program.errors)")
            #expect(program.errors.contains("remove data/lock"), "\(program.errors)")
            let doctor = try await run("doctor", "--data", "data", key: "elsewhere.key")
            #expect(doctor.status == 1 && doctor.output.contains("✗ database      \(text)"), "\(doctor.output)")
            #expect(!exists("data/identity.json") && exists("data/pushhost.sqlite") == (finding == "is empty"))
        }
        // As the error says for a folder in which nothing was stored.
        for name in ["lock", "pushhost.sqlite"] { try FileManager.default.removeItem(at: url("data/\(name)")) }
        try await serving(key: "elsewhere.key") {}
    }

    @Test func `A dangling link as key file does not count as a lost key, and the secrets stay`() async throws {
        try await serving(key: "far.key") {}
        try FileManager.default.moveItem(at: url("far.key"), to: url("away.key"))
        try FileManager.default.createSymbolicLink(atPath: url("far.key").path, withDestinationPath: "not/mounted.key")
        let renewed = try await run("hub", "renew-secrets", "--data", "data", "--yes", key: "far.key")
        #expect(renewed.status != 0 && renewed.errors.contains("error[data.payload_key]"), "\(renewed.output)\(renewed.errors)")
        try FileManager.default.removeItem(at: url("far.key"))
        try FileManager.default.moveItem(at: url("away.key"), to: url("far.key"))
        try await serving(key: "far.key") {}
    }

    @Test func `Renewing secrets after a lost key creates new access keys, and devices stay`() async throws {
        var before = ""
        try await serving {
            before = try await keys()
            let device = #"{"installationId":"a","platform":"apns","pushChannel":"\#(String(repeating: "0a", count: 32))","tags":["t"]}"#
            let put = try await BuiltProgram.shell(
                "curl -s -o /dev/null -w '%{http_code}' --unix-socket data/pushhost.sock -X PUT "
                    + "'http://localhost/hub/installations/a?api-version=2020-06' -d '\(device)'", in: folder.url)
            #expect(put.output == "200", "\(put.output)\(put.errors)")
            let secret = try await BuiltProgram.shell(
                "printf s3cret | $P hub credentials set wns --package-sid ms-app://s-1-15-2-1-2-3-4-5-6-7 --client-secret-file - "
                    + "--data data",
                in: folder.url)
            #expect(secret.status == 0, "\(secret.errors)")
            let running = try await run("hub", "renew-secrets", "--yes", "--data", "data")
            #expect(running.status == 2 && running.errors.contains("error[data.in_use]"), "\(running.errors)")
        }
        let whole = try await run("hub", "renew-secrets", "--yes", "--data", "data")
        #expect(
            whole.status == 0 && whole.output.contains("all secrets can be decrypted with the key file; nothing was changed"),
            "\(whole.output)")
        // A key that does not open the database.
        try Data(repeating: 1, count: 32).write(to: url("data/payload.key"))
        let other = try await refused()
        #expect(other.status == 2 && other.errors.contains("error[storage.sealed]"), "\(other.errors)")
        #expect(other.errors.contains("pushhost hub renew-secrets") && !other.errors.contains("backup"), "\(other.errors)")
        #expect(
            try await run("doctor", "--data", "data").output.contains(
                "✗ secrets       encrypted with another key than data/payload.key"))
        let unasked = try await run("hub", "renew-secrets", "--data", "data")
        #expect(unasked.status == 2 && unasked.errors.contains("--yes"), "\(unasked.errors)")
        let renewed = try await run("hub", "renew-secrets", "--yes", "--data", "data")
        #expect(renewed.status == 0, "\(renewed.errors)")
        for line in [
            "new access keys of the server: RootManageSharedAccessKey", "new access keys of hub \"hub\": ",
            "removed push credentials of hub \"hub\": Wns",
        ] {
            #expect(renewed.output.contains(line), "\(renewed.output)")
        }
        try await serving {
            let after = try await keys()
            func names(_ text: String) -> [String] { text.matches(of: /SharedAccessKeyName=(\w+)/).map { String($0.1) } }
            func values(_ text: String) -> Set<String> { Set(text.matches(of: /SharedAccessKey=(\S+)/).map { String($0.1) }) }
            #expect(names(after) == names(before) && values(after).isDisjoint(with: values(before)) && values(after).count == 6)
            #expect(try await run("devices", "--data", "data").output.contains("a "))
            #expect(try await run("hub", "credentials", "show", "--data", "data").output.contains("no credentials"))
            let audit = try await run("audit", "list", "--action", "secrets.renew", "--data", "data")
            #expect(audit.output.contains("secrets.renew"), "\(audit.output)")
        }
    }

    @Test func `A backup of another server is restored with its key or with new secrets, also while a server runs`() async throws {
        var before = ""
        try await serving {
            before = try await keys()
            #expect(try await run("hub", "backup", "kept.sqlite", "--data", "data").status == 0)
        }
        try FileManager.default.moveItem(at: url("data"), to: url("old"))
        try await serving {
            let own = try await keys()
            let refused = try await run("hub", "restore", "kept.sqlite", "--yes", "--data", "data")
            #expect(refused.status == 4 && refused.errors.contains("error[storage.sealed]"), "\(refused.errors)")
            #expect(refused.errors.contains("the database kept.sqlite") && refused.errors.contains("--renew-secrets"), "\(refused.errors)")
            // The server's own database needs its own key.
            #expect(refused.errors.contains("stop the server") && !refused.errors.contains("hub renew-secrets"), "\(refused.errors)")
            #expect(try await keys() == own)
            let renewed = try await run("hub", "restore", "kept.sqlite", "--yes", "--renew-secrets", "--data", "data")
            #expect(
                renewed.status == 0 && renewed.output.contains("new access keys of hub \"hub\""), "\(renewed.output)\(renewed.errors)")
            let after = try await keys()
            #expect(after != own && after != before)
        }
        // Without a server: a new folder gets its own key only with new secrets.
        let keyless = try await run("hub", "restore", "kept.sqlite", "--yes", "--data", "new")
        #expect(keyless.status == 2 && keyless.errors.contains("error[storage.sealed]"), "\(keyless.errors)")
        #expect(keyless.errors.contains("add --renew-secrets") && !keyless.errors.contains("stop the server"), "\(keyless.errors)")
        #expect(!exists("new/payload.key") && !exists("new/pushhost.sqlite"))
        let fresh = try await run("hub", "restore", "kept.sqlite", "--yes", "--renew-secrets", "--data", "new", "--json")
        let renewed = try JSON(parsing: fresh.output)["result"]?["renewed"]
        #expect(fresh.status == 0 && renewed?["keys"] == ["RootManageSharedAccessKey"], "\(fresh.output)\(fresh.errors)")
        try await serving(data: "new") {}
        // With the key file everything is as before.
        try FileManager.default.removeItem(at: url("data/payload.key"))
        try FileManager.default.copyItem(at: url("old/payload.key"), to: url("data/payload.key"))
        #expect(try await run("hub", "restore", "kept.sqlite", "--yes", "--data", "data").status == 0)
        var restored = ""
        try await serving { restored = try await keys() }
        func values(_ text: String) -> Set<String> { Set(text.matches(of: /SharedAccessKey=(\S+)/).map { String($0.1) }) }
        #expect(values(restored) == values(before))
    }
}

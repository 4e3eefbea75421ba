import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// `pushhost hub backup` and `restore`, with and without a running server.
@Suite struct BackupTests {
    private static let registration =
        #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AppleRegistrationDescription "#
        + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><Tags>TAG</Tags><DeviceToken>"#
        + String(repeating: "0123456789abcdef", count: 4) + "</DeviceToken></AppleRegistrationDescription></content></entry>"

    private static func register(_ tag: String, at hub: ServedHub) async throws {
        let answer = try await hub.call(
            "POST", "/hub/registrations?api-version=2015-01", ["Content-Type": "application/atom+xml"],
            body: registration.replacing("TAG", with: tag))
        #expect(answer.status == 200, "\(answer.body)")
    }

    private static func tags(at hub: ServedHub) async throws -> [String] {
        try await hub.call("GET", "/hub/registrations?api-version=2015-01").body.matches(of: /<Tags>(\w+)</).map { String($0.1) }
    }

    @Test func `A running server is backed up and restored, and an invalid backup changes nothing`() async throws {
        try await ServedHub.serving { hub in
            try await Self.register("early", at: hub)
            #expect(try await hub.command(["hub", "backup", "a.sqlite"]).status == 0)
            try await Self.register("late", at: hub)
            let taken = try await hub.command(["hub", "backup", "a.sqlite"])
            #expect(taken.status == 2)
            #expect(taken.errors.contains("error[storage.backup_exists]"), "\(taken.errors)")
            let second = try await hub.command(["hub", "backup", "b.sqlite", "--json"])
            #expect(try JSON(parsing: second.output)["result"]?["file"]?.string == "b.sqlite")

            let unasked = try await hub.command(["hub", "restore", "a.sqlite"])
            #expect(unasked.status == 2)
            #expect(unasked.errors.contains("pass --yes"))
            #expect(try await hub.command(["hub", "restore", "a.sqlite", "--yes"]).status == 0)
            #expect(try await Self.tags(at: hub) == ["early"])
            try await Self.register("again", at: hub)

            try Data("no database".utf8).write(to: hub.data.appending(path: "../bad"))
            let bad = try await hub.command(["hub", "restore", "bad", "--yes"])
            #expect(bad.status == 2)
            #expect(bad.errors.contains("file bad cannot be used"), "\(bad.errors)")
            #expect(try await Self.tags(at: hub) == ["early", "again"])

            #expect(try await hub.command(["hub", "backup", "a.sqlite", "--force"]).status == 0)
            #expect(try await hub.command(["hub", "restore", "b.sqlite", "--yes"]).status == 0)
            #expect(try await Self.tags(at: hub) == ["early", "late"])
            #expect(try await hub.command(["hub", "backup", "none/a.sqlite"]).status == 1)
            for (target, why) in [
                ("data/pushhost.sqlite", "the data folder"), ("data/new.sqlite", "the data folder"), ("/dev/full", "not a regular file"),
            ] {
                let refused = try await hub.command(["hub", "backup", target, "--force"])
                #expect(refused.status == 1 && refused.errors.contains(why), "\(refused.errors)")
            }
            for source in ["data/pushhost.sqlite", "data/lock"] {
                let refused = try await hub.command(["hub", "restore", source, "--yes"])
                #expect(refused.status == 1 && refused.errors.contains("the data folder"), "\(refused.errors)")
            }
            try await Self.register("safe", at: hub)
            // In a copy of the folder, recent changes are only in the write-ahead log.
            let snapshot = hub.data.appending(path: "../snapshot")
            try FileManager.default.createDirectory(at: snapshot, withIntermediateDirectories: true)
            for name in ["pushhost.sqlite", "pushhost.sqlite-wal"] {
                try FileManager.default.copyItem(at: hub.data.appending(path: name), to: snapshot.appending(path: name))
            }
            let tags = try await Self.tags(at: hub)
            #expect(tags.contains("safe"))
            try await Self.register("gone", at: hub)
            #expect(try await hub.command(["hub", "restore", "snapshot/pushhost.sqlite", "--yes"]).status == 0)
            #expect(try await Self.tags(at: hub) == tags)
            let elsewhere = try await BuiltProgram.run(
                ["hub", "backup", "c.sqlite"], in: hub.data.appending(path: ".."),
                environment: ["PUSHHOST_CONNECTION": "Endpoint=sb://other/;SharedAccessKeyName=a;SharedAccessKey=b"])
            #expect(elsewhere.status == 2 && elsewhere.errors.contains("--data"), "\(elsewhere.errors)")
            // No temporary files are left.
            let files = try FileManager.default.contentsOfDirectory(atPath: hub.data.path)
            #expect(!files.contains { $0.hasPrefix("backup-") || $0.contains("restoring") }, "\(files)")
            let beside = try FileManager.default.contentsOfDirectory(atPath: hub.data.appending(path: "..").path)
            #expect(!beside.contains { $0.hasSuffix(".part") }, "\(beside)")
        }
    }

    @Test func `The socket belongs to its owner, needs no key, and is the only way to make a backup`() async throws {
        try await ServedHub.serving { hub in
            let socket = hub.data.appending(path: "pushhost.sock").path
            let rights = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions] as? Int
            #expect(rights == 0o600)
            for path in ["/api/v1/backup", "/api/v1/restore"] {
                for signer in [ServedHub.Signer.root, nil] {
                    let answer = try await hub.call("POST", path, body: #"{"file":"backup-1.sqlite"}"#, by: signer)
                    #expect(answer.status == 403)
                }
            }
            #expect(try await hub.call("GET", "/hub/registrations?api-version=2015-01", by: nil).status == 401)
            let curl = "curl -s -o /dev/null -w '%{http_code}' --unix-socket \(socket)"
            let free = try await BuiltProgram.shell("\(curl) 'http://localhost/hub/registrations?api-version=2015-01'")
            #expect(free.output == "200")
            for name in ["pushhost.sqlite", "../backup-1", "backup-/../x", "backup-\\u0000", ""] {
                let outside = try await BuiltProgram.shell(#"\#(curl) http://localhost/api/v1/backup -d '{"file":"\#(name)"}'"#)
                #expect(outside.output == "400", "\(name)")
            }
        }
    }

    @Test func `Without a server the data folder is used, even with a long path, and no partial file is left`() async throws {
        let folder = try ScriptFolder()
        let deep = (["x"] + Array(repeating: String(repeating: "long", count: 10), count: 4)).joined(separator: "/")
        try FileManager.default.createDirectory(at: folder.url.appending(path: deep), withIntermediateDirectories: true)
        let data = ["--data", "\(deep)/data"]
        #expect(try await BuiltProgram.run(["hub", "backup", "a"] + data, in: folder.url).errors.contains("no server data in"))

        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none"] + data, in: folder.url)
        try await server.hear("Press Ctrl-C to stop.")
        #expect(try await BuiltProgram.run(["hub", "backup", "a"] + data, in: folder.url).status == 0)
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)

        #expect(try await BuiltProgram.run(["hub", "backup", "b"] + data, in: folder.url).status == 0)
        // A backup needs the key file.
        let keyless = try await BuiltProgram.run(["hub", "restore", "b", "--yes", "--data", "new"], in: folder.url)
        #expect(keyless.status == 2 && keyless.errors.contains("the key file new/payload.key is missing"), "\(keyless.errors)")
        try FileManager.default.copyItem(
            at: folder.url.appending(path: "\(deep)/data/payload.key"), to: folder.url.appending(path: "new/payload.key"))
        let restored = try await BuiltProgram.run(["hub", "restore", "b", "--yes", "--data", "new"], in: folder.url)
        #expect(restored.status == 0, "\(restored.errors)")
        let none = try await BuiltProgram.run(["hub", "restore", "c", "--yes"] + data, in: folder.url)
        #expect(none.status == 2)
        #expect(none.errors.contains("error[storage.not_found]"))
        // Files can grow to 64 blocks of 512 bytes.
        let full = try await BuiltProgram.shell(
            "ulimit -f 64; trap '' XFSZ; \"$P\" hub backup full \(data.joined(separator: " "))", in: folder.url)
        #expect(full.status != 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(Set(files) == ["a", "b", "new", "x", "demo_secrets.json"])
    }

    @Test func `A file that is not a backup is rejected before the confirmation, and leaves an empty data folder empty`() async throws {
        let folder = try ScriptFolder(["notes.md": "no backup", "empty": ""])
        let data = folder.url.appending(path: "data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        for (file, code) in [("nofile", "storage.not_found"), ("notes.md", "storage.foreign_file"), ("empty", "storage.foreign_file")] {
            for options in [[], ["--yes"]] {
                let refused = try await BuiltProgram.run(["hub", "restore", file, "--data", "data"] + options, in: folder.url)
                #expect(refused.status == 2 && refused.errors.contains("error[\(code)]"), "\(file): \(refused.errors)")
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: data.path) == [])
    }

    @Test func `A restore replaces a broken database, and all new files belong to the folder's owner`() async throws {
        let folder = try ScriptFolder()
        let data = folder.url.appending(path: "data")
        func serve() async throws -> String {
            let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url)
            let screen = try await server.hear("Press Ctrl-C to stop.")
            server.signal(SIGTERM)
            #expect(await server.end(closingInput: false).status == 0)
            return screen
        }
        _ = try await serve()
        #expect(try await BuiltProgram.run(["hub", "backup", "a", "--data", "data"], in: folder.url).status == 0)
        let database = data.appending(path: "pushhost.sqlite")
        try Data("no database, but longer than a header of one would be".utf8).write(to: database)
        // Leftovers of killed processes.
        let passing = "backup-\(UUID().uuidString.lowercased()).sqlite"
        for name in [passing, "\(passing)-wal", "pushhost.sqlite.restoring", "pushhost.sqlite-wal", "backup-monday.sqlite"] {
            try Data("old".utf8).write(to: data.appending(path: name))
        }
        let isRoot = geteuid() == 0
        if isRoot {
            try FileManager.default.removeItem(at: data.appending(path: "lock"))
            for path in [data.path] + ["backup-monday.sqlite", "payload.key"].map({ data.appending(path: $0).path }) {
                chown(path, 12_345, 12_345)
            }
        }
        let restored = try await BuiltProgram.run(["hub", "restore", "a", "--yes", "--data", "data"], in: folder.url)
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(restored.output.contains("data/pushhost.sqlite has 53 bytes that are not a SQLite database"), "\(restored.output)")
        let names = try FileManager.default.contentsOfDirectory(atPath: data.path)
        // The operator's own file is not deleted.
        #expect(
            names.filter { $0.hasPrefix("backup-") || $0.hasPrefix("pushhost.sqlite") }.sorted() == [
                "backup-monday.sqlite", "pushhost.sqlite",
            ],
            "\(names)")
        if isRoot {
            for name in ["lock", "pushhost.sqlite"] {
                let file = try FileManager.default.attributesOfItem(atPath: data.appending(path: name).path)
                #expect(file[.ownerAccountID] as? Int == 12_345, "\(name)")
            }
            let well = try await BuiltProgram.run(["doctor", "--data", "data"], in: folder.url)
            #expect(well.output.contains("✓ files"), "\(well.output)")
            chown(database.path, 0, 0)
            let sick = try await BuiltProgram.run(["doctor", "--data", "data"], in: folder.url)
            #expect(sick.output.contains("✗ files         data/pushhost.sqlite belongs to user 0"), "\(sick.output)")
        }
        #expect(try await serve().contains("hub hub\n"))
    }
}

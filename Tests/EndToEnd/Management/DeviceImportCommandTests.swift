import Foundation
import HostSupport
import PushModel
import Testing

/// `pushhost devices import` with a server.
@Suite struct DeviceImportCommandTests {
    private static func token(_ number: Int) -> String { String(repeating: "0", count: 60) + String(1000 + number) }

    private static func result(_ program: BuiltProgram) throws -> JSON {
        try #require(try JSON(parsing: program.output)["result"], "\(program.output)\(program.errors)")
    }

    private static func count(_ hub: ServedHub) async throws -> Int? {
        try Self.result(try await hub.command(["hub", "list", "--json"]))["items"]?.array?.first?["installations"]?.int
    }

    @Test func `An import stores devices, reports rejected lines, and can be repeated`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            let file = hub.data.appending(path: "devices.csv")
            var lines = ["id,platform,token,user,tags"]
            for number in 1...1500 { lines.append("pad-\(number),apns,\(Self.token(number)),ana,imported even-\(number % 2)") }
            lines.append("bad,apns,short,,")
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)

            let dry = try Self.result(try await hub.command(["devices", "import", file.path, "--dry-run", "--json"]))
            #expect(dry["valid"] == 1500 && dry["stored"] == 0 && dry["rejected"] == 1)
            #expect(try await Self.count(hub) == 0)
            for _ in 1...2 {
                let done = try await hub.command(["devices", "import", file.path, "--json"])
                #expect(done.status == 7)
                let result = try Self.result(done)
                #expect(result["stored"] == 1500 && result["rejected"] == 1 && result["lastLine"] == 1502)
                #expect(try await Self.count(hub) == 1500)
                let rejects = try String(contentsOfFile: "\(file.path).rejects.csv", encoding: .utf8).split(separator: "\n")
                #expect(rejects.count == 2 && rejects[1].hasPrefix("1502,handle.invalid,"), "\(rejects)")
            }
            let text = try await hub.command(["devices", "import", file.path, "--from-line", "1502"])
            #expect(text.status == 7 && text.output.contains("0 devices imported into hub \"hub\"\n  1 line rejected: see "))
            #expect(try await hub.command(["devices", "import", file.path, "--strict"]).status == 1)
            let sent = try await hub.command(["send", "Hello", "--to", "even-1"])
            #expect(sent.output.contains("750 of 750 sent"), "\(sent.output)\(sent.errors)")
        }
    }

    @Test func `Installations as JSON come from standard input, and registrations of an export keep their ids`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            let line = #"{"platform":"apns","pushChannel":"\#(Self.token(1))","tags":["a"]}"#
            let program = "'\(BuiltProgram.executable.path)' devices import - --format ndjson --data '\(hub.data.path)'"
            let piped = try await BuiltProgram.shell("printf '%s\\n' '\(line)' '\(line)' | \(program)", in: hub.data)
            #expect(piped.status == 0 && piped.output == "✓ 2 devices imported into hub \"hub\"\n", "\(piped.output)\(piped.errors)")
            #expect(try await Self.count(hub) == 1)

            let registration = """
                <AppleRegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
                <RegistrationId>1-2-3</RegistrationId><Tags>b</Tags><DeviceToken>\(Self.token(2))</DeviceToken>\
                </AppleRegistrationDescription>
                """
            let file = hub.data.appending(path: "Output.txt")
            try Data("\(registration)\n\(registration.replacing("1-2-3", with: ""))\n".utf8).write(to: file)
            for _ in 1...2 { #expect(try await hub.command(["devices", "import", file.path]).status == 0) }
            let items = try Self.result(try await hub.command(["devices", "--tag", "b", "--json"]))["items"]?.array ?? []
            #expect(items.count == 2 && items.contains { $0["registrationId"] == "1-2-3" })

            let all = hub.data.appending(path: "all.ndjson").path
            let exported = try await hub.command(["devices", "export", all])
            #expect(exported.output == "✓ 3 devices exported from hub \"hub\" to \(all)\n", "\(exported.output)\(exported.errors)")
            #expect(try await hub.command(["devices", "export", all]).status == 2)
            #expect(try await hub.command(["devices", "import", all]).output.hasPrefix("✓ 3 devices imported"))
            let lines = try await hub.command(["devices", "export", "-", "--format", "csv"]).output.split(separator: "\n")
            #expect(lines.count == 4 && lines[0] == "id,platform,token,user,tags" && lines.dropFirst().allSatisfy { $0.contains(",apns,") })
        }
    }

    @Test(arguments: [
        (["devices.json"], "the format of devices.json is unknown"), (["-"], "the format of standard input is unknown"),
        (["none.csv"], "none.csv cannot be read"), (["a.txt", "--platform", "apns"], "only for CSV"),
        (["a.csv", "--from-line", "0"], "expected a whole number from 1"),
    ])
    func `An import that cannot begin says why`(arguments: [String], message: String) async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            let program = try await hub.command(["devices", "import"] + arguments)
            #expect(program.status == 2 && program.errors.contains(message), "\(program.errors)")
        }
    }
}

import Delivery
import Foundation
import HTTPTypes
import HostSupport
import PushModel
import Support
import Testing

/// `pushhost simulate`, with senders in another process.
@Suite struct SimulateTests {
    private static let platforms: [Platform] = [.apns, .fcmV1, .wns, .browser]

    @Test func `senders of all four services reach phones over the network`() async throws {
        let bench = try await SimulatorBench()
        for platform in Self.platforms {
            let name = SimulatorBench.word(platform)
            let verdict = try await bench.send(to: try await bench.phone(name, platform))
            guard case .accepted(let id?) = verdict else {
                Issue.record("\(platform): \(verdict)")
                continue
            }
            let inbox = try await bench.inbox(name)
            #expect(inbox.map { $0["text"]?.string } == ["Hello"])
            #expect(inbox.first?["is_shown"]?.bool == true)
            let line = try #require(try await bench.ledger().last)
            #expect(line["service"]?.string == name)
            #expect(id.hasSuffix(try #require(line["push_id"]?.string)))
            #expect(line["reason"] == .null)
        }
        #expect(try await bench.ledger().map { $0["number"]?.int } == [1, 2, 3, 4])
        #expect(try await bench.ledger("?after=1&limit=2").map { $0["number"]?.int } == [2, 3])
        #expect(try await bench.ledger()[0]["payload"]?.string == #"{"aps":{"alert":"Hello"}}"#)
        #expect(try await bench.ledger()[3]["payload_base64url"]?.string?.isEmpty == false)
        #expect(try await bench.get("/phones")["phones"]?.array?.map { $0["name"]?.string } == ["apns", "fcm", "wns", "browser"])
        #expect(await bench.end().status == 0)
    }

    @Test func `pushes to unknown phones and configured refusals are rejected, and both are in the ledger`() async throws {
        let bench = try await SimulatorBench()
        let stranger = try DeviceHandle(platform: .apns, text: String(repeating: "ab", count: 32))
        #expect(try await bench.send(to: stranger).word == "BadDeviceToken")
        let ana = try await bench.phone("ana", .wns)
        let bob = try await bench.phone("bob", .wns)
        let fault = try await bench.call(
            .post, "/faults/wns", #"{"reason": "DomainBlocked", "count": 1, "handle": "\#(ana.text)"}"#)
        #expect(fault.status == 200)
        #expect(try await bench.send(to: bob).word == "accepted")
        let refused = try await bench.send(to: ana)
        #expect(refused.word != "accepted")
        #expect(try await bench.send(to: ana).word == "accepted")
        #expect(
            try await bench.ledger().map { $0["reason"]?.string } == ["BadDeviceToken", nil, "DomainBlocked", nil])
        #expect(try await bench.ledger().map { $0["status"]?.int } == [400, 200, 410, 200])
        #expect(try await bench.ledger()[2]["handle"]?.string == ana.text)

        let browser = try await bench.phone("eve", .browser)
        _ = try await bench.call(.post, "/faults/browser", #"{"reason": "Gone"}"#)
        for _ in 0..<2 { #expect(try await bench.send(to: browser).word == "Gone") }
        #expect(try await bench.call(.delete, "/faults/browser").status == 200)
        #expect(try await bench.send(to: browser).word == "accepted")
        #expect(await bench.end(SIGTERM).status == 0)
    }

    @Test func `with --adopt a well-formed handle becomes a phone, and any other is rejected`() async throws {
        let bench = try await SimulatorBench(["--adopt"])
        let token = String(repeating: "ab", count: 32)
        let handles = [
            try DeviceHandle(platform: .apns, text: token),
            try DeviceHandle(platform: .fcmV1, text: "\(String(repeating: "i", count: 22)):\(String(repeating: "t", count: 140))"),
            try DeviceHandle(platform: .wns, text: "https://db5.notify.windows.com/?token=AwYAAA"),
        ]
        for handle in handles {
            for _ in 0..<2 { #expect(try await bench.send(to: handle).word == "accepted") }
        }
        let phones = try #require(try await bench.get("/phones")["phones"]?.array)
        #expect(phones.map { $0["handle"]?.string?.lowercased() } == handles.map { $0.text.lowercased() })
        #expect(try await bench.inbox(token).count == 2)
        let channel = try #require(handles[2].text.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        #expect(try await bench.inbox(channel).count == 2)

        let endpoint = "https://updates.push.services.mozilla.com/wpush/v2/made-up"
        let keys = try await SimulatedKeys.browser(bench)
        let browser = try DeviceHandle(endpoint: endpoint, p256dh: keys.p256dh, auth: keys.auth)
        #expect(try await bench.send(to: browser).word == "accepted")
        let name = try #require(endpoint.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        #expect(try await bench.inbox(name).first?["reason_not_shown"]?.string?.contains("adopted") == true)

        #expect(try await bench.send(to: try DeviceHandle(platform: .apns, text: "ABCD")).word == "BadDeviceToken")
        #expect(try await bench.send(to: try DeviceHandle(platform: .fcmV1, text: "short")).word == "INVALID_ARGUMENT")
        #expect(await bench.end().status == 0)
    }

    @Test func `the folder stores the keys and a ledger that is continued`() async throws {
        let folder = try ScriptFolder()
        let first = try await SimulatorBench(["--data", "sim"], in: folder.url)
        let keys = try await first.call(.get, "/credentials").text
        let stranger = try DeviceHandle(platform: .apns, text: String(repeating: "ab", count: 32))
        _ = try await first.send(to: stranger)
        let ledger = folder.url.appending(path: "sim/ledger.jsonl")
        // Every line is written before the response is sent.
        #expect(try String(contentsOf: ledger, encoding: .utf8) == (try await first.call(.get, "/ledger").text))
        #expect(await first.end().status == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.appending(path: "sim/credentials.json").path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        // The file after a crash.
        try (String(contentsOf: ledger, encoding: .utf8) + #"{"number":2,"ti"#).write(to: ledger, atomically: true, encoding: .utf8)
        let second = try await SimulatorBench(["--data", "sim"], in: folder.url)
        #expect(try await second.call(.get, "/credentials").text == keys)
        _ = try await second.send(to: stranger)
        #expect(await second.end().status == 0)
        let lines = try String(contentsOf: ledger, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4)
        #expect(lines[2].hasPrefix(#"{"number":1,"#))
        #expect(lines[3].isEmpty)
    }

    @Test func `the control plane takes a phone offline and sets low power`() async throws {
        let bench = try await SimulatorBench()
        let handle = try await bench.phone("ana", .wns)
        func state() async throws -> [JSON?] {
            let json = try JSON(parsing: try await bench.call(.get, "/phones/ana").text)
            return [json["is_online"], json["is_in_low_power"], json["inbox"]?.array.map { .integer(Int64($0.count)) }]
        }
        func act(_ action: String) async throws {
            #expect(try await bench.call(.post, "/phones/ana/actions", #"{"action": "\#(action)"}"#).status == 200)
        }
        #expect(try await state() == [true, false, 0])
        try await act("offline")
        _ = try await bench.send(to: handle)
        #expect(try await state() == [false, false, 0])
        try await act("online")
        #expect(try await state() == [true, false, 1])
        try await act("low_power")
        #expect(try await state() == [true, true, 1])
        try await act("force_quit")
        try await act("launch")
        try await act("full_power")
        #expect(try await state() == [true, false, 1])
        #expect(await bench.end().status == 0)
    }

    @Test func `an invalid request to the control plane is rejected with a hint`() async throws {
        let bench = try await SimulatorBench()
        _ = try await bench.phone("taken", .apns)
        let cases = [
            ("GET", "/nope", "", 404, "simulator.path"), ("POST", "/health/live", "", 404, "simulator.path"),
            ("POST", "/phones", "[]", 400, "simulator.request"), ("POST", "/phones", #"{"name": "a"}"#, 400, "simulator.request"),
            ("POST", "/phones", #"{"name": "a", "platform": "nokia"}"#, 400, "simulator.request"),
            ("POST", "/phones", #"{"name": 7, "platform": "apns"}"#, 400, "simulator.request"),
            ("POST", "/phones", #"{"name": "a", "platform": "apns", "colour": "red"}"#, 400, "simulator.request"),
            ("POST", "/phones", #"{"name": "taken", "platform": "fcm"}"#, 409, "device.exists"),
            ("POST", "/phones/taken/actions", #"{"action": "sleep"}"#, 400, "simulator.request"),
            ("POST", "/phones/nobody/actions", #"{"action": "offline"}"#, 404, "device.not_found"),
            ("GET", "/phones/nobody", "", 404, "device.not_found"), ("GET", "/ledger?after=x", "", 400, "simulator.request"),
            ("GET", "/ledger?limit=0", "", 400, "simulator.request"), ("POST", "/faults/sms", "{}", 404, "simulator.path"),
            ("POST", "/faults/apns", #"{"reason": "NoSuchWord"}"#, 400, "simulator.reason"),
            ("POST", "/faults/apns", #"{"reason": "BadTopic", "count": 0}"#, 400, "simulator.request"),
            ("DELETE", "/faults/sms", "", 404, "simulator.path"),
        ]
        for (method, path, body, status, code) in cases {
            let answer = try await bench.call(try #require(.init(rawValue: method)), path, body)
            #expect(answer.status == status, "\(method) \(path) \(body)")
            let json = try JSON(parsing: answer.text)
            #expect(json["code"]?.string == code, "\(method) \(path) \(body)")
            #expect(json["message"]?.string?.isEmpty == false && json["hint"]?.string?.isEmpty == false, "\(method) \(path) \(body)")
        }
        #expect(await bench.end().status == 0)
    }

    @Test func `an unknown host name and an endless body are rejected`() async throws {
        let bench = try await SimulatorBench()
        let stranger = try await bench.call(.post, "/", "{}", host: "push.example.com")
        #expect(stranger.status == 421)
        #expect(stranger.text.contains("simulator.host"))
        let large = try await bench.call(.post, "/phones", String(repeating: " ", count: 70_000))
        #expect(large.status == 413)
        #expect(large.text.contains("simulator.request"))
        #expect(try await bench.call(.get, "/health/live").status == 200)
        #expect(await bench.end().status == 0)
    }

    @Test func `a port in use, an unusable ledger or folder ends the program with its code`() async throws {
        let folder = try ScriptFolder(["junk/credentials.json": "{}", "file": ""])
        let bench = try await SimulatorBench()
        let cases = [
            (["--control-port", String(bench.port)], "simulate.port"), (["--ledger", "no/such/ledger"], "simulate.ledger"),
            (["--ledger", "junk"], "simulate.ledger"), (["--data", "junk"], "simulate.data"),
            (["--data", "no/such/folder"], "simulate.data"), (["--data", "file"], "simulate.data"),
        ]
        for (arguments, code) in cases {
            let program = try await BuiltProgram.run(["simulate", "--port", "0"] + arguments, in: folder.url)
            #expect(program.status == 2, "\(arguments)")
            #expect(program.output == "")
            #expect(program.errors.contains("error[\(code)]"), "\(program.errors)")
        }
        #expect(await bench.end().status == 0)
    }

    @Test func `a ledger that cannot be written ends the program`() async throws {
        let bench = try await SimulatorBench(["--ledger", "/dev/full"])
        _ = try await bench.send(to: try DeviceHandle(platform: .apns, text: String(repeating: "ab", count: 32)))
        await bench.transport.shutdown()
        let end = await bench.dialogue.end(closingInput: false)
        #expect(end.status == 1)
        #expect(end.output.contains("error[output.failed]"))
    }
}

/// Keys of an unused browser.
private enum SimulatedKeys {
    static func browser(_ bench: SimulatorBench) async throws -> (p256dh: String, auth: String) {
        guard case .browser(_, let p256dh, let auth) = try await bench.phone("someone", .browser) else { throw CancellationError() }
        return (p256dh, auth)
    }
}

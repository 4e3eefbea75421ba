import Bindings
import Foundation
import Logging
import PushHub
import PushModel
import PushRuntime
import RemoteHub
import Simulators
import Support
import Testing

@testable import PushLab
@testable import PushServer

/// Sessions of a lab, used with plain requests.
@Suite struct LabSessionTests {
    @Test func `without the key or with a wrong one, a request is rejected without details`() async throws {
        try await LabBench.with { bench in
            for key in [nil, "Bearer wrong", "Bearer", "Basic \(LabBench.key.reveal())", "Bearer \(LabBench.key.reveal())x"] {
                let answer = try await bench.call("POST", "/lab/sessions", #"{"hub":"hub"}"#, key: key)
                #expect(answer.status == 401)
                #expect(answer.json["code"]?.string == "lab.key")
                #expect(answer.json["hint"]?.string?.contains("--reveal") == true)
            }
            // Only the sessions belong to the lab: a hub may be named "lab".
            #expect(try await bench.call("GET", "/lab").json["code"]?.string != "lab.key")
        }
    }

    @Test func `a session returns its hub's connection string, and an unknown hub is rejected with the nearest name`() async throws {
        try await LabBench.with { bench in
            let answer = try await bench.call("POST", "/lab/sessions", #"{"hub":"HUB","run":"r-0001"}"#)
            #expect(answer.status == 201)
            #expect(answer.json["hub"]?.string == "hub")
            let string = try #require(answer.json["connectionString"]?.string)
            #expect(string.hasPrefix("Endpoint=http://127.0.0.1:\(bench.port)/;SharedAccessKeyName=DefaultFull"))
            #expect(string.hasSuffix(";EntityPath=hub"))
            #expect(answer.json["reasons"]?["apns"]?.array?.contains("Unregistered") == true)
            #expect(answer.json["tokenReasons"]?["fcm"]?.array?.contains("invalid_grant") == true)
            #expect(answer.json["tokenReasons"]?["apns"] == nil)
            let missing = try await bench.call("POST", "/lab/sessions", #"{"hub":"hubb"}"#)
            #expect(missing.status == 404)
            #expect(missing.json["code"]?.string == "hub.not_found")
            #expect(missing.json["detail"]?.string?.contains("did you mean \"hub\"?") == true)
        }
    }

    private static let flaws: [(method: String, path: String, body: String, status: Int, words: String)] = [
        ("POST", "", #"{"hub":7}"#, 400, "hub is not a string"), ("POST", "", #"{"hubs":"hub"}"#, 400, "no member \"hubs\""),
        ("POST", "", "{", 400, "not JSON"), ("POST", "", "", 400, "not a JSON object"), ("GET", "", "", 405, "is not supported here"),
        ("GET", "/S/nothing", "", 404, "unknown path of the lab"), ("GET", "/unknown", "", 404, "unknown lab session"),
        ("POST", "/S/phones", #"{"name":"a","platform":"fax"}"#, 400, "no simulated phones for the platform \"fax\""),
        ("POST", "/S/phones", #"{"platform":"apns"}"#, 400, "lacks name"),
        ("GET", "/S/phones/99", "", 404, "no phone 99"), ("GET", "/S/phones/x", "", 404, "no phone x"),
        ("GET", "/S/events?since=-1", "", 400, "invalid value \"-1\" of the parameter since"),
        ("GET", "/S/wire?service=apn", "", 404, "unknown push service"),
        ("POST", "/S/faults/apns", #"{"refuse":{"reason":"Unregisterd"}}"#, 400, "never returns the reason"),
        ("POST", "/S/faults/apns", #"{"refuse":{"reason":"Unregistered","count":0}}"#, 400, "count is not a number from 1"),
        ("POST", "/S/faults/apns", #"{"refuse":{"reason":"Unregistered","share":0}}"#, 400, "above 0"),
        ("POST", "/S/faults/apns", #"{"refuse":{"reason":"Unregistered","share":"half"}}"#, 400, "share is not a number"),
        ("POST", "/S/faults/apns", #"{"refuse":{"reason":"Unregistered","at":"tokens"}}"#, 400, "at is not send or token"),
        ("POST", "/S/faults/apns", #"{"refuse":{"reason":"invalid_grant","at":"token"}}"#, 400, "does not issue access tokens"),
        ("POST", "/S/faults/fcm", #"{"refuse":{"reason":"UNREGISTERED","retryAfter":5}}"#, 400, "does not send Retry-After"),
        ("POST", "/S/faults/fcm", #"{"refuse":{"reason":"UNAVAILABLE","retryAfter":-5}}"#, 400, "from 0 to 1000000"),
        ("POST", "/S/faults/fcm", #"{"revokeTokens":false}"#, 400, "revokeTokens is not true"),
        ("POST", "/S/faults/browser", #"{"revokeTokens":true}"#, 400, "does not issue access tokens"),
        ("POST", "/S/faults/apns", #"{"latency":1,"break":{}}"#, 400, "exactly one of"),
        ("POST", "/S/faults/apns", #"{"latency":-1}"#, 400, "latency is not"),
        ("POST", "/S/clock", #"{"until":"tomorrow"}"#, 400, "until is not an integer"),
        ("POST", "/S/clock", #"{"until":253402300799999}"#, 400, "before the year 9000"),
        ("PUT", "/S/clock", "{}", 405, "is not supported here"),
        ("POST", "/S/accounts", #"{"username":"a b","password":"b"}"#, 400, "it contains a space"),
        ("POST", "/S/accounts", #"{"username":"a","password":""}"#, 400, "is empty"),
    ]

    @Test func `an invalid request is rejected with the reason`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            for (method, path, body, status, words) in Self.flaws {
                let full = path.hasPrefix("/S") ? session + path.dropFirst(2) : "/lab/sessions" + path
                let answer = try await bench.call(method, full, body)
                #expect(answer.status == status)
                #expect(answer.json["detail"]?.string?.contains(words) == true, "\(answer.json.text())")
                #expect(answer.json["code"]?.string != nil && answer.json["hint"]?.string != nil)
            }
        }
    }

    @Test func `a clock beyond its last time accepts its current time and rejects later ones`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            bench.lab.clock.advance(to: LabClock.last + .seconds(1))
            let now = bench.lab.clock.now.milliseconds
            #expect(now > LabClock.last.milliseconds)
            let same = try await bench.call("POST", "\(session)/clock", "{\"until\":\(now)}")
            #expect(same.status == 200 && same.json["moved"] == false)
            #expect(try await bench.call("POST", "\(session)/clock", "{\"until\":\(now + 1)}").status == 400)
        }
    }

    @Test func `the routes of a phone read and change it`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            let made = try await bench.call("POST", "\(session)/phones", #"{"name":"ana","platform":"apns","user":"alice"}"#)
            #expect(made.status == 201)
            let phone = "\(session)/phones/\(try #require(made.json["id"]?.int))"
            #expect(try await bench.call("GET", phone).json["user"]?.string == "alice")
            #expect(try await bench.call("GET", "\(session)/phones").json["phones"]?.array?.count == 1)
            #expect(try await bench.call("POST", "\(session)/phones", #"{"name":"ana"}"#).status == 409)
            let handle = try await bench.call("GET", "\(phone)/handle").json
            #expect(handle["platform"]?.string == "apns" && handle["handle"]?.string?.utf8.count == 64)
            #expect(try await bench.call("PUT", "\(phone)/storage", #"{"key":"k","value":"v"}"#).json["storage"]?["k"]?.string == "v")
            #expect(try await bench.call("PUT", "\(phone)/storage", #"{"key":"k","value":null}"#).json["storage"]?["k"] == nil)
            _ = try await bench.call("POST", "\(phone)/actions", #"{"action":"show","title":"News","body":"Hello"}"#)
            let items = try await bench.call("GET", "\(phone)/inbox").json["items"]?.array
            #expect(items?.first?["text"]?.string == "News\nHello" && items?.first?["source"]?.string == "local")
            let events = try await bench.call("GET", "\(session)/events?since=0&wait=1").json
            #expect(events["events"]?.array?.contains { $0["kind"]?.string == "shown" } == true)
            #expect(events["count"]?.int == events["events"]?.array?.count)
            #expect(try await bench.call("POST", "\(phone)/actions", #"{"action":"uninstall"}"#).status == 200)
            #expect(try await bench.call("GET", "\(phone)/handle").json["code"]?.string == "device.uninstalled")
        }
    }

    @Test func `a deferred push is an event of its own before it is delivered`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            let made = try await bench.call("POST", "\(session)/phones", #"{"name":"ana","platform":"browser"}"#)
            let phone = "\(session)/phones/\(try #require(made.json["id"]?.int))"
            let handle = try DeviceHandle(try LabFields(answer: try await bench.call("GET", "\(phone)/handle").json))
            func kinds() async throws -> [String] {
                let events = try await bench.call("GET", "\(session)/events?since=0").json["events"]?.array ?? []
                return events.compactMap { $0["kind"]?.string }.filter { $0 != "wake" }
            }
            #expect(try await bench.call("POST", "\(phone)/actions", #"{"action":"low_power"}"#).status == 200)
            _ = try await bench.hub.send(
                NotificationRequest(
                    audience: .device(handle), content: .native(AlertPayloads.system(title: nil, text: "Hello"))))
            #expect(try await kinds() == ["deferred"])
            _ = try await bench.call("POST", "\(phone)/actions", #"{"action":"full_power"}"#)
            #expect(try await kinds() == ["deferred", "delivered", "shown"])
            let unknown = try await bench.call("POST", "\(phone)/actions", #"{"action":"lowpower"}"#)
            #expect(unknown.status == 400 && unknown.json["hint"]?.string?.contains("low_power") == true)
        }
    }

    @Test func `a waiting request for events is answered when one occurs`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            let made = try await bench.call("POST", "\(session)/phones", #"{"name":"ana"}"#)
            let number = try #require(made.json["id"]?.int)
            async let waiting = bench.call("GET", "\(session)/events?since=0&wait=1")
            _ = try await bench.call("POST", "\(session)/phones/\(number)/actions", #"{"action":"show","body":"Hello"}"#)
            #expect(try await waiting.json["events"]?.array?.isEmpty == false)
        }
    }

    @Test func `a session that has ended leaves nothing behind`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            let hub = try bench.hub
            var handles: [DeviceHandle] = []
            for platform in ["apns", "fcm", "wns", "browser"] {
                let made = try await bench.call("POST", "\(session)/phones", #"{"name":"\#(platform)","platform":"\#(platform)"}"#)
                let phone = "\(session)/phones/\(try #require(made.json["id"]?.int))"
                handles.append(try DeviceHandle(try LabFields(answer: try await bench.call("GET", "\(phone)/handle").json)))
                if platform == "apns" {
                    _ = try await bench.call("POST", "\(phone)/actions", #"{"action":"rotate_token"}"#)
                    handles.append(try DeviceHandle(try LabFields(answer: try await bench.call("GET", "\(phone)/handle").json)))
                }
            }
            for handle in handles {
                _ = try await hub.createRegistration(RegistrationDescription(handle: handle, tags: []))
                try await hub.putInstallation(Installation(id: "i-\(handles.firstIndex(of: handle) ?? 0)", handle: handle))
            }
            _ = try await hub.createRegistration(RegistrationDescription(handle: .fcmV1(token: "of-somebody-else"), tags: []))
            _ = try await bench.call("POST", "\(session)/faults/apns", #"{"latency":5000}"#)
            #expect(bench.lab.faults.latency(of: .apns) == .seconds(5))
            #expect(try await bench.call("DELETE", session).status == 200)
            #expect(await hub.size().registrations == 1)
            #expect(await hub.size().installations == 0)
            #expect(bench.lab.simulators.phones.phones.isEmpty)
            #expect(bench.lab.faults.latency(of: .apns) == .zero)
            #expect(try await bench.call("GET", session).json["code"]?.string == "lab.session")
            // The token is invalid and is not adopted as a new phone.
            let outcome = try await hub.send(
                NotificationRequest(
                    audience: .device(handles[1]), content: .native(AlertPayloads.system(title: nil, text: "Hello"))))
            #expect(outcome.devices.first?.outcome == .expiredChannel)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a session ends after its open requests, accepts no new ones and removes what they created`() async throws {
        try await LabBench.with { bench in
            let path = try await bench.session()
            let made = try await bench.call("POST", "\(path)/phones", #"{"name":"ana"}"#)
            let actions = "\(path)/phones/\(try #require(made.json["id"]?.int))/actions"
            let session = try #require(bench.server.labSessions).session(String(path.dropFirst("/lab/sessions/".count)))
            #expect(session.requestBegan())
            async let ended = bench.call("DELETE", path)
            while !session.isOver {
                try Task.checkCancellation()
                await Task.yield()
            }
            for (place, body) in [
                ("\(path)/phones", #"{"name":"zoé"}"#), (actions, #"{"action":"rotate_token"}"#), (actions, #"{"action":"reinstall"}"#),
                ("\(path)/faults/apns", #"{"latency":5000}"#),
            ] {
                let refused = try await bench.call("POST", place, body)
                #expect(refused.status == 404 && refused.json["code"]?.string == "lab.session")
            }
            // The end waits for open requests, whatever else happens meanwhile.
            #expect(bench.lab.simulators.phones.phones.count == 1)
            let phone = try await session.phones.addDevice(DeviceDescription(name: "tom", platform: .wns))
            let handle = try await session.phones.handle(of: phone)
            #expect(session.note(handle))
            _ = try await bench.hub.createRegistration(RegistrationDescription(handle: handle, tags: []))
            session.requestEnded(now: SystemClock().now)
            #expect(try await ended.status == 200)
            #expect(bench.lab.simulators.phones.phones.isEmpty && bench.lab.faults.isEmpty)
            #expect(try await bench.hub.size().registrations == 0)
        }
    }

    @Test func `a registration made by a late request is removed too`() async throws {
        try await LabBench.with { bench in
            let system = VirtualClock(now: EmbeddedWorld.startTime)
            let wires = try #require(bench.server.labSessions?.wires)
            let sessions = LabSessions(lab: bench.lab, namespace: bench.namespace, wires: wires, log: bench.log, system: system)
            let (session, _) = try sessions.begin(hub: "hub", run: "a")
            let phone = try await session.phones.addDevice(DeviceDescription(name: "ana", platform: .wns))
            let handle = try await session.phones.handle(of: phone)
            #expect(session.note(handle))
            await bench.lab.ledger.note(handle, of: session.id)
            try await sessions.end(session)
            _ = try await bench.hub.createRegistration(RegistrationDescription(handle: handle, tags: []))
            await sessions.removeLateRegistrations()
            #expect(try await bench.hub.size().registrations == 1)
            // A server that started now would remove it.
            let file = bench.folder.url.appending(path: "data/lab/sessions.jsonl").path
            #expect(try LabLedger(path: file).leftovers == [handle])
            system.advance(to: system.now + .seconds(30))
            await sessions.removeLateRegistrations()
            #expect(try await bench.hub.size().registrations == 0)
            #expect(try LabLedger(path: file).leftovers.isEmpty)
        }
    }

    @Test func `a session removes its own faults and not those of others`() async throws {
        try await LabBench.with { bench in
            let (first, second) = (try await bench.session(), try await bench.session())
            let faults = bench.lab.faults
            for (session, latency) in [(first, 5000), (second, 2000)] {
                let place = "\(session)/faults/apns"
                _ = try await bench.call("POST", place, #"{"latency":\#(latency)}"#)
                _ = try await bench.call("POST", place, #"{"break":{}}"#)
                _ = try await bench.call("POST", place, #"{"refuse":{"reason":"\#(session == first ? "BadTopic" : "TopicDisallowed")"}}"#)
            }
            // The greater latency applies.
            #expect(faults.latency(of: .apns) == .seconds(5))
            _ = try await bench.call("DELETE", "\(first)/faults/apns")
            #expect(faults.latency(of: .apns) == .seconds(2))
            let made = try await bench.call("POST", "\(second)/phones", #"{"name":"ana"}"#)
            let place = "\(second)/phones/\(try #require(made.json["id"]?.int))/handle"
            let handle = try DeviceHandle(try LabFields(answer: try await bench.call("GET", place).json))
            #expect(try await bench.call("DELETE", first).status == 200)
            #expect(faults.latency(of: .apns) == .seconds(2) && faults.nextBreak(of: .apns) == .beforeRequest)
            #expect(faults.nextBreak(of: .apns) == nil)
            _ = try await bench.call("POST", "\(second)/faults/apns", #"{"latency":0}"#)
            let outcome = try await bench.hub.send(
                NotificationRequest(audience: .device(handle), content: .native(AlertPayloads.system(title: nil, text: "Hello"))))
            #expect(outcome.devices.first?.reason.contains("TopicDisallowed") == true, "\(outcome)")
            #expect(try await bench.call("DELETE", second).status == 200)
            #expect(faults.isEmpty)
        }
    }

    /// The contents of a server's ledger while a session with a registered phone is open, and after its end.
    static func serve(in folder: ScriptFolder, _ file: URL) async throws -> (open: Data, ended: Data) {
        let (before, ended, handle) = try await lab(in: folder, file)
        // A lab that ends removes everything. Only a killed lab leaves the registration.
        var settings = ServerSettings()
        settings.data = folder.url.appending(path: "data").path
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try await RunningServer.opening(
            settings, HostProgram(), folder: try DataFolder(path: settings.data), log: log, metrics: PrometheusRegistry())
        _ = try await server.namespace.hub("hub")?.service.createRegistration(RegistrationDescription(handle: handle, tags: []))
        await server.stop()
        return (before, ended)
    }

    private static func lab(in folder: ScriptFolder, _ file: URL) async throws -> (open: Data, ended: Data, handle: DeviceHandle) {
        let bench = try await LabBench(in: folder)
        let session = try await bench.session()
        let made = try await bench.call("POST", "\(session)/phones", #"{"name":"ana","platform":"wns"}"#)
        let json = try await bench.call("GET", "\(session)/phones/\(try #require(made.json["id"]?.int))/handle").json
        let handle = try DeviceHandle(try LabFields(answer: json))
        let before = try Data(contentsOf: file)
        _ = try await bench.call("POST", "\(session)/clock", #"{"until":4000000000000}"#)
        #expect(try await bench.call("DELETE", session).status == 200)
        await bench.end()
        return (before, try Data(contentsOf: file), handle)
    }

    @Test func `leftovers of sessions of a killed server are removed at the next start`() async throws {
        let folder = try ScriptFolder()
        let file = folder.url.appending(path: "data/lab/sessions.jsonl")
        let (before, ended) = try await Self.serve(in: folder, file)
        // The ledger as it was while the session was open, with a truncated last line.
        #expect(ended.count > before.count)
        try (before + Data(#"{"lead":400000000000}"#.utf8) + Data("\n{\"session\":".utf8)).write(to: file)
        let again = try await LabBench(in: folder)
        #expect(try await again.hub.size().registrations == 0)
        #expect(again.lab.clock.lead >= .seconds(399_000_000))
        await again.end()
    }

    @Test func `a silent session ends, an active one does not, and at most 64 may be open`() async throws {
        try await LabBench.with { bench in
            let system = VirtualClock(now: EmbeddedWorld.startTime)
            let wires = try #require(bench.server.labSessions?.wires)
            let sessions = LabSessions(lab: bench.lab, namespace: bench.namespace, wires: wires, log: bench.log, system: system)
            let (silent, _) = try sessions.begin(hub: "hub", run: "a")
            let (busy, _) = try sessions.begin(hub: "hub", run: "b")
            let (lastRequestTime, _) = try sessions.begin(hub: "hub", run: "c")
            #expect(busy.requestBegan())
            system.advance(to: system.now + .seconds(60))
            #expect(lastRequestTime.requestBegan())
            lastRequestTime.requestEnded(now: system.now)
            system.advance(to: system.now + .seconds(60))
            await sessions.endSilent()
            #expect((try? sessions.session(silent.id)) == nil)
            #expect(try sessions.session(busy.id) === busy)
            #expect(try sessions.session(lastRequestTime.id) === lastRequestTime)
            for _ in 2..<64 { _ = try sessions.begin(hub: "hub", run: "d") }
            let full = #expect(throws: PushError.self) { _ = try sessions.begin(hub: "hub", run: "e") }
            #expect(full?.status == 429)
            busy.requestEnded(now: system.now)
            let before = bench.lab.clock.now
            await sessions.endAll()
            #expect(bench.lab.clock.now >= before)
        }
    }

    @Test func `a hub of a lab rejects real credentials`() async throws {
        try await LabBench.with { bench in
            var description = HubDescription()
            description.credentials[.wns] = PlatformCredential(properties: [("PackageSid", Secret("ms-app://s-1"))])
            let error = await #expect(throws: PushError.self) { _ = try await bench.namespace.create("real", description) }
            #expect(error?.code == "lab.credentials" && error?.status == 409)
            let second = await #expect(throws: PushError.self) { _ = try await bench.namespace.update("hub", description) }
            #expect(second?.code == "lab.credentials")
        }
    }
}

import Bindings
import HostSupport
import Lua
import PushLab
import PushModel
import Testing

@Suite struct FaultTests {
    private static let services: [Platform] = [.apns, .fcmV1, .wns, .browser]

    /// Sends once to one phone on each platform. Returns the result of each device and how many pushes its phone received.
    private static let everybody = """
        local s = login "alice"
        local phones = {}
        for _, name in ipairs { "apns", "fcm", "gcm", "wns", "browser" } do phones[name] = phone(s, name, name) end
        local outcome = push.send { to = "username:alice", alert = "Hello" }
        local rows = {}
        for _, row in ipairs(outcome.devices) do
            rows[row.name] = row.outcome .. (row.reason == "" and "" or " " .. row.reason) .. " " .. #phones[row.name]:inbox()
        end
        return rows
        """

    private func rehearse(
        _ lua: String = everybody, faults: (any ServiceFaults) async throws -> Void
    ) async throws -> Rehearsal {
        let run = try await HostSupport.rehearse(lua) { world in try await faults(#require(world.faults)) }
        #expect(run.error == nil)
        return run
    }

    @Test func `a refusal by one platform leaves sends to the others successful`() async throws {
        let run = try await rehearse { try await $0.fail(.browser, reason: "Gone", count: nil, handle: nil) }
        #expect(
            run.result
                == #"{"apns":"Success 1","browser":"ExpiredChannel Gone 0","fcm":"Success 1","gcm":"Success 1","wns":"Success 1"}"#)
    }

    @Test func `an FCM fault applies to legacy registrations too, under either platform name`() async throws {
        for name in [Platform.fcmV1, .gcm] {
            let run = try await rehearse { try await $0.fail(name, reason: "SENDER_ID_MISMATCH", count: nil, handle: nil) }
            #expect(run.result.contains(#""fcm":"WrongToken SENDER_ID_MISMATCH 0","gcm":"WrongToken SENDER_ID_MISMATCH 0""#))
            #expect(run.result.contains(#""apns":"Success 1""#))
        }
    }

    private static let words: [(Platform, String)] = services.flatMap { service in
        let thread = LuaThread(name: "words")
        defer { thread.stop() }
        let world = try? EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: TestSecrets()).world
        return (world?.faults?.reasons(of: service) ?? []).map { (service, $0) }
    }

    @Test func `every service lists the reasons that it can be made to return`() {
        for service in Self.services { #expect(Self.words.count { $0.0 == service } > 5) }
    }

    @Test(arguments: words)
    func `every reason of every service appears as the reason in the device's result`(
        service: Platform, word: String
    ) async throws {
        let run = try await HostSupport.rehearse(
            """
            local p = phone(login "alice", "a-1", "\(service.shortName)")
            local row = push.send { to = "username:alice", alert = "Hello" }.devices[1]
            return { row.outcome, row.reason, #p:inbox() }
            """
        ) { world in
            let faults = try #require(world.faults)
            try await faults.fail(service, reason: word, count: nil, handle: nil)
        }
        #expect(run.error == nil)
        let row = try #require(run.report.result?.array)
        #expect(row[0].string != "Success")
        #expect(row[0].string != "UnknownError")
        if let status = Int(word) {
            #expect((400..<600).contains(status))
        } else {
            #expect(row[1].string == word)
        }
        #expect(row[2].int == 0)
    }

    @Test(
        arguments: [
            (.apns, "Unregistered"), (.apns, "ExpiredToken"), (.fcmV1, "UNREGISTERED"), (.wns, "ChannelExpired"),
            (.wns, "ChannelNotFound"), (.browser, "Gone"), (.browser, "404"),
        ] as [(Platform, String)])
    func `a refusal that reports an invalid token removes the registration from the hub`(
        service: Platform, word: String
    ) async throws {
        let run = try await rehearse(
            """
            phone(login "alice", "a-1", "\(service.shortName)")
            local row = push.send { to = "username:alice", alert = "Hello" }.devices[1]
            return { row.registration_removed, push.send { to = "username:alice", alert = "Again" }.state }
            """
        ) { try await $0.fail(service, reason: word, count: 1, handle: nil) }
        #expect(run.result == #"[true,"NoTargetFound"]"#)
    }

    @Test func `retries succeed after a limited number of refusals`() async throws {
        let run = try await rehearse(
            """
            local p = phone(login "alice", "a-1", "browser")
            local begin = push.clock.now()
            local outcome = push.send { to = "username:alice", alert = "Hello" }
            return { outcome.sent, #push.wire "browser", #p:inbox(), push.clock.now() - begin }
            """
        ) { try await $0.fail(.browser, reason: "ServiceUnavailable", count: 2, handle: nil) }
        #expect(run.result == "[1,3,1,240]")
    }

    @Test(arguments: services)
    func `a refusal for one device does not affect others, and ends when it is cleared`(service: Platform) async throws {
        let run = try await HostSupport.rehearse("return 1") { world in
            let (lab, faults) = (try #require(world.lab), try #require(world.faults))
            var handles: [DeviceHandle] = []
            for name in ["ana", "bob"] {
                let id = try await lab.addDevice(DeviceDescription(name: name, platform: service))
                handles.append(try await lab.handle(of: id))
            }
            let word = try #require(faults.reasons(of: service).first { ["BadDeviceToken", "UNREGISTERED", "Forbidden"].contains($0) })
            try await faults.fail(service, reason: word, count: nil, handle: handles[0])
            func outcomes() async throws -> [Bool] {
                var sent: [Bool] = []
                for handle in handles {
                    let request = NotificationRequest(
                        audience: .device(handle), content: .native(AlertPayloads.system(title: nil, text: "Hello")))
                    sent.append(try await world.hub.send(request).sent == 1)
                }
                return sent
            }
            #expect(try await outcomes() == [false, true])
            #expect(try await outcomes() == [false, true])
            try await faults.clear(service)
            #expect(try await outcomes() == [true, true])
        }
        #expect(run.hasPassed)
    }

    @Test func `a reason that the service does not have is rejected with the nearest one`() async throws {
        _ = try await rehearse { faults in
            let near = await #expect(throws: PushError.self) {
                try await faults.fail(.apns, reason: "Unregisterd", count: 1, handle: nil)
            }
            #expect(near?.code == "simulator.reason")
            #expect(near?.hint == "did you mean \"Unregistered\"?")
            let far = await #expect(throws: PushError.self) { try await faults.fail(.gcm, reason: "Gone", count: 1, handle: nil) }
            #expect(far?.hint?.contains("UNREGISTERED") == true)
            let foreign = await #expect(throws: PushError.self) {
                try await faults.fail(.wns, reason: "Forbidden", count: 1, handle: .apns(token: "AA"))
            }
            #expect(foreign?.code == "simulator.handle")
            await #expect(throws: Never.self) { try await faults.fail(.gcm, reason: "INTERNAL", count: 0, handle: .fcmV1(token: "t")) }
        }
    }

    // MARK: - The wire

    @Test func `latency advances the virtual clock, equally for every request of that service and of no other`() async throws {
        let run = try await rehearse(
            """
            local s = login "alice"
            local a, b = phone(s, "a", "apns"), phone(s, "b", "wns")
            local function time(phone)
                local begin = push.clock.now()
                local outcome = push.send { device = phone, alert = "Hello" }
                return push.clock.now() - begin, outcome.sent, phone:inbox()[1].received_at
            end
            return { { time(a) }, { time(b) }, { time(b) }, push.wire "wns"[1].time }
            """
        ) {
            try await $0.setLatency(.seconds(90), of: .wns)
            try await $0.setLatency(.milliseconds(250), of: .browser)
        }
        #expect(
            run.result
                == #"[[0,1,"2026-01-05T09:00:00.000Z"],[180,1,"2026-01-05T09:03:00.000Z"],[90,1,"2026-01-05T09:03:00.000Z"],"#
                + #""2026-01-05T09:00:00.000Z"]"#)
    }

    @Test(arguments: [("apns", 1), ("fcm", 2), ("wns", 2), ("browser", 1)])
    func `a connection that breaks before the request is reopened at once`(
        platform: String, requests: Int
    ) async throws {
        let service = try #require(Platform(name: platform))
        let run = try await rehearse(
            """
            local p = phone(login "alice", "a-1", "\(platform)")
            local begin = push.clock.now()
            local outcome = push.send { to = "username:alice", alert = "Hello" }
            return { outcome.sent, #push.wire "\(platform)", push.wire "\(platform)"[\(requests)].status, #p:inbox(), push.clock.now() - begin }
            """
        ) { try await $0.breakConnections(service, count: 1, afterRequest: false) }
        #expect(run.result == "[1,\(requests + 1),0,1,0]")
    }

    @Test func `repeated connection failures are retried later and finally given up`() async throws {
        let script = """
            local p = phone(login "alice", "a-1", "browser")
            local begin = push.clock.now()
            local row = push.send { to = "username:alice", alert = "Hello" }.devices[1]
            return { row.outcome, row.reason, #p:inbox(), push.clock.now() - begin }
            """
        let short = try await rehearse(script) { try await $0.breakConnections(.browser, count: 5, afterRequest: false) }
        #expect(short.result == #"["Success","",1,3]"#)
        let long = try await rehearse(script) { try await $0.breakConnections(.browser, count: 1000, afterRequest: false) }
        #expect(long.result == #"["PnsUnreachable","Unreachable",0,1743]"#)
    }

    @Test(arguments: ["apns", "fcm", "gcm", "wns", "browser"])
    func `a connection that breaks after the request is retried, so that the phone gets the push twice`(
        platform: String
    ) async throws {
        let service = try #require(Platform(name: platform))
        let run = try await rehearse(
            """
            local p = phone(login "alice", "a-1", "\(platform)")
            local row = push.send { to = "username:alice", alert = "Hello" }.devices[1]
            local again = push.send { to = "username:alice", alert = "Again" }
            return { row.outcome, row.registration_removed, again.sent, #p:inbox() }
            """
        ) { try await $0.breakConnections(service, count: 1, afterRequest: true) }
        #expect(run.result == #"["Success",false,1,3]"#)
    }

    @Test func `connection faults apply in the order in which they were set, and clearing ends them all`() async throws {
        let run = try await rehearse(
            """
            local p = push.device { name = "a-1", platform = "browser" }
            local rows = {}
            for i = 1, 3 do rows[i] = push.send { device = p, alert = "Hello" }.devices[1].outcome end
            return { rows, #push.wire "browser", #p:inbox() }
            """
        ) {
            try await $0.fail(.apns, reason: "Shutdown", count: nil, handle: nil)
            try await $0.breakConnections(.browser, count: 1, afterRequest: true)
            try await $0.breakConnections(.browser, count: 1, afterRequest: false)
            try await $0.breakConnections(.browser, count: 0, afterRequest: true)
        }
        #expect(run.result == #"[["Success","Success","Success"],5,4]"#)
        let cleared = try await rehearse {
            for service in Self.services {
                try await $0.setLatency(.seconds(5), of: service)
                try await $0.breakConnections(service, count: 9, afterRequest: true)
            }
            try await $0.fail(.apns, reason: "Shutdown", count: nil, handle: nil)
            for service in Platform.delivered { try await $0.clear(service) }
        }
        #expect(cleared.result.matches(of: /Success 1/).count == 5)
        #expect(cleared.report.began == cleared.report.ended)
    }

    @Test func `a task that is cancelled during a slow request ends`() async throws {
        let run = try await rehearse(
            """
            local p = push.device { name = "a-1", platform = "browser" }
            local task = push.spawn(function() push.send { device = p, alert = "Hello" } end)
            push.sleep "1s"
            task:cancel()
            push.sleep "1s"
            return { #p:inbox(), push.clock.iso() }
            """
        ) { try await $0.setLatency(.seconds(3600), of: .browser) }
        #expect(run.result == #"[0,"2026-01-05T09:00:02.000Z"]"#)
    }
}

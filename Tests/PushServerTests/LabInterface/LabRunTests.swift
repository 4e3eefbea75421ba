import Bindings
import HostSupport
import Lua
import PushHub
import PushLab
import PushModel
import RemoteHub
import Synchronization
import Testing

/// Scripts that use the phones, wires, faults and time of a server's lab over a socket.
@Suite struct LabRunTests {
    private func result(of lua: String) async throws -> String {
        var result = ""
        try await LabBench.with { bench in
            let run = try await bench.rehearse(lua)
            if let error = run.error { Issue.record("\(error)") }
            #expect(run.hasPassed)
            result = run.result
        }
        return result
    }

    /// The return values of a script in the embedded simulation and against a lab. It must pass in both.
    private func bothResults(of lua: String) async throws -> (embedded: String, lab: String) {
        let embedded = try await HostSupport.rehearse(lua)
        if let error = embedded.error { Issue.record("\(error)") }
        return (embedded.result, try await result(of: lua))
    }

    @Test func `a script has the same result in the embedded simulation and in a lab`() async throws {
        let results = try await bothResults(
            of: """
                local phones, rows = {}, {}
                for _, name in ipairs { "apns", "fcm", "gcm", "wns", "browser" } do
                    phones[name] = push.device { name = name, platform = name }
                    push.subscribe { device = phones[name], categories = { "News" } }
                end
                local begin = push.clock.now()
                phones.apns:offline()
                rows.sent = push.send { to = "News", properties = { messageParam = "Hello" } }.sent
                for name, p in pairs(phones) do rows[name] = #p:inbox() end
                phones.apns:online()
                rows.later = phones.apns:wait_for { alert = "Hello", within = "5s" }.text
                phones.fcm:uninstall()
                for _, row in ipairs(push.send { to = "News", properties = { messageParam = "Again" } }.devices) do
                    rows[row.name .. " again"] = row.outcome
                end
                rows.third = push.send { to = "News", properties = { messageParam = "Third" } }.sent
                phones.fcm:reinstall()
                rows.direct = push.send { device = phones.fcm, alert = "Hello" }.sent
                local old = phones.wns:handle()
                phones.wns:rotate_token()
                rows.rotated = old ~= phones.wns:handle()
                phones.browser:storage().colour = "red"
                rows.colour = phones.browser:storage().colour
                push.sleep "3d"
                rows.days = math.floor((push.clock.now() - begin) / 86400)
                rows.wire = #push.wire "apns" > 0 and push.wire "fcm"[1].status
                rows.found = push.find_device "gcm".platform
                rows.count = #push.devices()
                return rows
                """)
        #expect(results.lab == results.embedded)
        #expect(results.lab.contains(#""sent":5"#))
    }

    @Test func `pushes wake an app in the order of their arrival`() async throws {
        let results = try await bothResults(
            of: """
                local p = push.device { name = "ana" }
                local seen = {}
                p:handle_pushes()
                for number = 1, 2 do
                    push.send { device = p, payload = { apns = { aps = { ["content-available"] = 1 }, number = number } } }
                end
                p:on_push(function(item) seen[#seen + 1] = item.payload.number end)
                for number = 3, 3 do
                    push.send { device = p, payload = { apns = { aps = { ["content-available"] = 1 }, number = number } } }
                end
                push.sleep "1s"
                return seen
                """)
        #expect(results.lab == "[1,2,3]")
        #expect(results.embedded == results.lab)
    }

    @Test func `faults of services and wires apply in the lab and take the lab's time`() async throws {
        let results = try await bothResults(
            of: """
                local p = push.device { name = "ana" }
                local function took(ordering)
                    local begin = push.clock.now()
                    ordering()
                    local outcome = push.send { device = p, alert = "Hello" }
                    push.simulator.apns:reset()
                    return { outcome.sent, outcome.devices[1].reason, math.floor(push.clock.now() - begin + 0.5) }
                end
                return {
                    took(function() push.simulator.apns:latency "2s" end),
                    took(function() push.simulator.apns:fail { reason = "ServiceUnavailable", next = 2 } end),
                    took(function() push.simulator.wns:disconnect { next = 3 } end),
                    took(function() push.simulator.apns:disconnect { next = 1 } end),
                    took(function() push.simulator.apns:fail { reason = "Unregistered", device = p, next = 1 } end),
                }
                """)
        #expect(results.lab == results.embedded)
    }

    @Test func `shares, Retry-After and refused access tokens can be configured in a lab too`() async throws {
        let results = try await bothResults(
            of: """
                local p, rows = push.device { name = "ana", platform = "fcm" }, { took = {} }
                local function took(order)
                    push.simulator.fcm:revoke_tokens()
                    push.simulator.fcm:fail(order)
                    local begin = push.clock.now()
                    local row = push.send { device = p, alert = "Hello" }.devices[1]
                    push.simulator.fcm:reset()
                    rows.took[#rows.took + 1] = { row.outcome, row.reason, math.floor(push.clock.now() - begin + 0.5) }
                end
                took { reason = "UNAVAILABLE", next = 1, retry_after = "77s" }
                took { reason = "temporarily_unavailable", at = "token", next = 1, retry_after = 40 }
                took { reason = "invalid_grant", at = "token", next = 1 }
                took { reason = "SENDER_ID_MISMATCH", share = 1 }
                rows.words = #push.simulator.fcm:reasons { at = "token" }
                for name, wrong in pairs {
                    share = { reason = "INTERNAL", share = 7 }, pause = { reason = "INTERNAL", retry_after = 5 },
                    word = { reason = "invalid_grant" }, token = { reason = "invalid_gran", at = "token" },
                    device = { reason = "invalid_grant", at = "token", device = p },
                } do
                    local _, problem = push.try(push.simulator.fcm.fail, push.simulator.fcm, wrong)
                    rows[name] = { problem.code, problem.hint }
                end
                local _, problem = push.try(push.simulator.wns.fail, push.simulator.wns, { reason = "x", share = 0.000001, next = 1 })
                rows.reason = problem.code
                _, problem = push.try(push.simulator.apns.revoke_tokens, push.simulator.apns)
                rows.tokens = problem.code
                push.simulator.fcm:fail { reason = "SENDER_ID_MISMATCH", share = 0.000001 }
                rows.lucky = push.send { device = p, alert = "Hello" }.sent
                return rows
                """)
        #expect(results.lab == results.embedded)
        #expect(results.lab.contains(#""lucky":1"#) && results.lab.contains("simulator.retry_after"))
        #expect(results.lab.contains(#"["Success","",77],["Success","",40],["InvalidCredentials","invalid_grant",0]"#))
    }

    @Test func `low power works in a lab too, and the lab reports deferred pushes`() async throws {
        let results = try await bothResults(
            of: """
                local p = push.device { name = "ana" }
                p:low_power()
                push.send { device = p, alert = "Later", priority = "normal", expires_in = "1h" }
                push.send { device = p, alert = "Now", priority = "high" }
                local first = #p:inbox()
                push.clock.advance "59m"
                p:full_power()
                local item = p:wait_for { alert = "Later", within = "1s" }
                p:low_power()
                push.send { device = p, alert = "Never", priority = "low", expires_in = "1m" }
                push.clock.advance "1m"
                p:full_power()
                return { first, item.text, #p:inbox() }
                """)
        #expect(results.embedded == #"[1,"Later",2]"#)
        #expect(results.lab == results.embedded)
    }

    @Test func `a push scheduled for two days ahead arrives then, without waiting`() async throws {
        let results = try await bothResults(
            of: """
                local p = push.device { name = "ana" }
                push.subscribe { device = p, categories = { "News" } }
                local begin = push.clock.now()
                push.schedule { to = "News", properties = { messageParam = "Later" }, after = "2d" }
                local item = p:wait_for { alert = "Later", within = "3d" }
                return { item.text, math.floor(push.clock.now() - begin + 0.5) }
                """)
        #expect(results.lab == #"["Later",172800]"#)
        #expect(results.embedded == results.lab)
    }

    @Test func `waiting for something that cannot happen fails as in the embedded simulation`() async throws {
        try await LabBench.with { bench in
            let run = try await bench.rehearse("push.device { name = 'ana' }:next_push()")
            #expect(run.error?.code == "flow.stalled")
            // The server continues, with a running clock.
            #expect(try await bench.rehearse("return 1").result == "1")
        }
    }

    @Test func `a script with hundreds of phones gets the events of each`() async throws {
        let lua = """
            local tasks = {}
            for number = 1, 200 do
                local p = push.device { name = "p" .. number, platform = number % 2 == 0 and "apns" or "fcm" }
                push.subscribe { device = p, categories = { "News" } }
                tasks[number] = push.spawn(function() return p:wait_for { alert = "Hello", within = "1h" } ~= nil end)
            end
            push.send { to = "News", properties = { messageParam = "Hello" } }
            local count = 0
            for _, task in ipairs(tasks) do if task:await() then count = count + 1 end end
            return count
            """
        #expect(try await result(of: lua) == "200")
    }

    @Test func `a line at a prompt ends when everything waits, in a lab too`() async throws {
        try await LabBench.with { bench in
            let thread = LuaThread(name: "repl")
            defer { thread.stop() }
            let session = try await bench.open(on: thread)
            let shown = Mutex<[String]>([])
            let failures = Mutex<[String]>([])
            let runner = FlowRunner(world: try bench.world(of: session, on: thread), thread: thread, limits: LuaLimits(), seed: 1)
            let flow = try await InteractiveFlow(runner: runner) { event in
                if case .shown(let items) = event { shown.withLock { $0 += items.map(\.text) } }
            } failures: { error in
                failures.withLock { $0.append(error.code) }
            }
            let begin = session.clock.now
            let lines = [
                #"p = push.device { name = "ana" }"#,
                #"push.subscribe { device = p, categories = { "News" } }"#,
                #"push.spawn(function() push.send { to = "News", properties = { messageParam = "Behind" } } end)"#,
                "#p:inbox()", #"push.sleep "1h""#, "p:next_push()", "#push.devices()",
            ]
            var answers: [InteractiveFlow.Answer] = []
            for (number, line) in lines.enumerated() {
                answers.append(await flow.evaluate(line, firstLine: number + 1, isComplete: true))
            }
            #expect(answers[3] == .value("1") && answers[5] == .raised && answers[6] == .value("1"))
            #expect(shown.withLock { $0 } == ["Behind"])
            #expect(failures.withLock { $0 } == ["flow.stalled"])
            #expect(session.clock.now == begin + .seconds(3600))
            await flow.end()
            try await session.close()
        }
    }

    @Test func `a wait fails with an error when the lab is gone`() async throws {
        let bench = try await LabBench()
        let thread = LuaThread(name: "gone")
        defer { thread.stop() }
        let session = try await bench.open(on: thread)
        let id = try await session.lab.addDevice(DeviceDescription(name: "ana", platform: .apns))
        await bench.end()
        thread.setIdleHandler { session.clock.step() == .woke }
        let task = Task(executorPreference: thread) { () -> String? in
            do {
                try await session.clock.sleep(until: session.clock.now + .seconds(60))
                return nil
            } catch {
                return (error as? PushError)?.code
            }
        }
        #expect(await task.value == "target.unreachable")
        await #expect(throws: PushError.self) { _ = try await session.lab.nextPush(on: id) }
        await #expect(throws: PushError.self) { _ = try await session.lab.waitForItems(moreThan: 0, on: id, until: .distantFuture) }
    }
}

/// When the hubs of a lab are idle, and how far its time may advance.
@Suite struct LabStepTests {
    private func step(_ bench: LabBench, _ session: String, until: Timestamp? = nil, events: Int? = nil) async throws -> JSON {
        let body = JSON.lab(["until": until.map { .timestamp($0) }, "events": .count(events ?? 1 << 30)])
        return try await bench.call("POST", "\(session)/clock", body.text()).json
    }

    /// A phone's handle.
    private func phone(_ bench: LabBench, _ session: String, _ name: String = "ana") async throws -> DeviceHandle {
        let made = try await bench.call("POST", "\(session)/phones", #"{"name":"\#(name)","platform":"apns"}"#)
        let path = "\(session)/phones/\(try #require(made.json["id"]?.int))/handle"
        return try DeviceHandle(try LabFields(answer: try await bench.call("GET", path).json))
    }

    /// Accepts a notification as the hub's interface does.
    private func accept(_ bench: LabBench, to handle: DeviceHandle, at time: Timestamp? = nil) async throws -> String {
        let hub = try bench.hub
        let request = NotificationRequest(
            audience: .device(handle), content: .native(AlertPayloads.system(title: nil, text: "Hello")))
        return try await withTaskExecutorPreference(bench.lab.thread) {
            try await hub.accept(request, at: time).outcome.id
        }
    }

    @Test func `without sleepers the time does not advance`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            let now = try await step(bench, session)["now"]?.int
            let again = try await step(bench, session)
            #expect(again["moved"]?.bool == false && again["now"]?.int == now && again["events"]?.int == 0)
        }
    }

    @Test func `accepted notifications are delivered before the time advances, however many they are`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            let handle = try await phone(bench, session)
            var ids: [String] = []
            for _ in 0..<100 { ids.append(try await accept(bench, to: handle)) }
            let before = bench.lab.clock.now
            let answer = try await step(bench, session, until: before)
            #expect(answer["moved"]?.bool == false && answer["now"]?.int == Int(before.milliseconds))
            for id in ids { #expect(try await bench.hub.outcome(of: id).state == .completed) }
            // Events are not read yet, so the time does not advance.
            let unseen = try await step(bench, session, until: before + .seconds(60), events: 0)
            #expect(unseen["moved"]?.bool == false && unseen["events"]?.int == 200)
            let seen = try await step(bench, session, until: before + .seconds(60), events: 200)
            #expect(seen["moved"]?.bool == true && bench.lab.clock.now == before + .seconds(60))
        }
    }

    @Test func `a scheduled notification is delivered at its due time, three days ahead`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            let handle = try await phone(bench, session)
            let time = bench.lab.clock.now + .seconds(3 * 86_400)
            let id = try await accept(bench, to: handle, at: time)
            let early = try await step(bench, session, until: time + .seconds(-1))
            #expect(early["moved"]?.bool == true)
            #expect(try await bench.hub.outcome(of: id).state == .scheduled)
            let answer = try await step(bench, session, until: time + .seconds(3600))
            #expect(answer["now"]?.int == Int(time.milliseconds))
            #expect(try await bench.hub.outcome(of: id).state == .completed)
        }
    }

    @Test func `retries after a refusal, and a slow service, advance the time step by step`() async throws {
        try await LabBench.with { bench in
            let session = try await bench.session()
            let handle = try await phone(bench, session)
            _ = try await bench.call("POST", "\(session)/faults/apns", #"{"refuse":{"reason":"ServiceUnavailable","count":2}}"#)
            let begin = bench.lab.clock.now
            let refused = try await accept(bench, to: handle)
            _ = try await step(bench, session, until: begin)
            #expect(try await bench.hub.outcome(of: refused).state != .completed)
            var steps = 0
            while try await step(bench, session)["moved"]?.bool == true { steps += 1 }
            #expect(try await bench.hub.outcome(of: refused).state == .completed)
            #expect(steps >= 2)
            _ = try await bench.call("POST", "\(session)/faults/apns", #"{"latency":90000}"#)
            let slow = bench.lab.clock.now
            var ids: [String] = []
            for _ in 0..<20 { ids.append(try await accept(bench, to: handle)) }
            #expect(try await step(bench, session, until: slow)["moved"]?.bool == false)
            #expect(try await step(bench, session)["now"]?.int == Int((slow + .seconds(90)).milliseconds))
            for id in ids { #expect(try await bench.hub.outcome(of: id).state == .completed) }
        }
    }
}

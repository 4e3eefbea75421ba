import PushHub
import PushModel
import Support
import Testing

/// Explains from a hub's data why a device did or did not show a notification.
@Suite struct TraceTests {
    @Test(arguments: TraceScenario.all)
    func `each cause has one sentence, and one line is marked as the cause`(scenario: TraceScenario) async throws {
        let bench = try TraceBench(ttl: scenario.ttl, platforms: scenario.platforms)
        let (notification, device) = try await scenario.work(bench)
        let trace = try await bench.trace(notification, device)
        #expect(trace.cause == scenario.cause)
        #expect(trace.sentence == scenario.sentence.replacing("DEVICE", with: device))
        #expect(trace.lines.count { $0.isCause } == 1)
        #expect(trace.lines.compactMap(\.time) == trace.lines.compactMap(\.time).sorted())
        await bench.hub.hub.stop()
    }

    @Test func `all causes are covered, here or by simulated devices and planning`() {
        let others = TraceCauses.ofPhones.union(TraceCauses.ofPlanning)
        #expect(Set(TraceScenario.all.map(\.cause)).union(others) == Set(TraceCause.allCases))
        #expect(Set(TraceScenario.all.map(\.cause)).isDisjoint(with: others))
    }

    // MARK: - Lines

    @Test func `a trace has one line per step, each with its time`() async throws {
        let bench = try TraceBench()
        try await bench.install(tags: ["sports"], templates: ["news": InstallationTemplate(body: #"{"aps":{"alert":"$(text)"}}"#)])
        bench.hub.advance(by: .seconds(60))
        bench.hub.connector.script(.phone(1), .transient(.busy, retryAfter: nil), .accepted(id: "push-1"))
        let id = try await bench.send(.properties(["text": "Hi"], to: "sports && !quiet"))
        let trace = try await bench.trace(id, "alice-1")
        let told = trace.lines.map { "\($0.time?.timeOfDay ?? "-") \($0.step) \($0.isGood.map { $0 ? "+" : "-" } ?? "·") \($0.text)" }
        #expect(
            told == [
                "09:00:00.000 device + installation alice-1 registered with APNs",
                "09:01:00.000 notification + accepted, for \"sports && !quiet\"",
                "09:01:00.000 tags + sports && !quiet   ✓ sports  ✓ !quiet",
                "09:01:00.000 content + template \"news\", 22 bytes of 4096",
                // Retried one second later.
                "09:01:01.000 service + APNs accepted it as push-1",
                "09:01:01.000 phone · a real phone: it does not report what it does with a push",
            ])
        #expect(trace.platform == .apns && trace.device == "alice-1" && trace.cause.result == .unknown)
    }

    @Test func `current tags are marked as current if they were changed since the send`() async throws {
        let bench = try TraceBench()
        try await bench.install(tags: ["chess"])
        let id = try await bench.send(.alert(to: "sports"))
        bench.hub.advance(by: .seconds(60))
        try await bench.install(tags: ["go"])
        let trace = try await bench.trace(id, "alice-1")
        #expect(trace.cause == .tagMissing)
        #expect(
            trace.lines.last?.text == "installation alice-1 changed after the send: tags and template below are the current ones")
        #expect(trace.lines.last?.time == HubBench.startTime + .seconds(60))
    }

    @Test func `the time of a verdict is shown while the notification is in progress, before it is stored`() async throws {
        let bench = try TraceBench()
        for number in 1...2 { try await bench.install("alice-\(number)", .phone(number), tags: ["sports"]) }
        var request = try NotificationRequest.alert(to: "sports")
        request.pace = try Pace("1/h")
        let id = try await bench.accept(request)
        try await bench.hub.untilSomebodySleeps()
        #expect(try await bench.trace(id, "alice-1").cause == .accepted)
        #expect(try await bench.trace(id, "alice-2").cause == .paced)
        #expect(try await bench.hub.store.outcomes(ofNotification: 1, matching: nil, limit: 9).isEmpty)
        bench.hub.advance(by: .seconds(3600))
        try await until { try await bench.hub.hub.notification(id).outcome.state == .completed }
        let second = try await bench.hub.store.outcomes(ofNotification: 1, matching: DeviceOutcomeQuery(handles: [.phone(2)]), limit: 9)
        #expect(second.map(\.time) == [HubBench.startTime + .seconds(3600)])
    }

    // MARK: - Which device

    @Test func `a device is found by its installation, registration, handle, start of a handle, or user`() async throws {
        let bench = try TraceBench()
        let token = String(repeating: "A1B2C3D4", count: 8)
        try await bench.install("alice-1", .apns(token: token), user: "alice", tags: ["sports"])
        try await bench.install("alice-2", .phone(2), user: "alice", tags: ["chess"])
        let id = try await bench.send(.alert(to: "sports"))
        let hub = bench.hub.hub
        let registration = try #require(try await hub.allRegistrations(.handle(.apns(token: token))).first)
        for name in ["alice-1", registration.id.text, token, token.lowercased(), "a1b2c3", "A1B2C3…C3D4", "A1B2C3D4A1"] {
            let answer = try await hub.trace(TraceQuestion(notification: id, device: name))
            #expect(answer.traces.map(\.cause) == [.accepted], "\(name)")
        }
        let all = try await hub.trace(TraceQuestion(notification: id, device: "Alice"))
        #expect(all.traces.map(\.device) == ["alice-1", "alice-2"] && all.traces.map(\.cause) == [.accepted, .tagMissing])
        #expect(try await bench.trace(id, "A1B2C3…FFFF").cause == .notRegistered)
    }

    @Test func `of a user with many devices some are traced and the others are counted`() async throws {
        let bench = try TraceBench()
        for number in 1...23 { try await bench.install("alice-\(number)", .phone(number), user: "alice", tags: ["sports"]) }
        let id = try await bench.send(.alert(to: "sports"))
        let answer = try await bench.hub.hub.trace(TraceQuestion(notification: id, device: "alice"))
        #expect(answer.traces.count == 20 && answer.furtherDevices == 3)
    }

    @Test func `the device of a direct send needs no registration`() async throws {
        let bench = try TraceBench()
        var request = try NotificationRequest.alert()
        request.audience = .devices([.phone(0xABCDEF), .phone(2)])
        let id = try await bench.send(request)
        #expect(try await bench.trace(id, DeviceHandle.phone(2).text).cause == .accepted)
        #expect(try await bench.trace(id, "000000…CDEF").cause == .accepted)
        #expect(try await bench.trace(id, DeviceHandle.phone(3).text).cause == .notAddressed)
    }

    @Test func `a prefix of a handle that is too short is rejected, and one that matches no handle was never registered`() async throws {
        let bench = try TraceBench()
        let token = String(repeating: "EE11C3D4", count: 8)
        try await bench.install("alice-1", .apns(token: token), tags: ["sports"])
        let id = try await bench.send(.alert(to: "sports"))
        for short in ["ee11", "EE11C", "EE11…C3D4"] {
            let error = await #expect(throws: PushError.self) { try await bench.trace(id, short) }
            #expect(error?.code == "device.not_found" && error?.status == 404)
            #expect(error?.hint == "a handle starts with it; pass at least 6 characters of the handle")
        }
        #expect(try await bench.trace(id, "ee12").cause == .notRegistered)
        #expect(try await bench.trace(id, "EE11C3").cause == .accepted)
        var straight = try NotificationRequest.alert()
        straight.audience = .devices([.apns(token: String(repeating: "BB11C3D4", count: 8))])
        let direct = try await bench.send(straight)
        await #expect(throws: PushError.self) { try await bench.trace(direct, "bb11") }
    }

    // MARK: - Plans

    @Test func `a device of the plan is traced like any other, and one outside the plan is reported as such`() async throws {
        let bench = try TraceBench()
        try await bench.install("alice-1", tags: ["sports"])
        let plan = try await bench.plan("sports")
        bench.hub.advance(by: .seconds(60))
        try await bench.install("alice-2", .phone(2), tags: ["sports"])
        let time = HubBench.startTime + .seconds(3600)
        let id = try await bench.hub.hub.accept(PlannedSend(PlanBinding(plan, tolerance: .devices(1))), at: time).outcome.id
        #expect(try await bench.trace(id, "alice-1").cause == .scheduled)
        let other = try await bench.trace(id, "alice-2")
        #expect(other.cause == .notInPlan && other.cause.result == .notShown)
        #expect(other.lines.map(\.text).contains("accepted, for \"sports\", to the devices of the plan p-0001"))
        bench.hub.clock.advance(to: time)
        await bench.hub.settle()
        #expect(try await bench.trace(id, "alice-1").cause == .accepted)
        #expect(try await bench.trace(id, "alice-2").cause == .notInPlan)
        await bench.hub.hub.stop()
    }

    @Test func `without a device, an unreadable plan is reported too`() async throws {
        let bench = try TraceBench()
        try await bench.install(tags: ["sports"])
        let id = try await bench.losePlan()
        let answer = try await bench.hub.hub.trace(TraceQuestion(notification: id))
        #expect(answer.state == .abandoned && answer.nearMisses.first == "not sent: cannot read the plan p-0001")
        await bench.hub.hub.stop()
    }

    // MARK: - All devices

    @Test func `without a device, the trace counts results by cause, with an example of each`() async throws {
        let bench = try TraceBench()
        for number in 1...5 { try await bench.install("alice-\(number)", .phone(number), tags: ["sports", "n\(number)"]) }
        bench.answer(.rejected(.invalidHandle()), .phone(4))
        let tag = try Tag("n5")
        bench.hooks.beforeDelivering { group in
            _ = await group.rule([DeliveryRuling(devices: .tagged(tag), decision: .skip, plugin: "quiet", reason: "at night")])
        }
        let id = try await bench.send(.alert(to: "sports"))
        let answer = try await bench.hub.hub.trace(TraceQuestion(notification: id))
        #expect(answer.counts.map(\.cause) == [.accepted, .tokenDead, .vetoed])
        #expect(answer.counts.map(\.devices) == [3, 1, 1])
        #expect(answer.counts.map(\.example) == ["alice-1", "alice-4", "alice-5"])
        #expect(answer.counts.last?.sentence == "The plugin quiet blocked it for alice-5: at night.")
        #expect(answer.traces.isEmpty && answer.state == .completed && answer.tags == "sports")
    }

    @Test func `a notification without targets reports near misses`() async throws {
        let bench = try TraceBench()
        try await bench.install(tags: ["sports"])
        let answer = try await bench.hub.hub.trace(TraceQuestion(notification: try await bench.send(.alert(to: "sport"))))
        #expect(answer.counts.isEmpty && answer.nearMisses == ["\"sports\" has 1 registration"])
    }

    // MARK: - Unknown devices and notifications

    @Test func `an unknown device is rejected with a similar one as a hint`() async throws {
        let bench = try TraceBench()
        try await bench.install(tags: ["sports"])
        let id = try await bench.send(.alert(to: "sports"))
        let error = await #expect(throws: PushError.self) { try await bench.trace(id, "alice-l") }
        #expect(error?.code == "device.not_found" && error?.status == 404 && error?.hint == "did you mean \"alice-1\"?")
    }

    @Test func `an unknown notification is distinguished from one that is no longer stored`() async throws {
        let bench = try TraceBench()
        try await bench.install(tags: ["sports"])
        let id = try await bench.send(.alert(to: "sports"))
        for wrong in ["n-0007", "n-1", "", "n-0001-1"] {
            let error = await #expect(throws: PushError.self) { try await bench.trace(wrong, "alice-1") }
            #expect(error?.code == "notification.not_found", "\(wrong)")
        }
        bench.hub.advance(by: .seconds(86_400))
        try await bench.hub.hub.removeOld(notificationsBefore: bench.hub.clock.now, tombstonesBefore: HubBench.startTime)
        let error = await #expect(throws: PushError.self) { try await bench.trace(id, "alice-1") }
        #expect(error?.code == "notification.forgotten" && error?.status == 404)
    }

    @Test func `unreadable data is an error and not a cause`() async throws {
        let bench = try TraceBench()
        try await bench.install(tags: ["sports"])
        let id = try await bench.send(.alert(to: "sports"))
        bench.hub.store.refuse([.devices])
        let error = await #expect(throws: PushError.self) { try await bench.trace(id, "alice-1") }
        #expect(error?.code == "storage.unavailable" && error?.isRetryable == true)
    }
}

/// The smallest term of an expression that fails.
@Suite struct TagFailureTests {
    @Test(arguments: [
        ("a", "b", "missing \"a\" in a"), ("!a", "a", "present \"a\" in !a"), ("a && b && c", "a c", "missing \"b\" in b"),
        ("a && (b || c)", "a", "missing \"b\" or \"c\" in b || c"), ("!(a || b)", "b", "present \"b\" in !(a || b)"),
        ("!(a && b)", "a b", "present \"a\" in !(a && b)"), ("a && !b && c", "a b", "present \"b\" in !b"),
        ("!!a", "", "missing \"a\" in !!a"), ("!a || !b", "a b", "present \"a\" in !a"),
    ])
    func `the smallest failing term is reported`(text: String, tags: String, expected: String) throws {
        let expression = try TagExpression(parsing: text)
        let its = Set(try tags.split(separator: " ").map { try Tag(String($0)) })
        let failure = try #require(expression.failure(for: its))
        #expect("\(failure.kind) \(failure.words) in \(failure.term)" == expected)
    }

    @Test(arguments: 0..<200)
    func `there is a failing term if and only if the device does not match`(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        func expression(_ depth: Int) throws -> TagExpression {
            switch depth == 0 ? 0 : random.next() % 4 {
            case 1: .not(try expression(depth - 1))
            case 2: .and([try expression(depth - 1), try expression(depth - 1)])
            case 3: .or([try expression(depth - 1), try expression(depth - 1)])
            default: .tag(try Tag("t\(random.next() % 4)"))
            }
        }
        let expression = try expression(3)
        let tags = Set(try (0..<4).filter { _ in random.next() % 2 == 0 }.map { try Tag("t\($0)") })
        #expect((expression.failure(for: tags) == nil) == expression.matches(tags))
        #expect(expression.failure(for: tags)?.tags.isEmpty != true)
    }
}

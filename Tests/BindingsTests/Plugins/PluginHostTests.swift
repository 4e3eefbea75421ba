import Lua
import PushModel
import Support
import Synchronization
import Testing

@testable import Bindings

@Suite struct PluginHostTests {
    // MARK: - Blocking hooks

    @Test func `before_send changes a notification, postpones it, or refuses it with a reason`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "words",
                """
                hooks = { before_send = { on_failure = "fail_open", run = function(draft)
                  if draft.payload.apns:find("secret", 1, true) then return { veto = "no secrets, please" } end
                  if draft.to == "Night" then return { after = "1h" } end
                  if draft.to == "Sports" then return { alert = "Changed", to = push.tag.any { "Sports", "Science" }, priority = "low" } end
                end } }
                """))
        let changed = try await bench.host.beforeSend(bench.draft())
        var expected = try NotificationRequest.alert("Changed", to: "Sports || Science")
        expected.options.priority = .low
        #expect(changed.request == expected)
        let later = try await bench.host.beforeSend(bench.draft(to: "Night"))
        #expect(later.dueTime == HubBench.startTime + .seconds(3600))
        let untouched = try bench.draft(to: "Other")
        #expect(try await bench.host.beforeSend(untouched) == untouched)
        let veto = await #expect(throws: PushError.self) { try await bench.host.beforeSend(bench.draft("a secret")) }
        #expect(veto?.code == "hook.veto")
        #expect(veto?.status == 403)
        #expect(veto?.message == "the plugin words rejected this: no secrets, please")
        #expect(bench.texts == [])
    }

    @Test func `plugins run in the order of the list, each with the result of the one before`() async throws {
        let bench = try PluginBench()
        func adding(_ name: String) -> PluginSource {
            PluginBench.plugin(
                name, "hooks = { before_send = { on_failure = 'fail_open', run = function(d) return { to = d.to .. ' || \(name)' } end } }")
        }
        try await bench.install(adding("b"), adding("a"))
        #expect(try await bench.host.beforeSend(bench.draft()).request.audience.expression?.description == "Sports || b || a")
    }

    @Test func `a plugin is not called for its own sends`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin("own", "hooks = { before_send = { on_failure = 'fail_open', run = function() return { veto = 'me' } end } }")
        )
        let draft = try bench.draft(origin: ["own"])
        #expect(try await bench.host.beforeSend(draft) == draft)
        await #expect(throws: PushError.self) { try await bench.host.beforeSend(bench.draft(origin: ["other"])) }
    }

    @Test func `sends of a plugin's script, from a route, a task or a hook, do not call the plugin itself`() async throws {
        let bench = try PluginBench(isHooked: true)
        try await bench.hub.register(.apns(token: String(repeating: "1", count: 64)), tags: ["Sports"])
        try await bench.install(
            PluginBench.plugin(
                "own",
                """
                needs = { "hub.send", "hub.write" },
                hooks = {
                  before_send = { on_failure = "fail_closed", run = function(draft) return { veto = "origin " .. #draft.origin } end },
                  after_send = function(sent) push.log("told", #sent.origin) end,
                },
                routes = {
                  { path = "/send", auth = "open", run = function()
                    local outcome = push.send { to = "Sports", alert = "x" }
                    push.spawn(function() push.schedule { to = "Sports", alert = "y", after = "1h" } end):await()
                    return { json = { sent = outcome.sent } }
                  end },
                }
                """),
            PluginBench.plugin(
                "other",
                "hooks = { before_send = { on_failure = 'fail_open', run = function(d) push.log(table.concat(d.origin, ',')) end } }"),
            grants: ["hub.send", "hub.write"])
        guard case .found(let route) = bench.host.route(plugin: "own", method: "GET", path: ["send"]) else {
            Issue.record("there is no such route")
            return
        }
        let answer = try await route.answer(PluginRequest(method: "GET", path: ["send"]))
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"sent":1}"#)
        #expect(bench.texts == ["info own", "info own"], "the other plugin sees on whose behalf, and the own one is not asked")
    }

    @Test func `a revoked grant stays revoked after the state is recreated`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "greedy",
                """
                needs = { "kv" },
                hooks = {
                  on_outcome = { cpu = "10s", run = function()
                    kept = kept or {} for i = 1, 40 do kept[#kept + 1] = ("x"):rep(1000000) end
                  end },
                  after_send = function() push.kv.add "n" push.log "kept" end,
                }
                """), grants: ["kv"])
        let sent = SentNotification(id: "n-1", draft: try bench.draft())
        await bench.host.afterSend(sent)
        #expect(bench.texts == ["info kept"])
        bench.host.restrict("greedy", to: [])
        let instance = bench.host.live.first?.plugin.script
        await bench.host.onOutcome(
            EndedNotification(
                hub: "hub",
                outcome: NotificationOutcome(
                    id: "n-1", state: .completed, tags: nil, times: NotificationTimes(enqueuedAt: HubBench.startTime))))
        try await until { bench.host.live.first?.plugin.script !== instance }
        await bench.host.afterSend(sent)
        #expect(bench.texts.last?.contains("capability.denied") == true, "\(bench.texts)")
    }

    @Test func `an answer that the hub cannot use is a failure of that hook alone`() async throws {
        let bench = try PluginBench()
        func plugin(_ answer: String, _ policy: String) -> PluginSource {
            PluginBench.plugin("odd", "hooks = { before_send = { on_failure = '\(policy)', run = function() return \(answer) end } }")
        }
        let draft = try bench.draft()
        for answer in [
            "{ after = '8d' }", "{ collapse_id = ('x'):rep(100) }", "{ payload = { apns = 'not json' } }", "{ veto = '' }",
            "{ properties = { ['bad name $()'] = 'x' } }", "{ title = 'x' }", "{ headers = { apns = { ['x-y'] = '1' } } }",
            "{ at = '2026-01-06T00:00:00Z', after = '1h' }", "{ alert = 'x', payload = { apns = { aps = { alert = 'x' } } } }",
            "{ alert = ('x'):rep(5000) }",
        ] {
            try await bench.install(plugin(answer, "fail_open"))
            #expect(try await bench.host.beforeSend(draft) == draft, "\(answer)")
            #expect(bench.host.statuses.first?.failures == 1 && bench.messages.last?.run != nil, "\(answer)")
            try await bench.install(plugin(answer, "fail_closed"))
            let error = await #expect(throws: PushError.self) { try await bench.host.beforeSend(draft) }
            #expect(error?.code == "hook.failed" && error?.status == 503)
        }
        try await bench.install(
            PluginBench.plugin(
                "odd",
                "hooks = { on_register = { on_failure = 'fail_open', run = function() return { add_tags = { '$InstallationId:{x}' } } end } }"
            ))
        let candidate = RegistrationDraft(
            hub: "hub", subject: RegistrationDraft.Subject(.installation, id: "i", platform: .apns), tags: [], isNew: true)
        #expect(try await bench.host.onRegister(candidate).tags == [])
        // None of the hub's own tags, for any kind of device.
        for (kind, tag) in [
            (RegistrationDraft.Subject.Kind.registration, "$UserId:{x}"), (.installation, "$userid:{x}"), (.registration, "$x"),
        ] {
            try await bench.install(
                PluginBench.plugin(
                    "odd",
                    "hooks = { on_register = { on_failure = 'fail_closed', run = function() return { add_tags = { '\(tag)' } } end } }"))
            let candidate = RegistrationDraft(
                hub: "hub", subject: RegistrationDraft.Subject(kind, id: "i", platform: .apns), tags: [], isNew: true)
            await #expect(throws: PushError.self) { try await bench.host.onRegister(candidate) }
        }
        for numbers in ["1.5", "-1", "2^40"] {
            try await bench.install(
                PluginBench.plugin(
                    "odd",
                    "hooks = { before_deliver = { on_failure = 'fail_closed', run = function() return { { devices = { \(numbers) }, skip = true, reason = 'x' } } end } }"
                ))
            await #expect(throws: PushError.self) { try await bench.host.beforeDeliver(NotedGroup([HookedDevice(number: 1)])) }
        }
    }

    @Test func `before_deliver rules on devices by tag and by number`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "quiet",
                """
                needs = { "hub.read" },
                hooks = { before_deliver = { on_failure = "fail_open", run = function(group)
                  local counts = group:count_tags { "zone:a", "zone:b", "zone:c" }
                  local rulings = {}
                  if counts["zone:a"] == 2 and counts["zone:c"] == nil then
                    rulings[1] = { tag = "zone:a", hold_until = "2026-01-05T10:00:00Z", reason = "they sleep" }
                  end
                  for device in group:devices() do
                    if device.number == 4 and device.tags[1] == "zone:b" then rulings[2] = { devices = { device.number }, skip = true, reason = "asked for it" } end
                  end
                  return rulings
                end } }
                """), grants: ["hub.read"])
        let devices: [HookedDevice] = try (1...4).map { number in
            HookedDevice(
                number: UInt32(number), tags: [try Tag(number < 3 ? "zone:a" : "zone:b")])
        }
        let group = try NotedGroup(devices)
        try await bench.host.beforeDeliver(group)
        #expect(bench.texts == [])
        #expect(
            group.rulings == [
                DeliveryRuling(
                    devices: .tagged(try Tag("zone:a")), decision: .hold(until: HubBench.startTime + .seconds(3600)), plugin: "quiet",
                    reason: "they sleep"),
                DeliveryRuling(devices: .chosen([4]), decision: .skip, plugin: "quiet", reason: "asked for it"),
            ])
        #expect(group.remaining.map(\.number) == [3])
    }

    @Test func `devices that a ruling passes go on to the next plugin`() async throws {
        let bench = try PluginBench()
        func ruling(_ name: String, _ rulings: String) -> PluginSource {
            PluginBench.plugin(
                name, "hooks = { before_deliver = { on_failure = 'fail_open', run = function() return { \(rulings) } end } }")
        }
        try await bench.install(
            ruling("first", "{ tag = 'day', pass = true }, { all = true, skip = true, reason = 'asleep' }"),
            ruling("second", "{ tag = 'day', skip = true, reason = 'too many' }"))
        let group = try NotedGroup([HookedDevice(number: 1, tags: [try Tag("day")]), HookedDevice(number: 2)])
        try await bench.host.beforeDeliver(group)
        #expect(bench.texts == [])
        #expect(
            group.rulings == [
                DeliveryRuling(devices: .tagged(try Tag("day")), decision: .pass, plugin: "first", reason: ""),
                DeliveryRuling(devices: .all, decision: .skip, plugin: "first", reason: "asleep"),
                DeliveryRuling(devices: .tagged(try Tag("day")), decision: .skip, plugin: "second", reason: "too many"),
            ])
        #expect(group.remaining == [])
    }

    @Test(
        arguments: [
            ("skip = true", "ruling 1 needs a \"reason\""), ("hold_until = 0", "ruling 1 needs a \"reason\""),
            ("pass = true, skip = true, reason = 'x'", "ruling 1 needs one of"), ("reason = 'x'", "ruling 1 needs one of"),
            ("pass = true, tag = 'a', devices = { 1 }", "selects devices in two ways"),
        ])
    func `a ruling with missing or conflicting members is a failure of the hook`(ruling: String, expected: String) async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "p", "hooks = { before_deliver = { on_failure = 'fail_open', run = function() return { { \(ruling) } } end } }"))
        let group = try NotedGroup([HookedDevice(number: 1)])
        try await bench.host.beforeDeliver(group)
        #expect(bench.texts.first?.contains(expected) == true, "\(bench.texts)")
        #expect(group.rulings == [])
    }

    @Test func `a plugin signs with a secret of its configuration without reading it`() async throws {
        let bench = try PluginBench(secrets: ["audit": "Jefe"])
        let plugin = PluginBench.plugin(
            "p",
            """
            config = { key = { type = "secret", required = true } },
            hooks = { after_send = function()
              push.log(push.sign(push.config.key, "what do ya want for nothing?"), push.config.key)
            end }
            """)
        bench.host.install([try await bench.load(plugin, values: .object(["key": "audit"]))])
        await bench.host.afterSend(SentNotification(id: "n-1", draft: try bench.draft()))
        #expect(bench.texts == ["info 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843\t***"])
    }

    @Test func `listing the devices of a group needs the right to read the hub`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "nosy",
                "hooks = { before_deliver = { on_failure = 'fail_open', run = function(g) for d in g:devices() do end end } }"))
        try await bench.host.beforeDeliver(NotedGroup([HookedDevice(number: 1)]))
        #expect(bench.texts.count == 1)
        #expect(bench.texts.first?.contains("capability.denied") == true)
        #expect(bench.denials.map(\.capability) == [.hubRead])
    }

    @Test func `on_register changes tags, refuses, and schedules work for after the registration`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "welcome",
                """
                needs = { "hub.send" },
                hooks = { on_register = { on_failure = "fail_closed", run = function(r)
                  if r.user == "eve" then return { veto = "not you" } end
                  return { add_tags = { "new" }, remove_tags = { "old" }, once_kept = function(kept)
                    push.log("kept " .. kept.id)
                    push.send { to = "new", alert = "Welcome" }
                  end }
                end } }
                """), grants: ["hub.send"])
        let draft = RegistrationDraft(
            hub: "hub", subject: RegistrationDraft.Subject(.installation, id: "i-1", platform: .apns),
            tags: [try Tag("old"), try Tag("kept")], isNew: true)
        let changed = try await bench.host.onRegister(draft)
        #expect(changed.tags.map(\.text) == ["kept", "new"])
        try await bench.hub.register(.phone(1), tags: ["new"])
        for work in changed.onceKept { await work() }
        #expect(bench.texts == ["info kept i-1"])
        #expect(bench.hub.connector.batches.count == 1)
        var eve = draft
        eve.subject.userID = "eve"
        let veto = await #expect(throws: PushError.self) { try await bench.host.onRegister(eve) }
        #expect(veto?.code == "hook.veto")
    }

    // MARK: - Failures

    @Test(
        arguments: [
            ("while true do end", "budget.cpu"), ("local t = {} while true do t[#t + 1] = ('x'):rep(1e6) end", "budget.memory"),
            ("return 5", "args.wrong_type"), ("return { vetto = 'x' }", "args.unknown_key"), ("return { to = 7 }", "args.wrong_type"),
            ("return { at = 'soon' }", "args.time"), ("return { properties = { x = print } }", "args.wrong_type"),
            ("local t = {} t.t = t return t", "value.unsupported"), ("error 'boom'", "script.error"),
            ("push.send { to = 'x', alert = 'y' }", "phase.not_allowed"),
            ("return io.open '/etc/passwd'", "sandbox.absent"), ("push.sleep '1h'", "hook.timeout"),
        ])
    func `a failing hook is isolated and logged, and the send follows its policy`(body: String, code: String) async throws {
        for policy in ["fail_open", "fail_closed"] {
            let bench = try PluginBench()
            try await bench.install(
                PluginBench.plugin(
                    "bad",
                    "hooks = { before_send = { on_failure = '\(policy)', cpu = '500ms', timeout = '2s', run = function() \(body) end } }"),
                PluginBench.plugin(
                    "good", "hooks = { before_send = { on_failure = 'fail_closed', run = function() return { alert = 'good' } end } }"))
            let draft = try bench.draft()
            let task = Task { try await bench.host.beforeSend(draft) }
            if code == "hook.timeout" {
                // The deadline and the sleep.
                try await until { bench.hub.clock.sleepingTaskCount >= 2 }
                bench.hub.clock.advance(to: HubBench.startTime + .seconds(2))
            }
            let result = await task.result
            if policy == "fail_open" {
                #expect(try result.get().request == NotificationRequest.alert("good", to: "Sports"))
            } else {
                let error = #expect(throws: PushError.self) { try result.get() }
                #expect(error?.code == "hook.failed")
                #expect(error?.status == 503)
                #expect(error?.isRetryable == true)
                #expect(error?.message.contains(code) == true)
            }
            let told = try #require(bench.messages.first)
            #expect(told.level == .error)
            #expect(told.plugin == "bad")
            #expect(told.version.count == 6)
            #expect(told.run?.hasPrefix("p-") == true)
            #expect(told.text.contains("(\(code))"), "\(told.text)")
            // A returned value has no line of its own: the location is that of the function.
            if code.hasPrefix("args.") || code == "value.unsupported" {
                #expect(told.location?.description.hasPrefix("plugins/bad/init.lua:") == true, "\(told)")
            }
        }
    }

    @Test func `a hook that fails repeatedly is suspended, probed once, and called again when it works`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "shaky",
                "hooks = { before_send = { on_failure = 'fail_closed', run = function() if bad then error 'bad' end return { alert = 'ok' } end } }",
                before: "bad = true"))
        for _ in 1...HookCircuitBreaker.threshold {
            let error = await #expect(throws: PushError.self) { try await bench.host.beforeSend(bench.draft()) }
            #expect(error?.code == "hook.failed")
        }
        let status = try #require(bench.host.statuses.first)
        #expect(status.open.map(\.hook) == [.beforeSend])
        #expect(status.open.first?.until == HubBench.startTime + HookCircuitBreaker.firstPause)
        #expect(status.failures == HookCircuitBreaker.threshold)
        #expect(bench.texts.last?.contains("is suspended until") == true)
        let open = await #expect(throws: PushError.self) { try await bench.host.beforeSend(bench.draft()) }
        #expect(open?.code == "hook.open")
        #expect(bench.host.statuses.first?.calls == HookCircuitBreaker.threshold)
        bench.hub.advance(by: HookCircuitBreaker.firstPause)
        let probe = await #expect(throws: PushError.self) { try await bench.host.beforeSend(bench.draft()) }
        #expect(probe?.code == "hook.failed")
        #expect(bench.host.statuses.first?.open.first?.until == HubBench.startTime + HookCircuitBreaker.firstPause * 3)
        // The state of one version does not carry over to the next.
        try await bench.install(
            PluginBench.plugin(
                "shaky", "hooks = { before_send = { on_failure = 'fail_closed', run = function() return { alert = 'ok' } end } }"))
        #expect(try await bench.host.beforeSend(bench.draft()).request == NotificationRequest.alert("ok", to: "Sports"))
        #expect(bench.host.statuses.first?.open.isEmpty == true)
        #expect(bench.host.statuses.first?.failures == 0)
    }

    @Test func `when the caller of a probe is cancelled the next call is the probe`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "slow",
                """
                hooks = { before_send = { on_failure = "fail_open", timeout = "5s", run = function(draft)
                  if draft.to == "Bad" then error "bad" end
                  if draft.to == "Slow" then push.sleep "1s" end
                  return { alert = "ok" }
                end } }
                """))
        for _ in 1...HookCircuitBreaker.threshold { _ = try await bench.host.beforeSend(bench.draft(to: "Bad")) }
        bench.hub.advance(by: HookCircuitBreaker.firstPause)
        let probe = Task { [draft = try bench.draft(to: "Slow")] in try await bench.host.beforeSend(draft) }
        try await until { bench.hub.clock.sleepingTaskCount >= 2 }
        // Other calls skip the hook during the probe.
        #expect(try await bench.host.beforeSend(bench.draft()) == bench.draft())
        probe.cancel()
        _ = await probe.result
        #expect(try await bench.host.beforeSend(bench.draft()).request == NotificationRequest.alert("ok", to: "Sports"))
        #expect(bench.host.statuses.first?.open.isEmpty == true)
    }

    @Test func `a plugin whose memory is full restarts`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "leak",
                """
                hooks = { before_send = { on_failure = "fail_closed", cpu = "10s", timeout = "10s", run = function(draft)
                  if draft.to == "Leak" then for i = 1, 40 do kept[#kept + 1] = ("x"):rep(1000000) end end
                  return { alert = "room" }
                end } }
                """, before: "kept = {}"))
        let instance = bench.host.live.first?.plugin.script
        await #expect(throws: PushError.self) { try await bench.host.beforeSend(bench.draft(to: "Leak")) }
        try await until { bench.host.live.first?.plugin.script !== instance }
        #expect(try await bench.host.beforeSend(bench.draft()).request == NotificationRequest.alert("room", to: "Sports"))
    }

    @Test func `a ruling must select devices, and the key all selects every device`() async throws {
        let bench = try PluginBench()
        func ruling(_ text: String) -> PluginSource {
            PluginBench.plugin(
                "rules", "hooks = { before_deliver = { on_failure = 'fail_open', run = function() return { \(text) } end } }")
        }
        let devices = [HookedDevice(number: 1), HookedDevice(number: 2)]
        try await bench.install(ruling("{ tag = nil, skip = true, reason = 'x' }"))
        let untouched = try NotedGroup(devices)
        try await bench.host.beforeDeliver(untouched)
        #expect(untouched.count == 2)
        #expect(bench.texts.last?.contains("does not select any devices") == true)
        try await bench.install(ruling("{ all = true, skip = true, reason = 'x' }"))
        let all = try NotedGroup(devices)
        try await bench.host.beforeDeliver(all)
        #expect(all.count == 0)
    }

    @Test func `an endless step ends the state, and a new one is created from the same files`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "stuck",
                """
                hooks = { before_send = { on_failure = 'fail_open', run = function(draft)
                  if draft.to == "Stuck" then \(Self.endlessStep) end
                  return { alert = 'alive' }
                end } }
                """))
        let draft = try bench.draft(to: "Stuck")
        let instance = bench.host.live.first?.plugin.script
        #expect(try await bench.host.beforeSend(draft) == draft)
        try await until { bench.host.live.first?.plugin.script !== instance }
        #expect(try await bench.host.beforeSend(bench.draft()).request == NotificationRequest.alert("alive", to: "Sports"))
    }

    /// Work of the library in one step that cannot be interrupted.
    private static let endlessStep = "local t = {} for i = 1, 100000 do t[i * 131071] = true end"

    // MARK: - Hooks that are not awaited

    @Test func `hooks that only receive events do not stop a send, and their failures are logged`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "audit",
                """
                hooks = {
                  after_send = function(sent) push.log(sent.id, sent.to) end,
                  on_outcome = { run = function(ended) push.log(ended.id, ended.state, ended.counts.apns.Success) end },
                }
                """),
            PluginBench.plugin("broken", "hooks = { after_send = function() error 'no' end }"))
        await bench.host.afterSend(SentNotification(id: "n-1", draft: try bench.draft()))
        var outcome = NotificationOutcome(id: "n-1", state: .completed, tags: nil, times: NotificationTimes(enqueuedAt: HubBench.startTime))
        outcome.tally.counts = [.apns: [.success: 3]]
        await bench.host.onOutcome(EndedNotification(hub: "hub", outcome: outcome))
        #expect(bench.texts.filter { $0.hasPrefix("info") } == ["info n-1\tSports", "info n-1\tCompleted\t3"])
        #expect(bench.texts.count { $0.hasPrefix("error after_send failed") } == 1)
    }

    // MARK: - Versions

    @Test func `a call uses its version to the end, whatever is installed in between`() async throws {
        let bench = try PluginBench()
        func version(_ text: String) -> PluginSource {
            PluginBench.plugin(
                "pinned",
                """
                hooks = { before_send = { on_failure = "fail_closed", timeout = "10s", run = function(draft)
                  if draft.to == "Slow" then push.sleep "1s" end
                  return { alert = require("text").of(), to = "x" }
                end } }
                """, files: ["text.lua": "return { of = function() return '\(text)' end }"])
        }
        try await bench.install(version("one"))
        let slow = Task { [draft = try bench.draft(to: "Slow")] in try await bench.host.beforeSend(draft) }
        try await until { bench.hub.clock.sleepingTaskCount >= 2 }
        try await bench.install(version("two"))
        #expect(try await bench.host.beforeSend(bench.draft()).request == NotificationRequest.alert("two", to: "x"))
        bench.hub.clock.advance(to: HubBench.startTime + .seconds(1))
        // It requires its module only at this point.
        #expect(try await slow.value.request == NotificationRequest.alert("one", to: "x"))
    }

    @Test func `a phase without any hook is not called`() async throws {
        let bench = try PluginBench()
        #expect(HookPhase.allCases.allSatisfy { !bench.host.hasHook($0) })
        try await bench.install(PluginBench.plugin("one", "hooks = { after_send = function() end }"))
        #expect(HookPhase.allCases.filter { bench.host.hasHook($0) } == [.afterSend])
        bench.host.install([])
        #expect(!bench.host.hasHook(.afterSend))
    }

    @Test func `requests of one plugin are limited, so that others can make theirs`() async throws {
        let servers = SilentServers()
        let bench = try PluginBench(http: servers)
        try await bench.install(
            PluginBench.plugin(
                "eager",
                """
                needs = { "http:api.example.com" },
                hooks = { after_send = { cpu = "10s", run = function()
                  for i = 1, 40 do push.spawn(function()
                    local _, failure = push.try(push.http, { url = "https://api.example.com/" .. i })
                    if failure then push.log(failure.code) end
                  end) end
                end } }
                """), grants: ["http:api.example.com"])
        let told = Task { [sent = SentNotification(id: "n-1", draft: try bench.draft())] in await bench.host.afterSend(sent) }
        try await until { bench.texts.count == 8 && servers.count == PluginContext.maximumRequests }
        #expect(bench.texts == Array(repeating: "info http.busy", count: 8))
        servers.answer()
        await told.value
    }
}

/// Servers that answer only when the test says so.
private final class SilentServers: OutboundHTTP {
    private let state = Mutex<(waiting: [CheckedContinuation<Void, Never>], count: Int)>(([], 0))

    var count: Int { state.withLock { $0.count } }

    func send(_ request: OutboundRequest, within reach: OutboundAllowlist) async throws(PushError) -> OutboundResponse {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiting.append(continuation)
                state.count += 1
            }
        }
        throw PushError("http.unreachable", "nobody answers")
    }

    func answer() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

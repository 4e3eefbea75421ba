import Bindings
import HostSupport
import Lua
import Testing

@Suite struct TaskTests {
    @Test func `a spawned function runs concurrently with the flow and returns its results`() async throws {
        let text = try await result(
            of: """
                local order = {}
                local task = push.spawn(function(a, b) order[#order + 1] = "task" push.sleep "1s" return a + b end, 1, 2)
                order[#order + 1] = "flow"
                return { task:await(), order, push.clock.now() - 1767603600 }
                """)
        #expect(text == #"[3,["task","flow"],1]"# || text == #"[3,["flow","task"],1]"#, "\(text)")
    }

    @Test func `functions run concurrently, and their results are in order`() async throws {
        let text = try await result(
            of: """
                local order = {}
                local function wait(name, d) return function() push.sleep(d) order[#order + 1] = name return name end end
                local results = push.all { wait("slow", "3s"), wait("quick", "1s"), wait("middle", "2s") }
                return { results, order, push.clock.now() - 1767603600 }
                """)
        #expect(text == #"[["slow","quick","middle"],["quick","middle","slow"],3]"#)
    }

    @Test func `a list of functions is read without its metatable`() async throws {
        let text = try await result(
            of: """
                local touched = 0
                local function touch() touched = touched + 1 end
                local meta = { __pairs = touch, __index = touch, __len = touch }
                local list = setmetatable({ function() return 1 end, function() return 2 end }, meta)
                local inside
                push.step("in a step", function() inside = push.all(list) end)
                return { push.all(list), inside, touched }
                """)
        #expect(text == "[[1,2],[1,2],0]")
    }

    @Test func `the first error ends the others`() async throws {
        let run = try await rehearse(
            """
            local reached = false
            local _, err = push.try(function()
              push.all {
                function() push.sleep "1h" reached = true end,
                function() push.sleep "1s" push.fail "broken" end,
              }
            end)
            return { err.code, err.message, reached, push.clock.now() - 1767603600 }
            """)
        #expect(run.result == #"["flow.failed","broken",false,1]"#)
    }

    @Test func `a cancelled function can clean up`() async throws {
        let text = try await result(
            of: """
                local seen
                local task = push.spawn(function()
                  local ok, err = pcall(push.sleep, "1d")
                  seen = err.code
                  error(err, 0)
                end)
                push.sleep "1s"
                task:cancel()
                local ok, err = pcall(function() task:await() end)
                return { seen, ok, err.code, push.clock.now() - 1767603600 }
                """)
        #expect(text == #"["cancelled",false,"cancelled",1]"#)
    }

    @Test func `an error in a task that is never awaited fails the run`() async throws {
        let error = try await failure(of: "push.spawn(function()\n  push.fail 'lost'\nend)\npush.sleep '1s'")
        #expect(error.message == "lost")
        #expect(error.location?.line == 2)
    }

    static let crowd = """
        local sessions, phones, order = {}, {}, {}
        local platforms = { "apns", "fcm", "gcm", "wns" }
        local jobs = {}
        for i = 1, 12 do
          jobs[i] = function()
            local s = login("user" .. i % 3)
            push.sleep(math.random(0, 3))
            local p = push.device { name = "p-" .. i, platform = platforms[i % 4 + 1] }
            s:register { device = p, tags = { "crowd" } }
            phones[p] = i
            order[#order + 1] = i
            return p:handle()
          end
        end
        local handles = push.all(jobs)
        for p, i in pairs(phones) do print(p, i, tostring({}), tostring(print)) end
        for key, value in pairs { zeta = 1, alpha = 2, [3] = 3, [true] = 4, [2.5] = 5 } do print(key, value) end
        push.all {
          function() print(push.json.encode(push.send { to = "crowd", alert = "One" })) end,
          function() print(push.json.encode(push.send { to = "crowd", alert = "Two" })) end,
        }
        push.check(false, "shown " .. tostring(math.random(1000000)))
        return { handles, order }
        """

    @Test func `the same seed reproduces a run event by event, whatever else runs`() async throws {
        let runs = try await withThrowingTaskGroup(of: Rehearsal.self) { group in
            for _ in 0..<4 { group.addTask { try await rehearse(Self.crowd, seed: 7) } }
            return try await group.reduce(into: [Rehearsal]()) { $0.append($1) }
        }
        let first = try #require(runs.first)
        #expect(first.error == nil)
        #expect(first.log.count > 12)
        for run in runs.dropFirst() {
            #expect(run.result == first.result)
            #expect(run.everything == first.everything)
        }
        let other = try await rehearse(Self.crowd, seed: 8)
        #expect(other.result != first.result)
    }

    @Test func `a task's work counts for the step that started it, until the step ends`() async throws {
        let run = try await rehearse(
            """
            local s = login "ana" phone(s, "a", "apns")
            local function send() push.send { to = "username:ana", alert = "x" } push.expect(1).to.equal(1) end
            local late
            push.step("outer", function()
              push.all { send, function() push.spawn(send):await() end, push.spawn(send) }
              late = push.spawn(function() push.sleep "1h" send() push.step("own", send) end)
            end)
            late:await()
            """)
        #expect(run.hasPassed)
        #expect(run.steps.map(\.name) == ["outer", "own"])
        #expect(run.steps.map(\.sends.count) == [3, 1])
        #expect(run.steps.map(\.expectations) == [3, 1])
        #expect(run.events.count { if case .sent = $0 { true } else { false } } == 1)
    }
}

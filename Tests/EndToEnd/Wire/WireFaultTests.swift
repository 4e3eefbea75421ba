import Bindings
import HostSupport
import PushLab
import PushModel
import Testing

/// Faults, time and many tasks have the same effects with and without the network.
@Suite struct WireFaultTests {
    private static let phones = """
        local names, phones, s = { "apns", "fcm", "gcm", "wns", "browser" }, {}, login "alice"
        for _, name in ipairs(names) do phones[name] = phone(s, name, name) end
        local function tell(text)
          local rows = {}
          for _, row in ipairs(push.send { to = "username:alice", alert = text }.devices) do
            rows[#rows + 1] = ("%s %s %s %d"):format(row.name, row.outcome, row.reason, #phones[row.name]:inbox())
          end
          print(table.concat(rows, "; "), push.clock.iso(), #push.wire())
        end

        """

    private static let scripts: [(name: String, lua: String)] = [
        (
            "every refusal of every service",
            """
            for _, name in ipairs { "apns", "fcm", "wns", "browser" } do
              for _, word in ipairs(push.simulator[name]:reasons()) do
                local p = push.device { name = name .. word, platform = name }
                push.simulator[name]:fail { reason = word, next = 1 }
                local row = push.send { device = p, alert = word }.devices[1]
                print(name, word, row.outcome, row.reason, #p:inbox(), push.clock.iso())
                push.simulator[name]:reset()
              end
            end
            """
        ),
        (
            "connections that break before the request",
            """
            for count = 1, 3 do
              for _, name in ipairs(names) do push.simulator[name]:disconnect { next = count } end
              tell("after " .. count)
            end
            push.simulator.browser:disconnect { next = 1000 }
            push.simulator.apns:disconnect { next = 1000 }
            tell "never"
            """
        ),
        (
            "connections that break after the request",
            """
            for count = 1, 3 do
              for _, name in ipairs(names) do push.simulator[name]:disconnect { next = count, after_request = true } end
              tell("twice " .. count)
            end
            for _, name in ipairs(names) do
              push.simulator[name]:disconnect { after_request = true }
              push.simulator[name]:disconnect {}
              push.simulator[name]:fail { reason = push.simulator[name]:reasons()[1], next = 1 }
            end
            tell "all of it"
            """
        ),
        (
            "slow services, and time that goes by beside them",
            """
            push.simulator.wns:latency "2s"
            push.simulator.apns:latency "250ms"
            local ticks = push.spawn(function() for i = 1, 20 do push.sleep "300ms" print("tick", i, push.clock.iso()) end end)
            tell "slow"
            push.simulator.fcm:latency "5s"
            tell "slower"
            ticks:await()
            -- Tokens of access have run out by then.
            push.clock.advance "25h"
            tell "a day later"
            """
        ),
        (
            "many at a time",
            """
            local tasks = {}
            for i = 1, 12 do
              tasks[i] = function()
                push.sleep((i % 3) * 10 .. "ms")
                tell("message " .. i)
                print(i, phones.apns:wait_for({ alert = "message " .. i }).title)
              end
            end
            push.all(tasks)
            phones.fcm:offline()
            tell "offline"
            phones.fcm:online()
            """
        ),
    ]

    private func agree(_ lua: String) async throws -> Rehearsal {
        let near = try await rehearse(lua)
        let far = try await rehearse(lua, over: try WireKind.network.opened())
        #expect(far.everything == near.everything)
        #expect(far.log == near.log)
        return far
    }

    @Test(arguments: scripts.indices) func `faults and time have the same effects over the network`(index: Int) async throws {
        let (name, lua) = Self.scripts[index]
        let run = try await agree(Self.phones + lua)
        #expect(run.error == nil, "\(name)")
        #expect(run.events.contains { if case .crossed = $0 { true } else { false } }, "\(name)")
        #expect(run.log.count > 3, "\(name)")
    }

    @Test func `errors and stalls have the same report over the network`() async throws {
        for lua in ["tell 'once' phones.apns:next_push() phones.apns:next_push()", "tell 'once' error 'mine'"] {
            #expect(try await agree(Self.phones + lua).error != nil)
        }
    }

    @Test func `a secure payload is on no wire, and recordings contain no credentials`() async throws {
        let run = try await agree(
            """
            local bank, alice = login "bank", login "alice"
            local p, w = phone(alice, "alice-1", "apns"), phone(alice, "alice-2", "fcm")
            local receipt = bank:send_secure { to = push.tag.user "alice", payload = { code = "TOPSECRET-4711" } }
            assert(alice:fetch_secure_payload(receipt.id).code == "TOPSECRET-4711")
            """)
        #expect(run.error == nil)
        #expect(run.everything.contains("secureId"))
        #expect(run.everything.contains("bearer ***"))
        for secret in ["TOPSECRET", "4711", "bearer ey", "Bearer ey"] { #expect(!run.everything.contains(secret), "\(secret)") }
    }
}

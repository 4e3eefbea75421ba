import Lua
import Testing

/// `push.simulator`.
@Suite struct SimulatorTests {
    @Test func `a service refuses the next ones, one phone, or all until it is reset`() async throws {
        let text = try await result(
            of: """
                local s = login "ana"
                local a, b = phone(s, "a", "apns"), phone(s, "b", "apns")
                local function reasons(outcome)
                  local list = {}
                  for i, d in ipairs(outcome.devices) do list[i] = d.reason end
                  return list
                end
                local function send() return reasons(push.send { to = "username:ana", alert = "x" }) end
                local seen = {}
                push.simulator.apns:fail { reason = "BadTopic", next = 1 }
                seen[1] = send() seen[2] = send()
                push.simulator.apns:fail { reason = "PayloadTooLarge", device = b }
                seen[3] = send() seen[4] = send()
                push.simulator.apns:reset()
                seen[5] = send()
                return seen
                """)
        #expect(text == #"[["BadTopic",""],["",""],["","PayloadTooLarge"],["","PayloadTooLarge"],["",""]]"#)
    }

    @Test func `latency takes virtual time, and a broken connection is tried again`() async throws {
        let text = try await result(
            of: """
                local s = login "ana" phone(s, "a", "fcm")
                push.simulator.gcm:latency "2s"
                push.send { to = "username:ana", alert = "x" }
                local slow = push.clock.iso()
                push.simulator.fcm:reset()
                push.simulator.fcm:disconnect { next = 2 }
                local outcome = push.send { to = "username:ana", alert = "y" }
                return { slow:sub(12, 19) > "09:00:01", outcome.sent, #push.find_device("a"):inbox(), push.simulator.fcm.service }
                """)
        #expect(text == #"[true,1,2,"fcm"]"#)
    }

    @Test(
        arguments: [
            ("push.simulator.apns:fail { reason = 'Unregisterd' }", "simulator.reason", "Unregistered"),
            ("push.simulator.apns:fail {}", "args.missing", "reason"),
            ("push.simulator.apns:fail { reason = 'Shutdown', next = 0 }", "simulator.count", "next"),
            ("push.simulator.apn:reset()", "script.unknown_name", "apns"),
            ("push.simulator.apns:fial {}", "script.unknown_name", "fail"),
        ])
    func `a wrong word names the right one`(lua: String, code: String, word: String) async throws {
        let error = try await failure(of: lua)
        #expect(error.code == code)
        #expect("\(error.message) \(error.hint ?? "")".contains(word))
    }

    @Test func `every word that a service lists is one that it can be made to say`() async throws {
        let text = try await result(
            of: """
                local count = 0
                for _, name in ipairs { "apns", "fcm", "wns", "browser" } do
                  local service = push.simulator[name]
                  for _, reason in ipairs(service:reasons()) do
                    service:fail { reason = reason, next = 1 }
                    count = count + 1
                  end
                  service:reset()
                end
                return count > 30
                """)
        #expect(text == "true")
    }

    @Test func `pages of installations are walked through to the end`() async throws {
        let text = try await result(
            of: """
                for i = 1, 230 do push.install("i-" .. i, { platform = "apns", push_channel = ("%04X"):format(i), tags = { i % 2 == 0 and "even" or "odd" } }) end
                local all, even = 0, 0
                for _ in push.installations() do all = all + 1 end
                for installation in push.installations { tag = "even" } do even = even + 1 assert(installation.tags[1] == "even") end
                for _ in push.installations { user = "nobody" } do error "none" end
                return { all, even }
                """)
        #expect(text == "[230,115]")
        #expect(try await failure(of: "push.installations { user = 'a', tag = 'b' }()").code == "installation.filter")
    }
}

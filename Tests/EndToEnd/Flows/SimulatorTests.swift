import Bindings
import HostSupport
import Lua
import Testing

/// `push.simulator`.
@Suite struct SimulatorTests {
    @Test func `a service can be made to refuse a number of pushes, one phone, or all until a reset`() async throws {
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

    @Test func `latency takes virtual time, and a broken connection is retried`() async throws {
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

    @Test func `a share of the notifications is refused at random, after any counted refusals`() async throws {
        let text = try await result(
            of: """
                local p = push.device { name = "a" }
                local function refused(count)
                  local sum = 0
                  for i = 1, count do sum = sum + push.send { device = p, alert = "x" }.failed end
                  return sum
                end
                push.simulator.apns:fail { reason = "BadTopic", share = 0.25 }
                local some = refused(80)
                push.simulator.apns:reset()
                push.simulator.apns:fail { reason = "BadTopic", share = 0.25, next = 3 }
                return { some > 8 and some < 32, refused(80), refused(5) }
                """)
        #expect(text == "[true,3,0]")
    }

    @Test(
        arguments: [
            ("apns", "InternalServerError"), ("fcm", "UNAVAILABLE"), ("gcm", "QUOTA_EXCEEDED"), ("wns", "Throttled"),
            ("browser", "TooManyRequests"),
        ])
    func `the response carries the configured Retry-After, and the sender waits for it`(service: String, reason: String) async throws {
        let text = try await result(
            of: """
                local p = push.device { name = "a", platform = "\(service)" }
                push.send { device = p, alert = "first" }
                push.simulator.\(service):fail { reason = "\(reason)", retry_after = "77s", next = 1 }
                local begin, count = push.clock.now(), #push.wire "\(service)"
                local sent = push.send { device = p, alert = "x" }.sent
                return { sent, push.wire "\(service)"[count + 1].response_headers["retry-after"], push.clock.now() - begin }
                """)
        #expect(text == #"[1,"77",77]"#)
    }

    @Test(arguments: ["fcm", "wns"])
    func `the token endpoint can be made to refuse requests or issue invalid access tokens`(service: String) async throws {
        let text = try await result(
            of: """
                local simulator, rows = push.simulator.\(service), {}
                local p = push.device { name = "a", platform = "\(service)" }
                local function send()
                  local begin, count = push.clock.now(), #push.wire "\(service)"
                  local row = push.send { device = p, alert = "x" }.devices[1]
                  local seen = {}
                  for i = count + 1, #push.wire "\(service)" do seen[#seen + 1] = push.wire "\(service)"[i].status end
                  rows[#rows + 1] = { row.outcome, row.reason, seen, push.clock.now() - begin }
                end
                simulator:fail { reason = "invalid_client", at = "token", next = 1 }
                send()
                simulator:fail { reason = "temporarily_unavailable", at = "token", next = 1, retry_after = 40 }
                send()
                simulator:revoke_tokens()
                send()
                -- The token serves, so that nobody asks for another; until it is bad.
                simulator:fail { reason = "unauthorized_client", at = "token" }
                send()
                simulator:revoke_tokens()
                send()
                simulator:reset()
                send()
                return rows
                """)
        #expect(
            text
                == #"[["InvalidCredentials","invalid_client",[401],0],["Success","",[503,200,200],40],["Success","",[401,200,200],0],"#
                + #"["Success","",[200],0],["InvalidCredentials","unauthorized_client",[401,401],0],["Success","",[401,200,200],0]]"#)
    }

    @Test func `the reasons of the token endpoint are listed for services that have one`() async throws {
        let text = try await result(
            of: """
                local function count(name) return #push.simulator[name]:reasons { at = "token" } end
                return {
                  count "apns", count "browser", count "fcm" == count "wns", count "gcm" == count "fcm",
                  table.concat(push.simulator.fcm:reasons { at = "token" }, " "):find("invalid_grant") ~= nil,
                  #push.simulator.fcm:reasons() == #push.simulator.fcm:reasons { at = "send" },
                }
                """)
        #expect(text == "[0,0,true,true,true,true]")
    }

    @Test(
        arguments: [
            ("push.simulator.apns:fail { reason = 'Shutdown', share = 0 }", "simulator.share", "above 0"),
            ("push.simulator.apns:fail { reason = 'Shutdown', share = 1.5 }", "simulator.share", "1.5"),
            ("push.simulator.apns:fail { reason = 'Shutdown', share = 0/0 }", "simulator.share", "nan"),
            ("push.simulator.apns:fail { reason = 'Shutdown', share = '1%' }", "args.wrong_type", "a number"),
            ("push.simulator.apns:fail { reason = 'Shutdown', part = 1 }", "args.unknown_key", "share"),
            ("push.simulator.apns:fail { reason = 'Shutdown', retryafter = 1 }", "args.unknown_key", "retry_after"),
            ("push.simulator.apns:fail { reason = 'Shutdown', retry_after = '1.5s' }", "simulator.retry_after", "whole number"),
            ("push.simulator.apns:fail { reason = 'Shutdown', retry_after = 1000001 }", "simulator.retry_after", "1000000"),
            ("push.simulator.apns:fail { reason = 'Shutdown', retry_after = 'soon' }", "args.duration", "retry_after"),
            ("push.simulator.wns:fail { reason = 'Forbidden', retry_after = 5 }", "simulator.retry_after", "Throttled"),
            (
                "push.simulator.fcm:fail { reason = 'invalid_grant', at = 'token', retry_after = 5 }", "simulator.retry_after",
                "temporarily_unavailable"
            ),
            ("push.simulator.fcm:fail { reason = 'invalid_grant' }", "simulator.reason", "at = \"token\""),
            ("push.simulator.fcm:fail { reason = 'INTERNAL', at = 'token' }", "simulator.reason", "leave \"at\" out"),
            ("push.simulator.fcm:fail { reason = 'invalid_grand', at = 'token' }", "simulator.reason", "invalid_grant"),
            ("push.simulator.fcm:fail { reason = 'invalid_grant', at = 'tokens' }", "args.wrong_type", "did you mean \"token\"?"),
            ("push.simulator.browser:fail { reason = 'invalid_grant', at = 'token' }", "simulator.token", "FCM and WNS"),
            ("push.simulator.apns:revoke_tokens()", "simulator.token", "FCM and WNS"),
            (
                "push.simulator.fcm:fail { reason = 'invalid_grant', at = 'token', device = push.device { name = 'a', platform = 'fcm' } }",
                "simulator.handle", "do not belong to a device"
            ),
        ])
    func `an invalid fault is rejected with a suggestion`(lua: String, code: String, word: String) async throws {
        let error = try await failure(of: lua)
        #expect(error.code == code)
        #expect("\(error.message) \(error.hint ?? "")".contains(word), "\(error.message) \(error.hint ?? "")")
    }

    @Test(
        arguments: [
            ("push.simulator.apns:fail { reason = 'Shutdown', share = 2 }", "simulator.share"),
            ("push.simulator.apns:fail { reason = 'Shutdown', retry_after = '1.5s' }", "simulator.retry_after"),
        ])
    func `a check reports an invalid fault without a run`(lua: String, code: String) {
        func codes(_ lua: String) -> [String] {
            FlowChecker(.standard).findings(in: Array("local push = require 'push' \(lua)".utf8), name: "a.lua").map(\.code)
        }
        #expect(codes(lua) == [code])
        #expect(codes(lua.replacing("2 }", with: "0.2 }").replacing("1.5s", with: "1s")) == [])
    }

    @Test(
        arguments: [
            ("push.simulator.apns:fail { reason = 'Unregisterd' }", "simulator.reason", "Unregistered"),
            ("push.simulator.apns:fail {}", "args.missing", "reason"),
            ("push.simulator.apns:fail { reason = 'Shutdown', next = 0 }", "simulator.count", "next"),
            ("push.simulator.apn:reset()", "script.unknown_name", "apns"),
            ("push.simulator.apns:fial {}", "script.unknown_name", "fail"),
        ])
    func `a misspelled name or invalid argument is reported with the right one`(lua: String, code: String, word: String) async throws {
        let error = try await failure(of: lua)
        #expect(error.code == code)
        #expect("\(error.message) \(error.hint ?? "")".contains(word))
    }

    @Test func `every reason that a service lists can be configured`() async throws {
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

    @Test func `pages of installations can be read to the end`() async throws {
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

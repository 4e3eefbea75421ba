import Bindings
import HostSupport
import Lua
import PushModel
import Testing

/// `push.json`, and all other conversions between Lua values and JSON.
@Suite struct JSONTests {
    @Test(arguments: [
        #"{"a":[],"b":null,"c":{}}"#, "[]", "{}", "null", "[[],{},null,1]", #"{"n":12345678901234567890}"#,
        "[-99999999999999999999,9223372036854775807]", #"[1,null,3]"#, "[1e+300,0.1,-2.5]",
    ])
    func `JSON stays the same when it is parsed and written`(text: String) async throws {
        #expect(try await result(of: "return push.json.encode(push.json.decode '\(text)')") == JSON.string(text).text())
    }

    @Test func `scripts can create lists and nulls and distinguish them`() async throws {
        let text = try await result(
            of: """
                local list, null = push.json.array(), push.json.null
                local read = push.json.decode '{"a":[],"b":null,"n":12345678901234567890,"m":12345678901234567890}'
                local same = { 1, 2 }
                return {
                  push.json.encode { list = list, three = { 1, null, 3 }, none = {} }, push.json.array(same) == same,
                  read.b == null, read.x == nil, tostring(null), #read.a, tostring(read.n), read.n == read.m, push.json.encode(read.n),
                }
                """)
        #expect(
            text
                == #"["{\"list\":[],\"none\":{},\"three\":[1,null,3]}",true,true,true,"null",0,"12345678901234567890",true,"12345678901234567890"]"#
        )
    }

    @Test func `an empty list stays a list on the wire`() async throws {
        let run = try await rehearse(
            """
            local p = push.device { name = "a" }
            push.send { device = p, payload = { apns = {
              aps = { alert = { ["loc-key"] = "k", ["loc-args"] = push.json.array {} } }, extra = push.json.null } } }
            local body = push.wire("apns")[1]
            local item = p:inbox()[1]
            return { body.body, push.json.encode(body.json), push.json.encode(item.payload), body.json.extra == push.json.null }
            """)
        let body = #"{\"aps\":{\"alert\":{\"loc-args\":[],\"loc-key\":\"k\"}},\"extra\":null}"#
        #expect(run.result == "[\"\(body)\",\"\(body)\",\"\(body)\",true]", "\(run.error.debugDescription)")
    }

    @Test func `an empty table for a list of a payload causes one warning`() async throws {
        let run = try await rehearse(
            """
            local p = push.device { name = "a" }
            local alert = { ["loc-key"] = "k", ["loc-args"] = {} }
            for _ = 1, 2 do push.send { device = p, payload = { apns = { aps = { alert = alert } } } } end
            push.send { device = p, payload = { apns = { aps = { alert = "x" }, args = {} } } }
            """)
        #expect(run.warnings.map(\.code) == ["payload.empty_list"], "\(run.warnings)")
        #expect(
            run.warnings.first?.message
                == #""loc-args" is the object {} in the payload; push services expect a list; write push.json.array {}, or leave it out"#)
    }

    @Test func `a number with a fraction is a Lua float`() async throws {
        let text = try await result(of: "return push.json.encode(push.json.decode '[12.50,1e3,0.10000000000000001]')")
        #expect(text == #""[12.5,1000.0,0.1]""#)
    }

    @Test func `a number of which a Lua float would lose digits keeps them`() async throws {
        let numbers = "[123456789012345678901234567890.5,9007199254740993.0,1e-400,0.12345678901234567890123]"
        let text = try await result(
            of: "local list = push.json.decode '\(numbers)' return { push.json.encode(list), tonumber(tostring(list[2])) == 2^53 }")
        #expect(text == "[\"\(numbers)\",true]")
    }

    @Test func `lists and nulls survive in the result of push.run and in a secure payload`() async throws {
        let inner = "return { list = require('push').json.array {}, null = require('push').json.null, n = 1 }"
        let run = try await rehearse(
            """
            local s = login "alice"
            phone(s, "a", "apns")
            local receipt = s:send_secure { to = "alice", payload = { list = push.json.array {}, null = push.json.null } }
            local again = push.run("inner.lua").result
            return { push.json.encode(again), push.json.encode(s:fetch_secure_payload(receipt.id)),
              push.run("nothing.lua").result == nil }
            """, beside: ["inner.lua": inner, "nothing.lua": "return nil"])
        #expect(
            run.result == #"["{\"list\":[],\"n\":1,\"null\":null}","{\"list\":[],\"null\":null}",true]"#,
            "\(run.error.debugDescription)")
    }

    @Test(arguments: [
        ("push.json.encode { a = { b = { 1, 0/0 } } }", "value.a.b[2] is NaN"), ("push.json.encode(-1/0)", "value is infinite"),
        ("push.json.encode { f = print }", "value.f is a function"),
        ("push.json.encode { [\"a b\"] = { 1, x = 2 } }", "value[\"a b\"] is a list and has the name \"x\""),
        ("push.json.encode { t = \"\\xff\" }", "value.t is text that is not UTF-8"),
        ("push.json.encode { d = push.device { name = \"a\" } }", "value.d is a device"),
        ("push.json.encode { s = push.secret \"api_key\" }", "value.s is a secret"),
        ("local t = push.json.array {} t.x = 1 push.json.encode(t)", "value is a list and has the name \"x\""),
    ])
    func `an encoding error names the path and the problem`(lua: String, message: String) async throws {
        let error = try await failure(of: lua)
        #expect(error.code == "json.unsupported")
        #expect(error.message.hasPrefix("push.json.encode: \(message)"), "\(error.message)")
        #expect(error.hint != nil)
    }

    @Test(arguments: [
        ("local t = {} t.me = { t } push.json.encode(t)", "value.unsupported", "argument 1.me[1] of push.json.encode contains itself"),
        (
            "local t = {} local i = t for _ = 1, 70 do i.x = {} i = i.x end push.json.encode(t)", "value.unsupported",
            "of push.json.encode is nested too deeply"
        ),
        ("push.json.encode { a = { 1, nil, 3 } }", "value.unsupported", "argument 1.a of push.json.encode has the key [3]"),
        ("push.json.array { a = 1 }", "args.wrong_type", "push.json.array: \"list\" must be a list, got a table with the key a"),
        ("push.json.array 'x'", "args.wrong_type", "push.json.array: \"list\" must be a table"),
        ("push.json.array(setmetatable({}, {}))", "args.wrong_type", "a table without a metatable"),
        (
            "push.send { to = push.everyone, payload = { apns = { aps = { badge = 0/0 } } } }", "payload.invalid",
            "payload.apns.aps.badge is NaN"
        ),
        ("login 'a':send_secure { to = 'a', payload = { { f = print } } }", "secure.payload", "payload[1].f is a function"),
        ("push.json.null.x = 1", "script.read_only", "a null cannot be changed"),
        ("return push.json.decode '12345678901234567890' + 1", "script.error", "attempt to perform arithmetic on a numeral value"),
    ])
    func `every function that writes JSON reports an unsupported value`(lua: String, code: String, part: String) async throws {
        let error = try await failure(of: lua)
        #expect(error.code == code)
        #expect(error.message.contains(part), "\(error.message)")
    }

    @Test func `a result that cannot be written as JSON causes a warning with its path`() async throws {
        let run = try await rehearse("return { phones = { push.device { name = 'a' } } }")
        #expect(run.hasPassed)
        #expect(run.warnings.map(\.code) == ["flow.result"])
        #expect(run.warnings.first?.message.contains("result.phones[1] is a device") == true)
    }

    @Test func `the checker knows the names of push.json`() {
        let script = """
            local push = require "push"
            print(push.json.null, push.json.array {}, push.json.nul)
            """
        let found = FlowChecker(.standard).findings(in: Array(script.utf8), name: "flow.lua")
        #expect(found.map(\.code) == ["script.unknown_name"])
        #expect(found.first?.message.contains("did you mean \"null\"?") == true)
    }
}

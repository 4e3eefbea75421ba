import Foundation
import HostSupport
import Support
import Testing

/// `push.test.property` and its generators.
@Suite struct SpecPropertyTests {
    private func run(_ lua: String, _ options: [String] = [], command: String = "test") async throws -> BuiltProgram {
        let folder = try ScriptFolder(["a_spec.lua": "local push = require 'push' local gen = push.gen\n\(lua)"])
        return try await BuiltProgram.run(command == "test" ? ["test"] + options : [command, "a_spec.lua"], in: folder.url)
    }

    private static let short = """
        push.test.property("short", { items = gen.list(gen.integer(0, 100)) }, function(case)
          push.expect(#case.items).to.be_below(3)
        end)
        """

    @Test func `the smallest failing case is printed as Lua text with the seed`() async throws {
        let run = try await run(Self.short)
        #expect(run.status == 1)
        let expected =
            /✗ short\n +error\[expect.failed\]: expected less than 3, got 3\n +in case \d+ of 100, shrunk \d+ times, with --seed 1:\n/
        #expect(run.output.contains(expected), "\(run.output)")
        #expect(run.output.contains("\n        { items = { 0, 0, 0 } }\n        a_spec.lua:3:3\n"), "\(run.output)")
    }

    @Test func `the same seed gives the same output, and the cases are part of all formats`() async throws {
        for options in [["--seed", "5"], ["--json"], ["--tap"]] {
            let first = try await run(Self.short, options)
            #expect(try await run(Self.short, options + ["--jobs", "1"]).output == first.output)
            #expect(first.output.contains("items = { 0, 0, 0 }"), "\(first.output)")
        }
        #expect(try await run(Self.short, ["--seed", "5"]).output.contains("with --seed 5:"))
    }

    @Test func `a printed case can be listed, and is run first`() async throws {
        let lua = """
            push.test.property("short", gen.list(gen.integer(0, 100)), function(case)
              push.expect(#case).to.be_below(3)
            end, { cases = 1, examples = { { 1 }, { 1, 2, 3 } } })
            """
        let run = try await run(lua)
        #expect(run.output.contains(/in examples\[2\]:\n +\{ 1, 2, 3 \}\n/), "\(run.output)")
    }

    @Test func `each case is isolated, and hooks run for each`() async throws {
        let run = try await run(
            """
            local count = 0
            push.test.before_each(function() push.device { name = "before" } end)
            push.test.property("isolated", gen.integer(), function(number)
              count = count + 1
              push.device { name = "same" }
              push.sleep "1h"
              push.expect({ count, #push.devices(), math.type(number) }).to.equal { 1, 2, "integer" }
            end, { cases = 20 })
            """)
        #expect(
            run.output == "a_spec.lua\n  ✓ isolated  20 cases\nPASS  1 spec · 1 test · 20 expectations · virtual 1 h\n", "\(run.output)")
        #expect(run.status == 0)
    }

    @Test func `generated values of the domain are accepted by the functions that take them`() async throws {
        let run = try await run(
            """
            push.test.property("sends reach exactly the phones that match", {
              phones = gen.list({ device = gen.device(), tags = gen.tags() }, 0, 5), to = gen.expression(),
            }, function(case)
              push.test.allow_no_target()
              local expected = 0
              for number, phone in ipairs(case.phones) do
                push.install("i" .. number, { device = push.device(phone.device), tags = phone.tags })
                if push.tag.match(case.to, phone.tags) then expected = expected + 1 end
              end
              push.expect(push.send({ to = case.to, alert = "Hello" }).sent).to.equal(expected)
            end, { cases = 40 })
            push.test.property("phones show the text of a template", {
              platform = gen.one_of { "apns", "fcm" }, apns = gen.template(), fcm = gen.template "fcm", tag = gen.tag(), at = gen.time(),
            }, function(case)
              local template = case[case.platform]
              local phone = push.device { name = "ana", platform = case.platform }
              push.install("i", { device = phone, tags = { case.tag }, templates = { t = template.body } })
              push.schedule { at = case.at, to = case.tag, properties = template.properties }
              push.clock.advance "7d"
              push.expect(phone:inbox()[1].text).to.equal(template.text)
            end, { cases = 40 })
            push.test.property("values are in their ranges", {
              below = gen.integer(-9, -5), number = gen.number(2, 3), text = gen.text(2, 4, "äö"), none = gen.optional(gen.boolean()),
              doubled = gen.map(gen.integer(1, 5), function(number) return number * 2 end),
              even = gen.where(gen.integer(), function(number) return number % 2 == 0 end), constant = "x",
            }, function(case)
              push.expect(case.below).to.be_at_least(-9)
              push.expect(case.below).to.be_at_most(-5)
              push.expect(case.number).to.be_at_least(2)
              push.expect(case.number).to.be_at_most(3)
              push.expect(utf8.len(case.text)).to.be_at_least(2)
              push.expect(utf8.len(case.text)).to.be_at_most(4)
              push.expect(case.none == nil or type(case.none) == "boolean").to.be_true()
              push.expect(case.doubled % 2 + case.even % 2).to.equal(0)
              push.expect(case.constant).to.equal("x")
            end)
            """)
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("✓ sends reach exactly the phones that match  40 cases"))
    }

    @Test func `a case without suitable values is discarded, and a property without any fails`() async throws {
        let run = try await run(
            """
            push.test.property("odd", gen.where(gen.integer(), function(number) return number % 2 == 1 end), function() end)
            push.test.property("never", gen.where(gen.integer(), function() return false end), function() end, { cases = 5 })
            """)
        #expect(run.output.contains("✓ odd  100 cases"), "\(run.output)")
        #expect(run.output.contains("error[test.discarded]: push.gen.where found no value in 100 attempts"), "\(run.output)")
        #expect(run.output.contains("only 0 of 5 cases were suitable"))
    }

    @Test func `each case has the budgets of a test, and one that used them up is not shrunk`() async throws {
        let run = try await run("push.test.property('loop', gen.integer(), function() while true do end end)", ["--cpu-limit", "100ms"])
        #expect(run.status == 1)
        #expect(run.output.contains("error[budget.cpu]"), "\(run.output)")
        #expect(run.output.contains("in case 1 of 100, shrunk 0 times"), "\(run.output)")
    }

    @Test(
        arguments: [
            ("push.test.property('a', {}, function() end, { cases = 0 })", "args.wrong_type"),
            ("push.test.property('a', {}, function() end, { shrinks = 'x' })", "args.wrong_type"),
            ("push.test.property('a', {}, function() end, { case = 3 })", "args.unknown_key"),
            ("push.test.property('a', {}, function() end, { examples = 3 })", "args.wrong_type"),
            ("push.test.property('a', {})", "args.missing"), ("gen.integer(5, 1)", "args.wrong_type"), ("gen.one_of {}", "args.empty"),
            ("gen.text(0, 5, '')", "args.empty"), ("gen.template 'wns'", "args.wrong_type"), ("gen.integr()", "script.unknown_name"),
        ])
    func `wrong arguments are reported with their line`(lua: String, code: String) async throws {
        let run = try await run(lua)
        #expect(run.status == 3)
        #expect(run.output.contains("error[\(code)]"), "\(run.output)")
        #expect(run.output.contains("a_spec.lua:2:"), "\(run.output)")
    }

    @Test func `a flow cannot declare a property`() async throws {
        let run = try await run(Self.short, command: "run")
        #expect(run.status == 3)
        #expect(run.errors.contains("error[test.not_a_spec]: push.test.property was called outside a test run"), "\(run.errors)")
    }
}

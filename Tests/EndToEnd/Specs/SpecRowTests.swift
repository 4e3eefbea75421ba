import Foundation
import HostSupport
import Support
import Testing

/// Tests that are declared by rows, spies, and the differences of texts.
@Suite struct SpecRowTests {
    private func run(_ lua: String, _ options: [String] = []) async throws -> BuiltProgram {
        let folder = try ScriptFolder(["a_spec.lua": "local push = require 'push'\n\(lua)"])
        return try await BuiltProgram.run(["test"] + options, in: folder.url)
    }

    // MARK: Rows

    @Test func `each row is a test of its own, named by its fields`() async throws {
        let run = try await run(
            """
            local count = 0
            push.test.describe("sums", function()
              push.test.each("{a} + {b} = {sum}", { { a = 1, b = 2, sum = 3 }, { a = 1, b = 1, sum = 3 } }, function(row)
                count = count + 1
                push.expect(count).to.equal(1)
                push.expect(row.a + row.b).to.equal(row.sum)
              end)
            end)
            push.test.each("list {1}, {2} of {}", { { "one", false } }, function(row) push.expect(row[1]).to.equal("one") end)
            push.test.each("plain", { 7, "seven", { 7 } }, function() end)
            push.test.each("no {field}", { {} }, function() end)
            push.test.it("last", function() end)
            """)
        #expect(run.status == 1)
        let lines = run.output.split(separator: "\n").filter { $0.contains("✓") || $0.contains("✗") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(
            lines == [
                "✓ 1 + 2 = 3", "✗ 1 + 1 = 3", "✓ list one, false of { \"one\", false }", "✓ plain: 7", "✓ plain: \"seven\"",
                "✓ plain: { 7 }", "✓ no {field}: {}", "✓ last",
            ], "\(run.output)")
        #expect(run.output.contains("expected 3, got 2"))
    }

    @Test func `rows with the same name all run, and the filter selects rows`() async throws {
        let lua = "push.test.each('{n}', { { n = 1 }, { n = 1 }, { n = 20 } }, function(row) push.expect(row.n).to.be_below(10) end)"
        let all = try await run(lua)
        #expect(all.output.contains("3 tests · 1 failed"), "\(all.output)")
        #expect(try await run(lua, ["--filter", "20"]).output.contains("1 test · 1 failed"))
    }

    @Test(
        arguments: [
            ("push.test.each('a', {}, function() end)", "args.empty"), ("push.test.each('a', 3, function() end)", "args.wrong_type"),
            ("push.test.each('a', { 1 })", "args.missing"), ("push.test.each({ 1 }, 'a', function() end)", "args.wrong_type"),
        ])
    func `wrong arguments of each are reported`(lua: String, code: String) async throws {
        let run = try await run(lua)
        #expect(run.status == 3)
        #expect(run.output.contains("error[\(code)]: push.test.each"), "\(run.output)")
        #expect(run.output.contains("a_spec.lua:2:"))
    }

    // MARK: Spies

    @Test func `a spy records its calls and returns what its function returns`() async throws {
        let run = try await run(
            """
            push.test.it("a", function()
              local spy, calls = push.test.spy(function(a, b) return b, a end)
              push.expect(spy).to_not.have_been_called()
              local second, first = spy(1, nil)
              push.expect(second).to.be_nil()
              push.expect(first).to.equal(1)
              local row = { tags = { "x" } }
              spy(row)
              row.tags[1] = "changed"
              push.expect(spy).to.have_been_called()
              push.expect(spy).to.have_been_called(2)
              push.expect(spy).to.have_been_called_with(1, nil)
              push.expect(spy).to_not.have_been_called_with(1)
              push.expect(spy).to.have_been_called_with { tags = { "x" } }
              push.expect(calls[1].n).to.equal(2)
              push.expect(calls[1].results[2]).to.equal(1)
              push.expect(type(spy)).to.equal("function")
            end)
            push.test.it("b", function()
              local spy = push.test.spy(function(text) push.sleep "1s" return text end)
              push.expect(push.spawn(spy, "x"):await()).to.equal("x")
              push.expect(spy).to.have_been_called(1)
            end)
            """)
        #expect(run.status == 0, "\(run.output)")
    }

    @Test func `a failed expectation of a spy lists its calls`() async throws {
        let run = try await run(
            """
            push.test.it("a", function() push.expect(push.test.spy()).to.have_been_called() end)
            push.test.it("b", function()
              local spy = push.test.spy()
              spy("x", 1)
              spy {}
              push.expect(spy).to.have_been_called_with("y")
            end)
            push.test.it("c", function() push.expect(print).to.have_been_called() end)
            """)
        #expect(run.output.contains("expected a call, got no calls"), "\(run.output)")
        #expect(run.output.contains("expected a call with (\"y\"), got 2 calls: (\"x\", 1), ({})"), "\(run.output)")
        #expect(run.output.contains("error[args.wrong_type]: have_been_called needs a spy, got function"), "\(run.output)")
    }

    // MARK: Texts

    @Test func `long texts that differ are compared by word`() async throws {
        let run = try await run(
            """
            local long = "Your order 123 has shipped and arrives on Monday between nine and ten, so please be at home"
            push.test.it("a", function() push.expect((long:gsub("shipped", "left"):gsub("ten", "10"))).to.equal(long) end)
            push.test.it("b", function() push.expect { text = long .. "!" }.to.equal { text = long } end)
            push.test.it("c", function() push.expect(long).to.equal("unlike") end)
            push.test.it("d", function() push.expect(long .. "\\n").to.equal(long) end)
            push.test.it("e", function() push.expect("one").to.equal("two") end)
            """)
        #expect(run.status == 1)
        for text in [
            "the texts differ, [-expected-]{+actual+}:\n        Your order 123 has [-shipped-]{+left+} and arrives",
            "nine and [-ten-]{+10+}, so please",
            "the tables have 1 difference:\n        .text: …", "be at home{+!+}", "at home{+\\n+}", "expected \"unlike\", got \"Your order",
            "expected \"two\", got \"one\"",
        ] { #expect(run.output.contains(text), "\(text)\n\(run.output)") }
    }
}

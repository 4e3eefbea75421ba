import Lua
import PushModel

/// Functions for specs. The prelude implements most of them because they call functions of the script.
enum TestBindings {
    static let describe = Binding(
        "push.test.describe", "Groups tests under a name.",
        takes: .positional([.required("name", .string, "the subject of the tests"), .required("fn", .function, "declares the tests")]),
        errors: ["test.not_a_spec", "test.order"],
        example: "push.test.describe(\"breaking news\", function() push.test.it(\"reaches Ana\", function() end) end)", body: .prelude)

    static let it = Binding(
        "push.test.it",
        "Declares a test. Each test runs in isolation: code outside the tests runs again for each of them. Without a function the test is "
            + "pending.",
        takes: .positional([
            .required("name", .string, "what should hold"),
            .optional("fn", .function, "the test: a failed expectation or an error fails it"),
        ]),
        errors: ["test.not_a_spec", "test.order"],
        example: "push.test.it(\"reaches Ana\", function() push.expect(#push.devices()).to.equal(0) end)", body: .prelude)

    static let each = Binding(
        "push.test.each",
        "Declares a test for each row of a list. In the name, {field} and {1} stand for fields of the row, and {} for the row itself; "
            + "without any of them, the row is appended.",
        takes: .positional([
            .required("name", .string, "what should hold"), .required("rows", .list(.any), "a row per test"),
            .required("fn", .function, "the test, which gets the row"),
        ]),
        errors: ["args.empty", "test.not_a_spec", "test.order"],
        example: """
            push.test.each("{tag} reaches {count} phones", { { tag = "Sports", count = 2 }, { tag = "World", count = 1 } }, function(row)
              push.expect(push.send({ to = row.tag, alert = "Hi" }).sent).to.equal(row.count)
            end)
            """, body: .prelude)

    static let spy = Binding(
        "push.test.spy",
        "Makes a function that records its calls. It returns what the given function returns. The second result is the list of its calls: "
            + "each has the arguments with their number n, and results. Tables are copied at the call.",
        takes: .positional([.optional("fn", .function, "what the spy does")]),
        returns: Binding.Returns(type: "function", summary: "the spy, and the list of its calls"),
        example: """
            local shown, calls = push.test.spy()
            shown("Hello")
            push.expect(shown).to.have_been_called_with("Hello")
            push.expect(calls[1][1]).to.equal("Hello")
            """, body: .prelude)

    static let snapshot = Binding(
        "push.test.snapshot",
        "Compares a value with the one stored beside the spec, in a file that ends in .snap. pushhost test --update stores the values. "
            + "Contents of secure payloads and other secrets are stored as ***.",
        takes: .positional([
            .required("value", .any, "a text, or a value that is stored as Lua text"),
            .optional("name", .string, "the name of the snapshot in the test; a number without it"),
        ]),
        errors: ["expect.failed", "test.not_a_spec", "test.order"],
        example: "push.test.it(\"sends one request\", function() push.test.snapshot(push.wire(), \"wire\") end)", body: .prelude)

    static let allowNoTarget = Binding(
        "push.test.allow_no_target",
        "Allows sends of the test to reach no device. Without it, or an expectation that a state equals \"NoTargetFound\", such a test "
            + "fails.",
        errors: ["test.not_a_spec"],
        example: "push.test.it(\"tells no one\", function() push.test.allow_no_target() push.send { to = \"x\", alert = \"Hi\" } end)",
        body: .sync { _, run in
            switch run.purpose {
            case .test, .collectingTests: run.allowNoTarget()
            case .flow, .interactive:
                throw LuaError.misuse(
                    "test.not_a_spec", "push.test.allow_no_target was called outside a test run",
                    hint: "a flow passes when its sends reach no device, unless it is run with --fail-on-no-target")
            }
        })

    static let beforeEach = Binding(
        "push.test.before_each", "Runs a function before each test of its describe block.",
        takes: .positional([.required("fn", .function, "what to do")]),
        errors: ["test.order"],
        example: "push.test.before_each(function() push.device { name = \"ana-1\" } end)", body: .prelude)

    static let afterEach = Binding(
        "push.test.after_each", "Runs a function after each test of its describe block, also if the test fails.",
        takes: .positional([.required("fn", .function, "what to do")]),
        errors: ["test.order"],
        example: "push.test.after_each(function() print(#push.wire \"apns\") end)", body: .prelude)
}

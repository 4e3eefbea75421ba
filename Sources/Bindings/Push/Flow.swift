import Lua
import PushModel

/// The course of a flow: arguments, steps, expectations, tasks, log.
enum FlowBindings {
    static let args = Binding(
        "push.args", "Declares the flow's parameters, from which options, help and checks are derived. Must be the first call of a flow.",
        takes: .positional([
            .required("parameters", .table, "name = { type =, default =, desc =, min =, max =, choices =, required =, secret = }")
        ]),
        returns: "table", errors: ["args.declaration", "args.not_first", "usage.unknown_option", "usage.option"],
        example: "local args = push.args { user = { type = \"string\", default = \"alice\", desc = \"user to notify\" } }",
        body: .sync { arguments, run in
            guard run.declareArguments() else {
                throw LuaError.argumentsNotFirst
            }
            let declaration = try FlowDeclaration(arguments.table("parameters") ?? LuaTable(array: [], fields: [:]))
            if run.parameters.isDescribing {
                throw run.describe(declaration)
            }
            if let values = run.parameters.values {
                let given = try JSONArguments(declaration).resolve(values, ignoringInvalidValues: run.parameters.ignoresInvalidValues)
                for name in given.secrets + run.parameters.secrets { given.values[name].map(run.withheld.add(secret:)) }
                return LuaValue(JSON.object(given.values))
            }
            return LuaValue.table(try declaration.resolve(run.parameters.given, hostOptions: run.hostOptions))
        })

    static let caller = Binding(
        "push.caller",
        "Returns the session of the user whose request started the flow on a server: a request to the app backend, or to a path that "
            + "requires an account. Nil otherwise.",
        returns: "push.Session?",
        example: "local session = push.caller(); if session then session:send { to = session.username, alert = \"Hello\" } end",
        body: .sync { _, run in
            run.parameters.caller.map { LuaValue.object(LuaObject(type: "session", payload: SessionObject($0))) } ?? .nil
        })

    static let step = Binding(
        "push.step", "Runs part of the flow as a named step, which is listed in the run's report.",
        takes: .positional([
            .required("name", .string, "what the step does, for the report"),
            .required("fn", .function, "the function to run; its results are returned"),
        ]),
        returns: .init(type: "any", resultsOf: "fn"),
        example: "local outcome = push.step(\"send\", function() return push.send { to = \"Sports\", alert = \"Goal\" } end)",
        body: .prelude)

    static let rehearse = Binding(
        "push.rehearse",
        "A step that inspects devices, requests to push services or the clock. It runs where they are simulated and is reported as "
            + "skipped elsewhere.",
        takes: .positional([
            .required("name", .string, "what the step does, for the report"),
            .required("fn", .function, "the function to run"),
        ]),
        returns: .init(type: "any", resultsOf: "fn"),
        example: "push.rehearse(\"the phone shows it\", function() push.expect(#phone:inbox()).to.equal(1) end)", body: .prelude)

    static let expect = Binding(
        "push.expect",
        "Checks a value: .to.equal(x), .to.exist(), …; .to_not negates the matcher. A failed expectation fails the run and ends the step.",
        takes: .positional([.optional("value", .any, "the value to check")]),
        returns: "push.Expectation", errors: ["expect.failed"],
        example: "push.expect(outcome.state).to.equal \"Completed\"", body: .prelude)

    static let check = Binding(
        "push.check", "Like an expectation, but the flow continues. A failed check fails the run at its end.",
        takes: .positional([
            .optional("value", .any, "the value that should be true"),
            .optional("label", .string, "a label for the report"),
        ]),
        returns: "boolean",
        example: "push.check(outcome.sent == 2, \"both phones were reached\")", body: .prelude)

    static let `try` = Binding(
        "push.try",
        "Calls a function and returns its results, or nil and the error. Mistakes of the script are not caught.",
        takes: .positional([.required("fn", .function, "the function to call"), .optional("…", .any, "its arguments")]),
        returns: .init(type: "any, push.Error?", resultsOf: "fn"), when: .in(.everywhere),
        example: "local session, err = push.try(push.login, { username = \"eve\", password = \"guess\" })", body: .prelude)

    static let fail = Binding(
        "push.fail", "Ends the flow as failed, with a message.",
        takes: .positional([.required("message", .string, "why")]),
        when: .in(.everywhere), errors: ["flow.failed"],
        example: "if outcome.failed > 0 then push.fail(\"some phones were not reached\") end",
        body: .sync { arguments, _ in throw LuaError.failure("flow.failed", try arguments.text("message")) })

    static let secret = Binding(
        "push.secret", "Reads a secret: the environment variable PUSHHOST_SECRET_<NAME>, then the project's secrets file. Prints as ***.",
        takes: .positional([.required("name", .string, "the secret's name: letters, digits and _")]),
        returns: "push.Secret", when: .in(.running, capability: .secret), errors: ["capability.denied", "secret.not_found"],
        example: "push.login { username = \"alice\", password = push.secret \"demo_password\" }",
        body: .sync { arguments, run in
            let name = try arguments.text("name")
            try run.demand(.secret(name: name), for: "push.secret")
            guard let secret = try run.world.secrets.secret(named: name, for: run.script) else {
                let near = nearest(name, in: run.world.secrets.names)
                throw LuaError.failure(
                    "secret.not_found", "unknown secret \"\(name)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
                    hint: run.world.secrets.searchedLocations(for: name))
            }
            return LuaObject(type: "secret", payload: secret)
        })

    static let sign = Binding(
        "push.sign",
        "Signs a text with a shared secret, so that the recipient can verify the sender: HMAC-SHA256, 64 hexadecimal digits.",
        takes: .positional([.required("secret", .secret, "the shared secret"), .required("text", .string, "the text to sign")]),
        returns: "string", when: .in(.running),
        example: "local seal = push.sign(push.secret \"demo_password\", \"1767603600.{}\")",
        body: .sync { arguments, _ in (arguments.secret("secret") ?? Secret("")).signature(of: try arguments.text("text").utf8) })

    static let log = Binding(
        "push.log", "Writes a line to the run's log; push.log.warn and push.log.error give it a level.",
        takes: .positional([.optional("…", .any, "the values to write, as with print")]),
        when: .in(.everywhere),
        example: "push.log(\"sent\", outcome.id)", body: .prelude)

    static let spawn = Binding(
        "push.spawn", "Runs a function concurrently with the flow. The run waits for it at its end.",
        takes: .positional([.required("fn", .function, "the function to run"), .optional("…", .any, "its arguments")]),
        returns: "push.Task", when: .in(.running), errors: ["budget.tasks"],
        example: "local task = push.spawn(function() return phone:wait_for { alert = \"Hello\" } end); print(task:await().text)",
        body: .prelude)

    static let all = Binding(
        "push.all",
        "Runs functions concurrently and returns their results in order. The first error cancels the others. The list is read from 1 to "
            + "its end without metamethods.",
        takes: .positional([
            .required("functions", .list(.either([.function, .object("task")])), "functions, or tasks of push.spawn, each once")
        ]),
        returns: "any[]", when: .in(.running),
        example: "push.all { function() push.sleep \"1s\" end, function() push.sleep \"2s\" end }", body: .prelude)

    static let sleep = Binding(
        "push.sleep", "Waits. In a rehearsal the virtual clock advances at once.",
        takes: .positional([.required("duration", .duration, "how long")]),
        when: .in(.running),
        example: "push.sleep \"1h\"",
        body: .async(.waiting) { arguments, run in
            let duration = try arguments.duration("duration") ?? .zero
            try await run.sleep(for: duration)
        })

    static let everyone = Binding(
        "push.everyone", "The audience of all devices.",
        takes: .value,
        returns: "push.Everyone", when: .in(.everywhere),
        example: "push.send { to = push.everyone, alert = \"We are back\" }", body: .prelude)

    static let target = Binding(
        "push.target", "The target of the flow.",
        takes: .value,
        returns: "push.Target", when: .in(.everywhere),
        example: "print(push.target.name)", body: .prelude)

    static let taskAwait = Binding(
        "task:await", "Waits for a spawned function. Returns its results or raises its error.",
        returns: "any", when: .in(.running),
        example: "local text = push.spawn(function() return \"done\" end):await()", body: .prelude)

    static let taskCancel = Binding(
        "task:cancel", "Cancels a spawned function: the call that it waits for raises \"cancelled\".",
        when: .in(.running),
        example: "push.spawn(function() push.sleep \"1h\" end):cancel()", body: .prelude)
}

import Lua
import PushCore

extension Binding {
    static let args = Binding(
        "push.args", "Declares the flow's parameters: one declaration gives flags, help and checks. The first call of a flow.",
        parameters: [
            .required("parameters", .table, "name = { type =, default =, desc =, min =, max =, choices =, required =, secret = }")
        ],
        returns: "table", errors: ["args.declaration", "args.not_first", "usage.unknown_option", "usage.option"],
        example: "local args = push.args { user = { type = \"string\", default = \"alice\", desc = \"who to notify\" } }",
        body: .sync { arguments, run in
            guard run.declareArguments() else {
                throw LuaError.argumentsNotFirst
            }
            let declaration = try FlowDeclaration(arguments.table("parameters") ?? LuaTable(array: [], fields: [:]))
            if run.parameters.isDescribing {
                throw run.describe(declaration)
            }
            if let values = run.parameters.values {
                let given = try declaration.resolve(values, takingWhatFits: run.parameters.takesWhatFits)
                for name in given.secrets + run.parameters.secrets { given.values[name].map(run.withheld.add(secret:)) }
                return LuaValue(JSON.object(given.values))
            }
            return LuaValue.table(try declaration.resolve(run.parameters.given, hostOptions: run.hostOptions))
        })

    static let caller = Binding(
        "push.caller",
        "The session of the user whose request a flow of a server answers: one of the app backend, or one to a path that asks for an account. Nil for anything else.",
        returns: "push.Session?",
        example: "local session = push.caller(); if session then session:send { to = session.username, alert = \"Hello\" } end",
        body: .sync { _, run in
            run.parameters.caller.map { LuaValue.object(LuaObject(type: "session", payload: SessionObject($0))) } ?? .nil
        })

    static let step = Binding(
        "push.step", "Runs a part of the flow under a name; the run's report has a line for it.",
        parameters: [
            .required("name", .string, "what the step does, for the report"),
            .required("fn", .function, "the step; what it returns is returned"),
        ],
        returns: .init(type: "any", resultsOf: "fn"),
        example: "local outcome = push.step(\"send\", function() return push.send { to = \"Sports\", alert = \"Goal\" } end)",
        body: .prelude)

    static let rehearse = Binding(
        "push.rehearse",
        "A step that looks at phones, wires or the clock: it runs where they are simulated and is reported as skipped elsewhere.",
        parameters: [
            .required("name", .string, "what the step does, for the report"),
            .required("fn", .function, "the step"),
        ],
        returns: .init(type: "any", resultsOf: "fn"),
        example: "push.rehearse(\"the phone shows it\", function() push.expect(#phone:inbox()).to.equal(1) end)",
        body: .prelude)

    static let expect = Binding(
        "push.expect",
        "Expects something of a value: .to.equal(x), .to.exist(), …; .to_not turns each round. A failed one fails the run and ends the step.",
        parameters: [.optional("value", .any, "what is looked at")], returns: "push.Expectation",
        errors: ["expect.failed"], example: "push.expect(outcome.state).to.equal \"Completed\"", body: .prelude)

    static let check = Binding(
        "push.check", "Like an expectation, but the flow goes on; a failed check fails the run at its end.",
        parameters: [
            .optional("value", .any, "what should be true"),
            .optional("label", .string, "what is checked, for the report"),
        ],
        returns: "boolean", example: "push.check(outcome.sent == 2, \"both phones were reached\")", body: .prelude)

    static let `try` = Binding(
        "push.try",
        "Calls a function and returns its results, or nil and the error. Misuse is raised all the same.",
        parameters: [.required("fn", .function, "what to call"), .optional("…", .any, "its arguments")],
        returns: .init(type: "any, push.Error?", resultsOf: "fn"),
        phases: .everywhere, example: "local session, err = push.try(push.login, { username = \"eve\", password = \"guess\" })",
        body: .prelude)

    static let fail = Binding(
        "push.fail", "Ends the flow as failed, with a message.",
        parameters: [.required("message", .string, "why")], phases: .everywhere, errors: ["flow.failed"],
        example: "if outcome.failed > 0 then push.fail(\"some phones were not reached\") end",
        body: .sync { arguments, _ in throw LuaError.failure("flow.failed", try arguments.text("message")) })

    static let secret = Binding(
        "push.secret", "Reads a secret: the environment variable PUSHHOST_SECRET_<NAME>, then the project's secrets file. Prints as ***.",
        parameters: [.required("name", .string, "letters, digits and _")], returns: "push.Secret",
        phases: .running, capability: .secret, errors: ["capability.denied", "secret.not_found"],
        example: "push.login { username = \"alice\", password = push.secret \"demo_password\" }",
        body: .sync { arguments, run in
            let name = try arguments.text("name")
            try run.demand(.secret(name: name), for: "push.secret")
            guard let secret = try run.world.secrets.secret(named: name, for: run.script) else {
                let near = nearest(name, in: run.world.secrets.names)
                throw LuaError.failure(
                    "secret.not_found", "there is no secret \"\(name)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
                    hint: run.world.secrets.places(for: name))
            }
            return LuaObject(type: "secret", payload: secret)
        })

    static let sign = Binding(
        "push.sign",
        "Signs a text with a secret, so that whoever has the secret too can tell whose it is: HMAC-SHA256, 64 hexadecimal digits.",
        parameters: [.required("secret", .secret, "what both sides know"), .required("text", .string, "what is signed")],
        returns: "string", phases: .running,
        example: "local seal = push.sign(push.secret \"demo_password\", \"1767603600.{}\")",
        body: .sync { arguments, _ in (arguments.secret("secret") ?? Secret("")).signature(of: try arguments.text("text").utf8) })

    static let log = Binding(
        "push.log", "Writes a line to the run's log; push.log.warn and push.log.error give it a level.",
        parameters: [.optional("…", .any, "what to write, as print would")],
        phases: .everywhere, example: "push.log(\"sent\", outcome.id)", body: .prelude)

    static let spawn = Binding(
        "push.spawn", "Runs a function beside the rest of the flow; the run waits for it.",
        parameters: [.required("fn", .function, "what to run"), .optional("…", .any, "its arguments")],
        returns: "push.Task", phases: .running, errors: ["budget.tasks"],
        example: "local task = push.spawn(function() return phone:wait_for { alert = \"Hello\" } end); print(task:await().text)",
        body: .prelude)

    static let all = Binding(
        "push.all",
        "Runs functions beside each other and returns their results in order; the first error ends the others. The list is taken as it is, from 1 to its end: no metamethod runs.",
        parameters: [.required("functions", .list(.either([.function, .object("task")])), "functions, or tasks of push.spawn, each once")],
        returns: "any[]",
        phases: .running, example: "push.all { function() push.sleep \"1s\" end, function() push.sleep \"2s\" end }", body: .prelude)

    static let sleep = Binding(
        "push.sleep", "Waits. In a rehearsal the clock jumps: three days take no time.",
        parameters: [.required("duration", .duration, "how long")], phases: .running, example: "push.sleep \"1h\"",
        body: .async { arguments, run in
            let duration = try arguments.duration("duration") ?? .zero
            try await run.sleep(for: duration)
        })
}

/// Error codes of runs of flows: expectations, results, budgets, time.
enum FlowErrors {
    static let all: [ErrorArea] = [flow, expect, budget, time, TargetErrors.target, TargetErrors.policy, host, run]

    private static let flow = ErrorArea(
        "flow", "results of flows, and flows of a server",
        [
            ErrorDescription(
                "flow.failed", .failure, means: "The flow called push.fail, or a nested flow failed.",
                when: "The script called push.fail, whose message gives the reason; or push.run ran a flow that did not pass, and "
                    + "err.details.cause is the code of its error.",
                fix: "Look at the message. pushhost run FILE --trace shows internal events and the requests to push services.",
                example: .lua(
                    """
                    local outcome = push.send { to = "username:alice", alert = "Hello" }
                    if outcome.sent == 0 then push.fail "alice has no phone" end
                    """,
                    fix: """
                        session:register { device = phone }
                        local outcome = push.send { to = "username:alice", alert = "Hello" }
                        if outcome.sent == 0 then push.fail "alice has no phone" end
                        """)),
            ErrorDescription(
                "flow.arguments", .misuse, means: "A nested flow got unknown or invalid options.",
                when: "The table of push.run has a name that push.args of the flow does not declare, or an invalid value.",
                fix: "Use the declared options; pushhost run FILE --help lists them."),
            ErrorDescription(
                "flow.too_deep", .failure, means: "Flows are nested too deeply.",
                when: "push.run is called eight flows deep, often because a flow runs itself.",
                fix: "Look for recursion, and move common code into a third flow."),
            ErrorDescription(
                "flow.stalled", .failure, means: "The flow waits for an event that cannot occur.",
                when: "Every task waits, and none waits for a time. phone:next_push and task:await have no time limit.",
                fix: "Use phone:wait_for, which has a time limit, or find out why the push did not arrive.",
                example: .lua(
                    "local item = phone:next_push()", fix: "local item = phone:wait_for { background = true, within = \"5s\" }")),
            ErrorDescription(
                "flow.result", .warning, means: "The result of the flow cannot be written to the report.",
                when: "The script returns a device, a function, or a table that contains one.", fix: "Return names, numbers and strings.",
                example: .lua("return { phone = phone }", fix: "return { phone = phone.name }")),
            ErrorDescription(
                "flow.described", .misuse, means: "The flow was only run to read its options.",
                when: "pushhost run FILE --help runs the script up to its first call of push and then ends it with this error. A script "
                    + "that catches all errors may see it.",
                fix: "If you catch all errors, re-raise those whose code you do not know."),
            ErrorDescription(
                "cancelled", .cancelled, means: "The run or the task was cancelled.",
                when: "Ctrl-C, task:cancel(), or the first error of push.all cancelled it while it waited.",
                fix: "Clean up and let the error pass. A cancelled task cannot wait again.",
                example: .lua(
                    """
                    local task = push.spawn(function() push.sleep "1h" end)
                    task:cancel()
                    task:await()
                    """,
                    fix: """
                        local task = push.spawn(function() push.sleep "1h" end)
                        task:await()
                        """)),
        ] + AutomationErrors.flows)

    private static let expect = ErrorArea(
        "expect", "expectations",
        [
            ErrorDescription(
                "expect.failed", .failure, .finding, means: "An expectation failed.",
                when: "A matcher of push.expect does not hold, a push.check got a false value, or a push.expect has no matcher. The run "
                    + "fails even if the script catches the error.",
                fix: "Compare the expected and the actual value in the message. --trace shows what happened before.",
                example: .lua(
                    "push.expect(phone:inbox()).to.have_length(1)",
                    fix: """
                        push.send { device = phone, alert = "Hello" }
                        push.expect(phone:wait_for { alert = "Hello" }).to.exist()
                        push.expect(phone:inbox()).to.have_length(1)
                        """))
        ])

    private static let budget = ErrorArea(
        "budget", "resource limits of a run",
        [
            ErrorDescription(
                "budget.cpu", .budget, means: "The run exceeded its CPU limit.",
                when: "It used more CPU time than --cpu-limit, or in a server the cpu_limit of the flow, 10 s by default, in Lua and in "
                    + "push functions, for example for delivery or password hashing. Often a loop does not end. Waiting is not counted.",
                fix: "Wait with push.sleep or phone:wait_for instead of in a loop. Raise the limit if the work is needed.",
                example: .lua(
                    "while #phone:inbox() == 0 do end",
                    fix: "push.check(phone:wait_for { within = \"5s\" } == nil, \"nothing was sent\")")),
            ErrorDescription(
                "budget.instructions", .budget, means: "The script exceeded its instruction limit.",
                when: "It executed more instructions than --instruction-limit. There is no limit by default. Work inside the library also "
                    + "counts, so that a script always stops at the same place.",
                fix: "Raise --instruction-limit, or do less in a loop."),
            ErrorDescription(
                "budget.memory", .budget, means: "The run exceeded its memory limit.",
                when: "It uses more than --memory-limit, 256 MiB by default. In a rehearsal this includes data of the hub and the devices: "
                    + "registrations, notifications, inboxes.",
                fix: "Look for a table or string that grows in a loop, or for sends in a loop. Raise --memory-limit if the data is needed.",
                example: .lua("local text = (\"x\"):rep(1 << 30)", fix: "local text = (\"x\"):rep(1 << 10)")),
            ErrorDescription(
                "budget.step", .budget, means: "A single step of the script took too long and could not be interrupted.",
                when: "A step may take 0.3 s of CPU time, plus 10 ms for each MiB in use. Most take less than a microsecond. But inserting "
                    + "many keys with the same hash into a table is slow: tens of thousands of numbers that are multiples of 2^n - 1, or "
                    + "that differ only in their last bits, take seconds. Compiling tens of thousands of goto statements in one "
                    + "block is slow too. The script is stopped without cleanup.",
                fix: "Use strings as keys, or store less in one table.",
                example: .lua(
                    "local t = {} for i = 1, 200000 do t[i * 131071] = true end",
                    fix: "local t = {} for i = 1, 200000 do t[tostring(i * 131071)] = true end")),
            ErrorDescription(
                "budget.wall", .budget, .refusal, means: "The run exceeded --timeout.",
                when: "Real time, including waiting, exceeded --timeout. There is no limit by default. Or the script is read from a pipe "
                    + "that did not end in time; then nothing has run.",
                fix: "Raise --timeout, or find with --trace what the run waits for."),
            ErrorDescription(
                "budget.output", .budget, means: "The run exceeded its output limit.",
                when: "print, push.log, step names, and the lines about sends, warnings and shown notifications exceed 4 MiB together, or "
                    + "64 MiB with --json or --trace, which list everything.",
                fix: "Print less; look for a loop that prints or sends without end.",
                example: .lua("while true do print((\"waiting \"):rep(1000)) end", fix: "print \"waiting\"")),
            ErrorDescription(
                "budget.files", .budget, means: "The run opened too many files.",
                when: "push.run and require opened more than 10,000 files together. Opening the same file again counts again.",
                fix: "Load a module once and keep it in a variable. Look for push.run in an endless loop."),
            ErrorDescription(
                "budget.tasks", .failure, means: "Too many tasks exist at the same time.",
                when: "push.spawn or push.all would create more than 10,000 tasks that have not ended.",
                fix: "Await some tasks before starting more.",
                example: .lua(
                    "for i = 1, 20000 do push.spawn(function() push.sleep \"1h\" end) end",
                    fix: "for i = 1, 200 do push.spawn(function() push.sleep \"1h\" end) end")),
        ])

    private static let time = ErrorArea(
        "time", "times",
        [
            ErrorDescription(
                "time.too_far", .failure, means: "The time is too far in the future.",
                when: "push.sleep would go beyond the year 9999, where the clock of a rehearsal ends, or a notification is scheduled more "
                    + "than seven days ahead, which Azure does not allow either.",
                fix: "Wait for a shorter time; schedule within seven days.",
                example: .lua("for _ = 1, 100 do push.sleep \"36500d\" end", fix: "push.sleep \"365d\""))
        ])

    private static let host = ErrorArea(
        "host", "the program that runs the script",
        [
            ErrorDescription(
                "host.error", .failure, means: "An unexpected error occurred.",
                when: "An error without a code of its own occurred outside the script. The message contains its text.",
                fix: "Run again with --trace. If the message does not explain the error, it is a bug in pushhost: report it.")
        ])

    private static let run = ErrorArea(
        "run", "runs of flows on a server or in a program",
        AutomationErrors.runs + [
            ErrorDescription(
                "run.duplicate", .program, means: "Two runs in one Lua state have the same number.",
                when: "A Swift program that embeds Lua starts a run under a number that is in use. Scripts cannot cause this error.",
                fix: "Give every run its own number.")
        ])
}

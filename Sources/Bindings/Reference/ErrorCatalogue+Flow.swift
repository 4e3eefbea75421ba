// The run of a flow: its expectations, its end, its budgets, its time.
extension ErrorCatalogue {
    static let flowAreas: [ErrorArea] = [flow, expect, budget, time, target, policy, host, run]

    private static let flow = ErrorArea(
        "flow", "how a flow ends, and flows of a server",
        [
            ErrorDescription(
                "flow.failed", .failure, means: "The flow ended itself as failed.",
                when: "push.fail was called, and its message says why; or push.run ran a flow that did not pass: err.details.cause "
                    + "is the code of what went wrong inside.",
                cure: "Look at what the flow found wrong. pushhost run FILE --trace shows what the core did and what crossed the wire.",
                example: .lua(
                    """
                    local outcome = push.send { to = "username:alice", alert = "Hello" }
                    if outcome.sent == 0 then push.fail "alice has no phone" end
                    """,
                    cure: """
                        session:register { device = phone }
                        local outcome = push.send { to = "username:alice", alert = "Hello" }
                        if outcome.sent == 0 then push.fail "alice has no phone" end
                        """)),
            ErrorDescription(
                "flow.arguments", .misuse, means: "A flow was given options that it does not have.",
                when: "The table of push.run has a name that the flow's push.args does not declare, or a value that does not fit.",
                cure: "Give what the flow declares; pushhost run FILE --help lists it."),
            ErrorDescription(
                "flow.too_deep", .failure, means: "Flows run flows inside flows, too deep.",
                when: "push.run is called eight flows deep; mostly a flow that runs itself.",
                cure: "Look for the circle; put what both flows need into a third."),
            ErrorDescription(
                "flow.stalled", .failure, means: "The flow waits for something that cannot come.",
                when: "Every task waits, and nobody waits for a moment in time: nothing is due to happen any more. "
                    + "phone:next_push and task:await wait without end.",
                cure: "Wait with phone:wait_for, which gives up after a while, or find out why the push did not come.",
                example: .lua("local item = phone:next_push()", cure: "local item = phone:wait_for { background = true, within = \"5s\" }")),
            ErrorDescription(
                "flow.result", .warning, means: "What the flow returns cannot be written into the report.",
                when: "The script returns a phone, a function, or a table with one of them in it.",
                cure: "Return names, numbers and texts.",
                example: .lua("return { phone = phone }", cure: "return { phone = phone.name }")),
            ErrorDescription(
                "flow.described", .misuse, means: "The flow was only asked for its options.",
                when: "pushhost run FILE --help runs the script up to its first call of push and then ends it. A script that "
                    + "catches all errors may see it.",
                cure: "Raise it again: a script that catches everything should pass on what it does not know."),
            ErrorDescription(
                "cancelled", .cancelled, means: "The run or the task was cancelled.",
                when: "Ctrl-C, task:cancel(), or the first error of push.all ended it while it waited.",
                cure: "Nothing: clean up and let the error pass. A task that was cancelled cannot wait any more.",
                example: .lua(
                    """
                    local task = push.spawn(function() push.sleep "1h" end)
                    task:cancel()
                    task:await()
                    """,
                    cure: """
                        local task = push.spawn(function() push.sleep "1h" end)
                        task:await()
                        """)),
        ] + automationFlows)

    private static let expect = ErrorArea(
        "expect", "expectations",
        [
            ErrorDescription(
                "expect.failed", .failure, .finding, means: "Something was expected and did not hold.",
                when: "A matcher of push.expect does not hold, a push.check got false, or a push.expect has no matcher. It "
                    + "fails the run, even if the script catches the error.",
                cure: "Compare what was expected with what came, both are in the message. --trace shows what happened before.",
                example: .lua(
                    "push.expect(phone:inbox()).to.have_length(1)",
                    cure: """
                        push.send { device = phone, alert = "Hello" }
                        push.expect(phone:wait_for { alert = "Hello" }).to.exist()
                        push.expect(phone:inbox()).to.have_length(1)
                        """))
        ])

    private static let budget = ErrorArea(
        "budget", "what a run may use",
        [
            ErrorDescription(
                "budget.cpu", .budget, means: "The run computed for too long.",
                when: "It used more CPU than --cpu-limit allows, 10 s unless said otherwise: in Lua, and in what push functions do for "
                    + "it, such as delivering to simulated phones or hashing passwords. Mostly a loop that does not end; waiting costs "
                    + "nothing.",
                cure: "Wait with push.sleep or phone:wait_for instead of in a loop; raise --cpu-limit if the work is real.",
                example: .lua(
                    "while #phone:inbox() == 0 do end",
                    cure: "push.check(phone:wait_for { within = \"5s\" } == nil, \"nothing was sent\")")),
            ErrorDescription(
                "budget.instructions", .budget, means: "The script took more steps than it may.",
                when: "It went beyond --instruction-limit. Without that option there is no limit. Work inside the library counts too, "
                    + "so that the same script stops at the same place every time.",
                cure: "Raise --instruction-limit, or do less in a loop."),
            ErrorDescription(
                "budget.memory", .budget, means: "The run used too much memory.",
                when: "It holds more than --memory-limit allows, 256 MiB unless said otherwise. In a rehearsal this counts what the hub "
                    + "and the phones store, too: registrations, notifications, inboxes.",
                cure: "Look for a table or a text that grows in a loop, or for sends in one; raise --memory-limit if the data is real.",
                example: .lua("local text = (\"x\"):rep(1 << 30)", cure: "local text = (\"x\"):rep(1 << 10)")),
            ErrorDescription(
                "budget.step", .budget, means: "A single step of the script took too long, and nothing could interrupt it.",
                when: "A step may take 0.3 s of CPU time, and 10 ms more for each MiB in use. Most take less than a microsecond. But a "
                    + "table that grows looks each of its keys up behind those with the same hash: tens of thousands of numbers that "
                    + "are multiples of 2^n - 1, or that differ in their last bits alone, take seconds. So do tens of thousands of "
                    + "jumps in one block for the compiler. The script is left in the middle, without its cleanup.",
                cure: "Use texts as keys, or keep less in one table.",
                example: .lua(
                    "local t = {} for i = 1, 200000 do t[i * 131071] = true end",
                    cure: "local t = {} for i = 1, 200000 do t[tostring(i * 131071)] = true end")),
            ErrorDescription(
                "budget.wall", .budget, .refusal, means: "The run took longer than --timeout.",
                when: "Real time, waiting included, went beyond --timeout. Without that option there is no limit. Or the script comes "
                    + "through a pipe, and not to its end in that time: then nothing has run.",
                cure: "Raise --timeout, or find with --trace what the run waits for."),
            ErrorDescription(
                "budget.output", .budget, means: "The run wrote too much.",
                when: "print, push.log, the names of steps, and the lines about sends, warnings and what phones show came to more than "
                    + "4 MiB together; with --json or --trace, which list everything, to more than 64 MiB.",
                cure: "Print less; look for a loop that prints or sends without end.",
                example: .lua("while true do print((\"waiting \"):rep(1000)) end", cure: "print \"waiting\"")),
            ErrorDescription(
                "budget.files", .budget, means: "The run opened too many files.",
                when: "push.run and require opened more than 10,000 files together, each time counted.",
                cure: "Load a module once and keep it in a variable; look for push.run in a loop that does not end."),
            ErrorDescription(
                "budget.tasks", .failure, means: "Too many tasks live at the same time.",
                when: "push.spawn or push.all would make more than 10,000 tasks that have not ended.",
                cure: "Await some before starting more.",
                example: .lua(
                    "for i = 1, 20000 do push.spawn(function() push.sleep \"1h\" end) end",
                    cure: "for i = 1, 200 do push.spawn(function() push.sleep \"1h\" end) end")),
        ])

    private static let time = ErrorArea(
        "time", "moments",
        [
            ErrorDescription(
                "time.too_far", .failure, means: "A moment lies too far ahead.",
                when: "push.sleep would go beyond the year 9999, where the clock of a rehearsal ends, or a notification is "
                    + "scheduled more than seven days ahead, as in Azure.",
                cure: "Wait for a shorter time; schedule within seven days.",
                example: .lua("for _ = 1, 100 do push.sleep \"36500d\" end", cure: "push.sleep \"365d\""))
        ])

    private static let host = ErrorArea(
        "host", "the host around the script",
        [
            ErrorDescription(
                "host.error", .failure, means: "The host failed in a way that has no code of its own.",
                when: "An error from outside comes through as it is; its words are in the message.",
                cure: "Run again with --trace. If the message does not explain it, it is a fault of pushhost: report it.")
        ])

    private static let run = ErrorArea(
        "run", "runs of flows in a server, and of one machine",
        automationRuns + [
            ErrorDescription(
                "run.duplicate", .misuse, means: "Two runs of one machine have the same number.",
                when: "A Swift program that embeds the machine starts a run under a number that is in use. A script cannot cause it.",
                cure: "Give every run a number of its own.")
        ])
}

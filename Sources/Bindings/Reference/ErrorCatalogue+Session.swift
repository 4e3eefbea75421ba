// pushhost repl and --watch.
extension ErrorCatalogue {
    static let sessionAreas: [ErrorArea] = [repl, input, session, state, watch]

    private static let repl = ErrorArea(
        "repl", "the commands of pushhost repl",
        [
            ErrorDescription(
                "repl.unknown_command", .failure, means: "There is no such command.",
                when: "A line begins with a dot, and what follows is none of the commands of pushhost repl.",
                cure: "Write .help to see the commands; everything else is Lua."),
            ErrorDescription(
                "repl.unknown_name", .failure, means: "There is nothing of that name to explain.",
                when: ".help got a name that is no function, no type and no error code.", cure: "Write .help to see all names."),
        ])

    private static let input = ErrorArea(
        "input", "what pushhost repl reads",
        [
            ErrorDescription(
                "input.failed", .failure, means: "Standard input cannot be read.",
                when: "It is closed, or a folder; the message has the system's words. The session ends.",
                cure: "Give pushhost repl a terminal, a pipe or a file to read."),
            ErrorDescription(
                "input.too_large", .failure, means: "A line has no end.",
                when: "4 MiB were read without a line break: this is no text. The session ends.", cure: "Give pushhost repl lines of Lua."),
        ])

    private static let session = ErrorArea(
        "session", "calls between the program and a session",
        [
            ErrorDescription(
                "session.busy", .misuse, means: "The session takes no call now.",
                when: "Another call is under way, or the session is closed. No script can bring this about.",
                cure: "In a program that embeds Lua, wait for the call before."),
            ErrorDescription(
                "session.stuck", .failure, means: "The session had to be closed.",
                when: "A budget stayed used up although each call has it anew. That is a mistake of the machine; no script can "
                    + "bring it about.",
                cure: "In a program that embeds Lua, open another session, and report it."),
        ])

    private static let state = ErrorArea(
        "state", "what scripts run in",
        [
            ErrorDescription(
                "state.ended", .budget, means: "What the script runs in has ended.",
                when: "A single step of another script in it, or of an earlier line of pushhost repl, could not be interrupted: see "
                    + "budget.step. Nothing of it can be used any more.",
                cure: "Begin another session; in a program that embeds Lua, make another state.")
        ])

    private static let watch = ErrorArea(
        "watch", "pushhost run --watch and pushhost test --watch",
        [
            ErrorDescription(
                "watch.failed", .failure, means: "Files cannot be watched.",
                when: "The system has no more watches to give; the message names the folder and has the system's words.",
                cure: "Watch fewer folders: name the folder of the specs. Or raise fs.inotify.max_user_watches with sysctl.")
        ])
}

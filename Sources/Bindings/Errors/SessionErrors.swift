/// Error codes of `pushhost repl` and of `--watch`.
enum SessionErrors {
    static let all: [ErrorArea] = [repl, input, session, state, watch]

    private static let repl = ErrorArea(
        "repl", "the commands of pushhost repl",
        [
            ErrorDescription(
                "repl.unknown_command", .line, means: "The command is unknown.",
                when: "A line begins with a dot, but the rest is not a command of pushhost repl.",
                fix: "Use .help to list the commands. Everything else is Lua."),
            ErrorDescription(
                "repl.unknown_name", .line, means: "There is no function, type or error code with this name.",
                when: ".help got an unknown name.", fix: "Use .help to list all names."),
        ])

    private static let input = ErrorArea(
        "input", "standard input of pushhost repl",
        [
            ErrorDescription(
                "input.failed", .breakdown, means: "Standard input cannot be read.",
                when: "It is closed, or a directory; the message contains the system's error. The session ends.",
                fix: "Use a terminal, a pipe or a file as input."),
            ErrorDescription(
                "input.too_large", .breakdown, means: "An input line is too long.",
                when: "4 MiB were read without a line break, so the input is not text. The session ends.",
                fix: "Send lines of Lua to pushhost repl."),
        ])

    private static let session = ErrorArea(
        "session", "calls of a program to a session",
        [
            ErrorDescription(
                "session.busy", .program, means: "The session cannot accept a call.",
                when: "Another call is in progress, or the session is closed. Scripts cannot cause this error.",
                fix: "In a program that embeds Lua, wait for the previous call."),
            ErrorDescription(
                "session.stuck", .program, means: "The session was closed because of an internal error.",
                when: "A budget was not reset for a call. This is a bug of the runtime; scripts cannot cause this error.",
                fix: "In a program that embeds Lua, open another session and report the bug."),
        ])

    private static let state = ErrorArea(
        "state", "the Lua state of scripts",
        [
            ErrorDescription(
                "state.ended", .budget, means: "The Lua state of the script has ended.",
                when: "A single step of another script in the same state, or of an earlier line of pushhost repl, could not be "
                    + "interrupted: see budget.step. The state can no longer be used.",
                fix: "Start a new session. In a program that embeds Lua, create another state.")
        ])

    private static let watch = ErrorArea(
        "watch", "pushhost run --watch and pushhost test --watch",
        [
            ErrorDescription(
                "watch.failed", .breakdown, means: "Files cannot be watched.",
                when: "The system's limit of watches is reached; the message gives the folder and the system's error.",
                fix: "Watch fewer folders, for example only the folder of the specs, or raise fs.inotify.max_user_watches with sysctl.")
        ])
}

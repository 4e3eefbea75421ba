// The program: its command line, its files, its secrets.
extension ErrorCatalogue {
    static let programAreas: [ErrorArea] = [usage, secret, secrets, output, project, test, check, simulate]

    private static let usage = ErrorArea(
        "usage", "the command line",
        [
            ErrorDescription(
                "usage.argument", .refusal, means: "A word of the command line is no option, or one is missing.",
                when: "After FILE stands a word without dashes in front, or an option of pushhost has no value.",
                cure: "Write the flow's options as --name value; quote values that have blanks.",
                example: .shell(
                    "pushhost run scripts/notify_users.lua bob", cure: "pushhost run scripts/notify_users.lua --user bob")),
            ErrorDescription(
                "usage.command", .refusal, means: "The command line cannot be understood.",
                when: "Its first word is none of pushhost's commands; or, with --json, an option of pushhost is unknown or has a value "
                    + "that does not fit.",
                cure: "Take the command that the message proposes; pushhost --help lists them all.",
                example: .shell("pushhost scripts/notify_users.lua", cure: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "usage.password", .refusal, means: "There is no password, or not twice the same.",
                when: "pushhost user add or passwd gets none, the two that were typed differ, standard input has "
                    + "more than one line, or nobody can be asked.",
                cure: "Type it twice, or write one line to standard input and say --password-stdin."),
            ErrorDescription(
                "usage.hub", .refusal, means: "It is not clear which hub is meant.",
                when: "There are several hubs, or none, and --hub is not given.",
                cure: "Name one with --hub; pushhost hub list shows them."),
            ErrorDescription(
                "usage.target", .refusal, means: "There is no such target.",
                when: "--target is neither embedded, nor a name under targets in the settings, nor the URL of a server, nor a connection "
                    + "string.", cure: "Correct the name, or put the connection string in quotes."),
            ErrorDescription(
                "usage.value", .refusal, means: "An option or an argument of a command has a value that does not fit.",
                when: "A word is none of the choices, a moment or a duration cannot be read, a file is missing, or two options exclude "
                    + "each other.", cure: "Do as the message says; the command's --help has an example."),
            ErrorDescription(
                "usage.confirmation", .refusal, means: "A change that cannot be taken back was not confirmed.",
                when: "A command that deletes or replaces something asked, and was not told yes; or there was no terminal to ask on.",
                cure: "Answer y, or say --yes."),
            ErrorDescription(
                "usage.unknown_option", .misuse, means: "The flow has no such option.",
                when: "An option after FILE is neither pushhost's nor declared by the flow's push.args.",
                cure: "Take the name that the message proposes; pushhost run FILE --help lists the flow's options.",
                example: .shell(
                    "pushhost run scripts/notify_users.lua --usr bob", cure: "pushhost run scripts/notify_users.lua --user bob")),
            ErrorDescription(
                "usage.option", .misuse, .refusal, means: "An option has a value that does not fit.",
                when: "A number is expected and a word is given, a bound is crossed, a value is none of the choices, or it is missing.",
                cure: "Give a value as the hint shows; pushhost run FILE --help names bounds and choices.",
                example: .shell(
                    "pushhost run scripts/notify_users.lua --devices many", cure: "pushhost run scripts/notify_users.lua --devices 3")),
            ErrorDescription(
                "usage.missing_option", .misuse, means: "The flow needs an option that was not given.",
                when: "push.args declares it with required = true.",
                cure: "Give it; pushhost run FILE --help says what it is for."),
            ErrorDescription(
                "usage.no_options", .misuse, means: "Options were given to a flow that takes none.",
                when: "The script does not call push.args, or calls another function of push first.",
                cure: "Leave the options out, or declare them with push.args at the top of the flow.",
                example: .shell(
                    "pushhost run docs/examples/errors.lua --user bob", cure: "pushhost run docs/examples/errors.lua")),
        ])

    private static let secret = ErrorArea(
        "secret", "push.secret",
        [
            ErrorDescription(
                "secret.not_found", .failure, means: "There is no secret of that name.",
                when:
                    "push.secret found it neither in the environment, nor in secrets.json of the working directory or of the project of the script, nor, in a "
                    + "rehearsal, in demo_secrets.json beside the script.",
                cure: "Set PUSHHOST_SECRET_NAME, or put the name into one of the files. A misspelt name is proposed in the message.",
                example: .lua(
                    """
                    push.account { username = "ana", password = push.secret "demo_pasword" }
                    """,
                    cure: """
                        push.account { username = "ana", password = push.secret "demo_password" }
                        """)),
            ErrorDescription(
                "secret.name", .failure, means: "That cannot be the name of a secret.",
                when: "push.secret got a name with other characters than letters, digits and _.",
                cure: "Rename the secret: the name becomes part of the variable PUSHHOST_SECRET_NAME."),
        ])

    private static let secrets = ErrorArea(
        "secrets", "the files secrets.json and demo_secrets.json",
        [
            ErrorDescription(
                "secrets.invalid", .refusal, means: "The file of secrets is not an object of strings.",
                when: "secrets.json or demo_secrets.json is not JSON, or has a value that is not a string.",
                cure: "Write { \"name\": \"value\", \"other\": \"value\" }."),
            ErrorDescription(
                "secrets.not_found", .refusal, means: "The file of secrets does not exist.",
                when: "It is not needed: a run without the file goes on, and push.secret says what is missing.",
                cure: "Nothing to do."),
            ErrorDescription(
                "secrets.is_directory", .refusal, means: "The file of secrets is a directory.",
                when: "A folder has the name secrets.json or demo_secrets.json.", cure: "Rename the folder."),
            ErrorDescription(
                "secrets.unreadable", .refusal, means: "The file of secrets cannot be read.",
                when: "The system refuses; the message has its words.",
                cure: "Give yourself permission: ls -l secrets.json, chmod u+r secrets.json."),
            ErrorDescription(
                "secrets.too_large", .refusal, means: "The file of secrets is too large.",
                when: "It has more than 1 MiB.", cure: "Keep only secrets in it."),
        ])

    private static let output = ErrorArea(
        "output", "what the program prints",
        [
            ErrorDescription(
                "output.failed", .failure, means: "The report could not be written.",
                when:
                    "Standard output is closed, the disk is full, or the file of --junit cannot be written. The run itself may have passed; without its report "
                    + "nobody knows, so the exit code says that it failed. A reader that has seen enough, as in | head, is fine.",
                cure: "Make room, or send the output elsewhere.")
        ])

    private static let project = ErrorArea(
        "init", "pushhost init",
        [
            ErrorDescription(
                "init.exists", .refusal, means: "The folder already has files of that name.",
                when: "pushhost init would have to overwrite what it names. It writes nothing at all then.",
                cure: "Name another folder, such as pushhost init push, and move over what you want.",
                example: .shell("pushhost init .", cure: "pushhost init a-new-folder")),
            ErrorDescription(
                "init.failed", .failure, means: "The project could not be written.",
                when: "The disk is full, or there is no permission to write there; the message has the system's words. What "
                    + "had been written is removed again.",
                cure: "Make room or name a folder that you may write to, then run it again."),
        ])

    private static let test = ErrorArea(
        "test", "specs and pushhost test",
        [
            ErrorDescription(
                "test.order", .misuse, means: "A word of a spec stands where it has no effect.",
                when: "push.test.it or describe is called inside a test, or before_each after a test that it would not reach.",
                cure: "Put hooks first, then tests, each beside the others.",
                example: .lua(
                    """
                    local push = require "push"
                    push.test.it("has a phone", function() push.expect(#push.devices()).to.equal(1) end)
                    push.test.before_each(function() push.device { name = "ana" } end)
                    """,
                    cure: """
                        local push = require "push"
                        push.test.before_each(function() push.device { name = "ana" } end)
                        push.test.it("has a phone", function() push.expect(#push.devices()).to.equal(1) end)
                        """)),
            ErrorDescription(
                "test.not_a_spec", .misuse, means: "A test was declared outside of a test run.",
                when: "A file with push.test.it is run with pushhost run, or by push.run, or it is called at a prompt.",
                cure: "Run it with pushhost test FILE."),
            ErrorDescription(
                "test.no_target", .failure, means: "A send of a test reached no device.",
                when: "A test of a spec ended without another failure, and one of its sends found no registration. The message names its "
                    + "audience.",
                cure: "Register a device that matches. Where it is right that a send reaches no device, expect it: "
                    + "push.expect(outcome.state).to.equal \"NoTargetFound\"; or call push.test.allow_no_target() in the test."),
            ErrorDescription(
                "test.unstable", .failure, means: "The tests of a spec stood in another order than before.",
                when: "A file declares its tests in an order that changes from run to run, as next() over a table gives it.",
                cure: "Declare them in the order of a list: ipairs has one, and so has pairs over names."),
            ErrorDescription(
                "test.empty", .misuse, means: "A spec declares no test.",
                when: "A file whose name ends in _spec.lua never calls push.test.it, or only where it is not reached.",
                cure: "Write a test, or give the file another name.",
                example: .lua(
                    """
                    local push = require "push"
                    push.test.describe("welcome", function() end)
                    """,
                    cure: """
                        local push = require "push"
                        push.test.describe("welcome", function()
                          push.test.it("greets the new user")
                        end)
                        """)),
            ErrorDescription(
                "test.no_specs", .refusal, means: "There are no specs to run.",
                when: "No file below PATH, or below the working directory, has a name that ends in _spec.lua.",
                cure: "Name the folder of the specs; pushhost init makes a project with a first one.",
                example: .shell("pushhost test docs", cure: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "test.no_match", .refusal, means: "No test has that text in its name.",
                when: "--filter fits none of the tests.", cure: "Run pushhost test without --filter to see all names."),
        ])

    private static let simulate = ErrorArea(
        "simulate", "pushhost simulate",
        [
            ErrorDescription(
                "simulate.port", .refusal, means: "The port cannot be used.",
                when: "Another program listens there, perhaps another pushhost simulate, or the system keeps the port for itself.",
                cure: "End the other program, or choose another port: --port 0 takes a free one and prints it."),
            ErrorDescription(
                "simulate.ledger", .refusal, means: "The ledger cannot be written.",
                when: "The file of --ledger is in a folder that does not exist, is a folder itself, or may not be written to.",
                cure: "Name a file in a folder that exists and that you may write to."),
            ErrorDescription(
                "simulate.data", .refusal, means: "The folder of the keys cannot be used.",
                when: "The folder of --data cannot be made, its credentials.json cannot be read or written, or holds something else.",
                cure: "Name another folder, or remove credentials.json from it: then new keys are made."),
        ])

    private static let check = ErrorArea(
        "check", "findings of pushhost check",
        [
            ErrorDescription(
                "check.secret", .finding, means: "A secret stands in the script.",
                when: "A password, a key or a token is written as text. It would be in the version control and in every copy.",
                cure: "Put it into secrets.json or the environment and read it with push.secret.",
                example: .lua(
                    "push.account { username = \"ana\", password = \"Tr0ub4dor&3\" }",
                    cure: "push.account { username = \"ana\", password = push.secret \"demo_password\" }")),
            ErrorDescription(
                "check.global", .finding, means: "The script sets a global variable.",
                when: "A name is assigned to, or a function defined, without local. It works, and is seen in the whole file, "
                    + "so that two parts may change it for each other.",
                cure: "Write local before it.",
                example: .lua("phones = {}", cure: "local phones = {}")),
            ErrorDescription(
                "check.unknown_option", .finding, means: "The script reads an option that it does not declare.",
                when: "A field of what push.args returns is read that its table does not have: it would be nil in every run.",
                cure: "Correct the name, or declare the option.",
                example: .lua(
                    """
                    local args = push.args { user = { default = "alice" } }
                    print(args.usr)
                    """,
                    cure: """
                        local args = push.args { user = { default = "alice" } }
                        print(args.user)
                        """)),
            ErrorDescription(
                "check.unknown_field", .finding, means: "A value that a function returned has no such field.",
                when: "A field of an outcome, an inbox item or the like is read that it never has: it would be nil in every run.",
                cure: "Take the field that the message proposes; pushhost explain push.Outcome, and so on, lists all.",
                example: .lua(
                    """
                    local outcome = push.send { device = phone, alert = "Hello" }
                    print(outcome.status)
                    """,
                    cure: """
                        local outcome = push.send { device = phone, alert = "Hello" }
                        print(outcome.state)
                        """)),
            ErrorDescription(
                "check.no_scripts", .refusal, means: "There are no scripts to check.",
                when: "No file below PATH, or below the working directory, has a name that ends in .lua.",
                cure: "Name a script, or the folder of the scripts.",
                example: .shell("pushhost check docs/reference", cure: "pushhost check scripts")),
            ErrorDescription(
                "check.duplicate_key", .finding, means: "A table has one key twice.",
                when: "A key is written twice in the braces of one table. Lua keeps the last value and says nothing.",
                cure: "Remove one of the two, or give one of them the name that was meant.",
                example: .lua(
                    "push.send { to = \"Sports\", alert = \"Goal\", to = \"News\" }",
                    cure: "push.send { to = \"Sports || News\", alert = \"Goal\" }")),
            ErrorDescription(
                "check.too_many", .finding, means: "The script has more findings than are listed.",
                when: "There are more than a thousand; the first ones are shown.", cure: "Mend those first, then check again."),
        ])
}

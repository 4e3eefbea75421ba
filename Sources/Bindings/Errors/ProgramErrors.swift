/// Error codes of the program: command line, files, secrets.
enum ProgramErrors {
    static let all: [ErrorArea] = [usage, secret, secrets, output, project, test, check, simulate]

    private static let usage = ErrorArea(
        "usage", "the command line",
        [
            ErrorDescription(
                "usage.argument", .refusal, means: "An argument of the command line is unexpected or missing.",
                when: "An argument or a required option is missing, an option has no value, or the command gets an argument that it does "
                    + "not accept.",
                fix: "Write the options of the flow as --name value. Quote values that contain spaces.",
                example: .shell(
                    "pushhost run scripts/notify_users.lua bob", fix: "pushhost run scripts/notify_users.lua --user bob")),
            ErrorDescription(
                "usage.command", .refusal,
                means: "The command line is invalid.",
                when: "A command, option or argument is unknown, missing or has an invalid value.",
                fix: "Follow the message. pushhost --help lists all commands, and pushhost COMMAND --help the options of one.",
                example: .shell("pushhost scripts/notify_users.lua", fix: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "usage.password", .refusal, means: "The password is missing, or the two entries differ.",
                when: "pushhost user add or passwd gets no password, the two typed entries differ, standard input has more than one line, "
                    + "or there is no terminal.",
                fix: "Type it twice, or write one line to standard input and pass --password-stdin."),
            ErrorDescription(
                "usage.hub", .refusal, means: "The hub is ambiguous or missing.",
                when: "There are several hubs, or none, and --hub is not given.",
                fix: "Name one with --hub. pushhost hub list shows all hubs."),
            ErrorDescription(
                "usage.id", .refusal, means: "The id does not name one object.",
                when: "It is the beginning of several notifications' ids, or it is latest and there is no such object; or latest is used "
                    + "to approve or deny a request, and several are pending.",
                fix: "Write more of the id. The list command, such as pushhost notification list, shows all ids."),
            ErrorDescription(
                "usage.target", .refusal, means: "The target is unknown.",
                when: "--target is neither embedded, nor a name under targets in the settings, nor the URL of a server, nor a connection "
                    + "string.",
                fix: "Correct the name, or put the connection string in quotes."),
            ErrorDescription(
                "usage.value", .refusal, means: "The value of an option or argument is invalid.",
                when: "A word is not one of the choices, a time or duration is invalid, a file is missing, or two options conflict.",
                fix: "Follow the message. The command's --help has an example."),
            ErrorDescription(
                "usage.confirmation", .refusal, means: "An irreversible change was not confirmed.",
                when: "A command that deletes or replaces something asked for confirmation, and the answer was not yes, or there was no "
                    + "terminal.",
                fix: "Answer y, or pass --yes."),
            ErrorDescription(
                "usage.unknown_option", .misuse, means: "The flow has no such option.",
                when: "An option after FILE is neither an option of pushhost nor declared by push.args of the flow.",
                fix: "Use the name that the message suggests. pushhost run FILE --help lists the options of the flow.",
                example: .shell(
                    "pushhost run scripts/notify_users.lua --usr bob", fix: "pushhost run scripts/notify_users.lua --user bob")),
            ErrorDescription(
                "usage.option", .misuse, .refusal, means: "The value of an option is invalid.",
                when: "A word is given where a number is expected, the value is out of range or not one of the choices, or it is missing.",
                fix: "Give a value as in the hint. pushhost run FILE --help lists ranges and choices.",
                example: .shell(
                    "pushhost run scripts/notify_users.lua --devices many", fix: "pushhost run scripts/notify_users.lua --devices 3")),
            ErrorDescription(
                "usage.missing_option", .misuse, means: "A required option of the flow is missing.",
                when: "push.args declares it with required = true.", fix: "Add it. pushhost run FILE --help describes it."),
            ErrorDescription(
                "usage.no_options", .misuse, means: "The flow has no options, but some were given.",
                when: "The script does not call push.args, or calls another function of push first.",
                fix: "Remove the options, or declare them with push.args at the top of the flow.",
                example: .shell(
                    "pushhost run docs/examples/errors.lua --user bob", fix: "pushhost run docs/examples/errors.lua")),
        ])

    private static let secret = ErrorArea(
        "secret", "push.secret",
        [
            ErrorDescription(
                "secret.not_found", .failure, means: "The secret does not exist.",
                when: "push.secret found it neither in the environment, nor in secrets.json of the working directory or of the script's "
                    + "project, nor, in a rehearsal, in demo_secrets.json beside the script.",
                fix: "Set PUSHHOST_SECRET_NAME, or add the secret to one of the files. The message suggests a similar name.",
                example: .lua(
                    """
                    push.account { username = "ana", password = push.secret "demo_pasword" }
                    """,
                    fix: """
                        push.account { username = "ana", password = push.secret "demo_password" }
                        """)),
            ErrorDescription(
                "secret.name", .failure, means: "The name of the secret is invalid.",
                when: "push.secret got a name with other characters than letters, digits and _.",
                fix: "Rename the secret: the name becomes part of the variable PUSHHOST_SECRET_NAME."),
        ])

    private static let secrets = ErrorArea(
        "secrets", "the files secrets.json and demo_secrets.json",
        [
            ErrorDescription(
                "secrets.invalid", .refusal, means: "The secrets file is not an object of strings.",
                when: "secrets.json or demo_secrets.json is not JSON, or has a value that is not a string.",
                fix: "Write { \"name\": \"value\", \"other\": \"value\" }."),
            ErrorDescription(
                "secrets.not_found", .refusal, means: "The secrets file does not exist.",
                when: "The file is optional: a run without it continues, and push.secret reports missing secrets.", fix: "Nothing to do."),
            ErrorDescription(
                "secrets.is_directory", .refusal, means: "The secrets file is a directory.",
                when: "A directory is called secrets.json or demo_secrets.json.", fix: "Rename the directory."),
            ErrorDescription(
                "secrets.unreadable", .refusal, means: "The secrets file cannot be read.",
                when: "The system denies access; the message contains its error.",
                fix: "Correct the permissions: ls -l secrets.json, chmod u+r secrets.json."),
            ErrorDescription(
                "secrets.too_large", .refusal, means: "The secrets file is too large.",
                when: "It exceeds 1 MiB.", fix: "Keep only secrets in it."),
        ])

    private static let output = ErrorArea(
        "output", "output of the program",
        [
            ErrorDescription(
                "output.failed", .breakdown, means: "The report could not be written.",
                when: "Standard output is closed, the disk is full, or the file of --junit cannot be written. The run itself may have "
                    + "passed, but without its report the exit code is that of a failure. A reader that stops early, as in | head, is not "
                    + "an error.",
                fix: "Free space, or redirect the output.")
        ])

    private static let project = ErrorArea(
        "init", "pushhost init",
        [
            ErrorDescription(
                "init.exists", .refusal, means: "Files of the new project already exist.",
                when: "pushhost init would overwrite the files that it names. It has written nothing.",
                fix: "Choose another folder, such as pushhost init push, and copy the files that you need.",
                example: .shell("pushhost init .", fix: "pushhost init a-new-folder")),
            ErrorDescription(
                "init.failed", .breakdown, means: "The project could not be written.",
                when: "The disk is full or the folder is not writable; the message contains the system's error. Files already written were "
                    + "removed.",
                fix: "Free space or choose a writable folder, then run it again."),
        ])

    private static let test = ErrorArea(
        "test", "specs and pushhost test",
        [
            ErrorDescription(
                "test.order", .misuse, means: "A test function is called in the wrong place.",
                when: "push.test.it or describe is called inside a test, or before_each after a test that it would not apply to.",
                fix: "Declare hooks first, then tests, at the same level.",
                example: .lua(
                    """
                    local push = require "push"
                    push.test.it("has a phone", function() push.expect(#push.devices()).to.equal(1) end)
                    push.test.before_each(function() push.device { name = "ana" } end)
                    """,
                    fix: """
                        local push = require "push"
                        push.test.before_each(function() push.device { name = "ana" } end)
                        push.test.it("has a phone", function() push.expect(#push.devices()).to.equal(1) end)
                        """)),
            ErrorDescription(
                "test.not_a_spec", .misuse, means: "A test was declared outside a test run.",
                when: "A file with push.test.it is run with pushhost run or push.run, or the function is called in pushhost repl.",
                fix: "Run it with pushhost test FILE."),
            ErrorDescription(
                "test.no_target", .test, means: "A send of a test reached no device.",
                when: "A test without another failure made a send that matches no registration. The message names its audience.",
                fix: "Register a matching device. If the send should reach no device, expect it: push.expect(outcome.state).to.equal "
                    + "\"NoTargetFound\"; or call push.test.allow_no_target() in the test."),
            ErrorDescription(
                "test.unstable", .test, means: "The order of the tests in a spec changes between runs.",
                when: "The file declares its tests in varying order, for example in the order of next() over a table.",
                fix: "Declare them in the order of a list. ipairs has a fixed order, and pairs over names too."),
            ErrorDescription(
                "test.discarded", .test, means: "The generators of a property find no suitable cases.",
                when: "push.gen.where rejects nearly all generated values. A few discarded cases are replaced by others.",
                fix: "Make a generator whose values are all suitable, for example with push.gen.map or a smaller range."),
            ErrorDescription(
                "test.empty", .misuse, means: "The spec declares no tests.",
                when: "A file whose name ends in _spec.lua does not call push.test.it, or calls it only in code that does not run.",
                fix: "Add a test, or rename the file.",
                example: .lua(
                    """
                    local push = require "push"
                    push.test.describe("welcome", function() end)
                    """,
                    fix: """
                        local push = require "push"
                        push.test.describe("welcome", function()
                          push.test.it("greets the new user")
                        end)
                        """)),
            ErrorDescription(
                "test.no_specs", .refusal, means: "No specs were found.",
                when: "No file below PATH or the working directory has a name that ends in _spec.lua.",
                fix: "Name the folder of the specs. pushhost init creates a project with a spec.",
                example: .shell("pushhost test docs", fix: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "test.no_match", .refusal, means: "No test matches --filter.",
                when: "No test has the text of --filter in its name.", fix: "Run pushhost test without --filter to list all names."),
        ])

    private static let simulate = ErrorArea(
        "simulate", "pushhost simulate",
        [
            ErrorDescription(
                "simulate.port", .refusal, means: "The port is not available.",
                when: "Another program uses it, perhaps another pushhost simulate, or the system reserves it.",
                fix: "Stop the other program, or choose another port: --port 0 picks a free one and prints it."),
            ErrorDescription(
                "simulate.ledger", .refusal, means: "The ledger file cannot be written.",
                when: "The file of --ledger is in a folder that does not exist, is a directory, or is not writable.",
                fix: "Choose a writable file in an existing folder."),
            ErrorDescription(
                "simulate.data", .refusal, means: "The folder of the keys is not usable.",
                when: "The folder of --data cannot be created, or its credentials.json cannot be read or written or has other content.",
                fix: "Choose another folder, or remove credentials.json from it, so that new keys are created."),
        ])

    private static let check = ErrorArea(
        "check", "findings of pushhost check",
        [
            ErrorDescription(
                "check.secret", .finding, means: "The script contains a secret.",
                when: "A password, key or token is written as text. It would end up in version control and in every copy of the script.",
                fix: "Store it in secrets.json or the environment, and read it with push.secret.",
                example: .lua(
                    "push.account { username = \"ana\", password = \"Tr0ub4dor&3\" }",
                    fix: "push.account { username = \"ana\", password = push.secret \"demo_password\" }")),
            ErrorDescription(
                "check.global", .finding, means: "The script sets a global variable.",
                when: "A name is assigned to, or a function is defined, without local. The variable is visible in the whole file, so that "
                    + "different parts may overwrite it.",
                fix: "Write local before it.",
                example: .lua("phones = {}", fix: "local phones = {}")),
            ErrorDescription(
                "check.unknown_option", .finding, means: "The script reads an option that it does not declare.",
                when: "It reads a field of the result of push.args that is not declared. The field would be nil in every run.",
                fix: "Correct the name, or declare the option.",
                example: .lua(
                    """
                    local args = push.args { user = { default = "alice" } }
                    print(args.usr)
                    """,
                    fix: """
                        local args = push.args { user = { default = "alice" } }
                        print(args.user)
                        """)),
            ErrorDescription(
                "check.unknown_field", .finding, means: "The script reads a field that the value does not have.",
                when: "A field of an outcome, an inbox item or another result does not exist. It would be nil in every run.",
                fix: "Use the field that the message suggests. pushhost explain push.Outcome, for example, lists all fields.",
                example: .lua(
                    """
                    local outcome = push.send { device = phone, alert = "Hello" }
                    print(outcome.status)
                    """,
                    fix: """
                        local outcome = push.send { device = phone, alert = "Hello" }
                        print(outcome.state)
                        """)),
            ErrorDescription(
                "check.no_scripts", .refusal, means: "No scripts were found.",
                when: "No file below PATH or the working directory has a name that ends in .lua.",
                fix: "Name a script, or the folder of the scripts.",
                example: .shell("pushhost check docs/reference", fix: "pushhost check scripts")),
            ErrorDescription(
                "check.duplicate_key", .finding, means: "A table has the same key twice.",
                when: "A key occurs twice in a table constructor. Lua uses the last value without a warning.",
                fix: "Remove one of them, or correct its name.",
                example: .lua(
                    "push.send { to = \"Sports\", alert = \"Goal\", to = \"News\" }",
                    fix: "push.send { to = \"Sports || News\", alert = \"Goal\" }")),
            ErrorDescription(
                "check.too_many", .finding, means: "The script has more findings than are listed.",
                when: "There are more than a thousand findings; the first ones are shown.", fix: "Fix those first, then check again."),
        ])
}

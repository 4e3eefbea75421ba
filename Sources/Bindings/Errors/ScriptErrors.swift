/// Error codes of scripts: syntax, calls, values.
enum ScriptErrors {
    static let all: [ErrorArea] = [script, args, sandbox, value, lua, json]

    private static let script = ErrorArea(
        "script", "the script: file, syntax, names",
        [
            ErrorDescription(
                "script.syntax", .syntax, means: "The script has a syntax error.",
                when: "The script does not compile. The message describes the error and gives its position: for example an unclosed quote, "
                    + "bracket or block, an unknown operator, or a missing word.",
                fix: "Follow the hint. If a block is not closed, check the indentation below the line in the message.",
                example: .lua("local names = { \"ana\" \"wei\" }", fix: "local names = { \"ana\", \"wei\" }")),
            ErrorDescription(
                "script.error", .runtime, .finding, means: "Lua raised an error, or the script called error.",
                when: "For example, a nil value is called, indexed or added to, a string that is not a number is used in arithmetic, or a "
                    + "function recurses without end. pushhost check finds such errors where values are certain.",
                fix: "The message names the variable. Check where its value comes from: a function that returns nothing, a misspelt local "
                    + "name, or a list that is shorter than expected.",
                example: .lua(
                    """
                    local item = phone:wait_for { alert = "Hello", within = "1s" }
                    print(item.text) -- nothing came, so item is nil
                    """,
                    fix: """
                        local item = phone:wait_for { alert = "Hello", within = "1s" }
                        print(item and item.text or "nothing came")
                        """)),
            ErrorDescription(
                "script.unknown_name", .misuse, means: "A module, device or session has no member with this name.",
                when: "A field or method that does not exist is read. push raises an error instead of returning nil, so that misspelt "
                    + "names are noticed.",
                fix: "Use the name that the message suggests. pushhost explain lists all names.",
                example: .lua("push.sned { to = \"Sports\", alert = \"Goal\" }", fix: "push.send { to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "script.unknown_global", .finding, means: "The script reads a global variable that is never set.",
                when: "pushhost check finds a name that is neither a local variable, nor part of Lua, nor set by the script. Often it is "
                    + "misspelt; it would be nil in a run.",
                fix: "Correct the name, or declare the variable with local before its first use.",
                example: .lua("pirnt(\"done\")", fix: "print(\"done\")")),
            ErrorDescription(
                "script.unknown_module", .misuse, means: "The module does not exist.",
                when: "require finds neither a module of pushhost, nor a file with this name, nor init.lua in a folder with this name, "
                    + "below the script's folder or the working directory. Modules in other places, such as those of LuaRocks, are not "
                    + "available.",
                fix: "Give the file's name without .lua, with dots for slashes: lib/phones.lua is require \"lib.phones\".",
                example: .lua("local socket = require \"socket\"", fix: "local push = require \"push\"")),
            ErrorDescription(
                "script.module_name", .misuse, means: "The module name is invalid.",
                when: "The name has an empty part, a slash, a backslash or a control character. No file is looked up.",
                fix: "Separate the parts of the name with dots, as in lib.text."),
            ErrorDescription(
                "script.module_cycle", .misuse, means: "Modules require each other in a cycle.",
                when: "A module is required while it is still loading, by itself or by a module that it requires. The message shows the "
                    + "cycle.",
                fix: "Move common code into a third module, or call require inside the function that needs it."),
            ErrorDescription(
                "script.module_unreadable", .failure, means: "The file of the module cannot be read.",
                when: "The system denies access, a link leads out of the module folder or to a file whose name does not end in .lua, or "
                    + "the file exceeds 4 MiB. The message gives the reason.",
                fix: "Put a readable file with only code into the folder."),
            ErrorDescription(
                "script.read_only", .misuse, means: "The script assigns to a read-only field.",
                when: "A field of push, of a device or of a session is assigned to.",
                fix: "Keep the value in a local variable. To change a device, call its methods.",
                example: .lua("phone.user = \"bob\"", fix: "local owner = \"bob\"")),
            ErrorDescription(
                "script.bad_argument", .misuse, means: "A task function got an invalid argument.",
                when: "push.all gets a list with values other than functions and tasks, or await and cancel are called with a dot, or on "
                    + "the task of another run.",
                fix: "Pass functions, not their results. Call task:await() with a colon.",
                example: .lua(
                    "local task = push.spawn(function() end) task.await()", fix: "local task = push.spawn(function() end) task:await()")
            ),
            ErrorDescription(
                "script.deadlock", .misuse, means: "Tasks wait for each other in a cycle.",
                when: "A task awaits itself, or several tasks await each other.",
                fix: "Break the cycle: return a value from one task, and await it in only one place.",
                example: .lua(
                    """
                    local task
                    task = push.spawn(function() push.sleep "1s" return task:await() end)
                    task:await()
                    """,
                    fix: """
                        local task = push.spawn(function() push.sleep "1s" return "done" end)
                        print(task:await())
                        """)),
            ErrorDescription(
                "script.no_run", .program, means: "A task was started while no script was running.",
                when: "The prelude of a program starts a task while it is loaded. Scripts cannot cause this error.",
                fix: "Start tasks from functions that scripts call."),
            ErrorDescription(
                "script.not_found", .refusal, .failure, means: "The script's file does not exist.",
                when: "FILE does not exist relative to the working directory, or the argument of push.run does not exist relative to the "
                    + "calling script.",
                fix: "Check the path. The message suggests a file with a similar name.",
                example: .shell("pushhost run scripts/notify_user.lua", fix: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "script.outside", .failure, means: "push.run names a file outside the project.",
                when: "The path, or a link in it, leads out of the folders in which require looks: those of the script and its plugin, for "
                    + "a spec the parent folder, and the working directory. Or the file's name does not end in .lua. The file is not "
                    + "opened, and the message does not reveal whether it exists.",
                fix: "Put the flow into one of these folders, as a regular file and not as a link."),
            ErrorDescription(
                "script.is_directory", .refusal, means: "The script is a directory.",
                when: "FILE is a directory.", fix: "Name the script in it.",
                example: .shell("pushhost run scripts", fix: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "script.unreadable", .refusal, .failure, means: "The script's file cannot be read.",
                when: "The system denies access: permissions, a cycle of links, a disk error. The message contains its error. Or push.run "
                    + "names a pipe, which is possible only for the script on the command line.",
                fix: "Correct the permissions (ls -l FILE, chmod u+r FILE), or use another file."),
            ErrorDescription(
                "script.too_large", .refusal, means: "The script is too large.",
                when: "It exceeds 4 MiB.", fix: "Check the file name. Keep data small, or generate it in the flow.",
                example: .shell("pushhost run /dev/zero", fix: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "script.encoding", .refusal, .failure, means: "The file is not UTF-8 text.",
                when: "The script, or a module or flow that it uses, has bytes that are not UTF-8, or NUL characters. The message gives "
                    + "the line.",
                fix: "Save it as UTF-8: iconv -f latin1 -t utf-8 OLD.lua > NEW.lua."),
        ])

    private static let args = ErrorArea(
        "args", "arguments of module functions",
        [AutomationErrors.invalidArguments] + [
            ErrorDescription(
                "args.unknown_key", .misuse, means: "A call has an unknown key.",
                when: "The table has a key that the function does not have. Unknown keys are rejected, because a misspelt key would "
                    + "otherwise be ignored silently.",
                fix: "Use the key that the message suggests. The hint lists all keys.",
                example: .lua(
                    "push.send { tags = \"username:alice\", alert = \"Hello\" }",
                    fix: "push.send { to = \"username:alice\", alert = \"Hello\" }")),
            ErrorDescription(
                "args.missing", .misuse, means: "A required argument is missing.",
                when: "A required key is absent or nil. A nil value often comes from a misspelt variable or one that was never set.",
                fix: "Add the key. Print the variable before the call if it should have a value.",
                example: .lua(
                    "session:register { tags = { \"phone\" } }", fix: "session:register { device = phone, tags = { \"phone\" } }")),
            ErrorDescription(
                "args.wrong_type", .misuse, means: "A value has the wrong type.",
                when: "For example, a string is given where a list is required. The message names both types.",
                fix: "Use the type in the message.",
                example: .lua(
                    "session:register { device = phone, tags = \"phone\" }",
                    fix: "session:register { device = phone, tags = { \"phone\" } }")),
            ErrorDescription(
                "args.too_many", .misuse, means: "A call has too many arguments.",
                when: "A function gets more arguments than it has parameters, or one that accepts a single table gets more.",
                fix: "Write the call as in the hint.",
                example: .lua("push.sleep(\"1h\", \"30m\")", fix: "push.sleep \"1h30m\"")),
            ErrorDescription(
                "args.too_long", .misuse, means: "A string argument is too long.",
                when: "It exceeds 1,048,576 bytes. Processing of a string cannot be interrupted by a budget.",
                fix: "Split the string, and look for a string that grows in a loop."),
            ErrorDescription(
                "args.too_deep", .misuse, means: "Tables are nested too deeply to compare.",
                when: "The matchers equal and contain of push.expect compare tables up to 200 levels deep.",
                fix: "Compare the relevant parts one by one. Look for a list whose elements each contain the next one.",
                example: .lua(
                    """
                    local function chain() local t = {} for i = 1, 300 do t = { next = t } end return t end
                    push.expect(chain()).to.equal(chain())
                    """,
                    fix: """
                        local function chain() local t = {} for i = 1, 100 do t = { next = t } end return t end
                        push.expect(chain()).to.equal(chain())
                        """)),
            ErrorDescription(
                "args.pattern", .misuse, means: "The Lua pattern is invalid.",
                when: "push.expect(…).to.match got a pattern with an unclosed bracket or a percent sign at its end, or one that is too "
                    + "complex.",
                fix: "Write % before a special character, or use contain, which searches for plain text.",
                example: .lua(
                    "push.expect(\"a[1]\").to.match \"[\"", fix: "push.expect(\"a[1]\").to.match \"%[\"")),
            ErrorDescription(
                "args.empty", .misuse, means: "A string or list is empty.",
                when: "A string such as alert is \"\", or push.tag.any, all or none got no tags.",
                fix: "Give some text, or at least one tag. Check values from outside before the call.",
                example: .lua("push.send { to = \"Sports\", alert = \"\" }", fix: "push.send { to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "args.receiver", .misuse, means: "A method was called without its object.",
                when: "A dot is written instead of a colon, so the device or session is missing.", fix: "Write a colon.",
                example: .lua("local items = phone.inbox()", fix: "local items = phone:inbox()")),
            ErrorDescription(
                "args.duration", .misuse, means: "The duration is invalid.",
                when: "A duration is negative, longer than a hundred years, or has an unknown unit.",
                fix: "Write \"500ms\", \"90s\", \"5m\", \"1h30m\", \"3d\", \"2w\" or a number of seconds.",
                example: .lua("push.sleep \"5 minutes\"", fix: "push.sleep \"5m\"")),
            ErrorDescription(
                "args.time", .misuse, means: "The time is invalid.",
                when: "A time is not ISO 8601 with a zone, or is outside the years 1 to 9999.",
                fix: "Write \"2026-01-05T09:00:00Z\", or seconds since 1970.",
                example: .lua("print(os.date(\"%F\", \"tomorrow\"))", fix: "print(os.date(\"%F\", os.time() + 86400))")),
            ErrorDescription(
                "args.platform", .misuse, means: "The platform is unknown, or named twice.",
                when: "A platform is misspelt, or a table has two names of the same platform.",
                fix: "Use apns, fcm, gcm (a legacy registration of an Android device), wns or browser.",
                example: .lua(
                    "push.device { name = \"ana\", platform = \"phone\" }", fix: "push.device { name = \"ana\", platform = \"fcm\" }")),
            ErrorDescription(
                "args.date_format", .misuse, means: "The date format is invalid.",
                when: "In a format of os.date, a percent sign is followed by a letter that strftime does not have, or that depends on a "
                    + "locale.",
                fix: "Use the formats of strftime in the C locale. Write %% for a percent sign.",
                example: .lua("print(os.date(\"100%\"))", fix: "print(os.date(\"100%%\"))")),
            ErrorDescription(
                "args.declaration", .misuse, means: "A declaration of push.args is invalid.",
                when: "A parameter has an unknown type or key, an invalid default, or the name of an option of pushhost, such as seed or "
                    + "json.",
                fix: "Write name = { type = \"string\", default = \"alice\", desc = \"…\" }; choose another name if it is taken.",
                example: .lua(
                    "local args = push.args { seed = { type = \"integer\", default = 1 } }",
                    fix: "local args = push.args { number = { type = \"integer\", default = 1 } }")),
            ErrorDescription(
                "args.not_first", .misuse, means: "push.args was called too late, or twice.",
                when: "Another function of push was called before it. Options must be known before anything happens.",
                fix: "Call push.args once, before all other functions.",
                example: .lua(
                    """
                    push.sleep "1s"
                    local args = push.args { user = { default = "alice" } }
                    """,
                    fix: """
                        local args = push.args { user = { default = "alice" } }
                        print(args.user)
                        """)),
        ])

    private static let sandbox = ErrorArea(
        "sandbox", "parts of Lua that are not available to flows",
        [
            ErrorDescription(
                "sandbox.absent", .misuse, means: "This part of Lua is not available to flows.",
                when: "A flow calls io.open, os.execute, debug.traceback, dofile or a similar function, or reads package.loaded. Flows "
                    + "have no access to files, processes or bytecode, so that they run anywhere without risk. Testing whether such a "
                    + "function exists is allowed; its value is nil.",
                fix: "Use the replacement in the hint: push.log for output, the returned table for results, push.args and push.secret for "
                    + "input.",
                example: .lua("local user = os.getenv \"USER\"", fix: "local args = push.args { user = { default = \"alice\" } }"))
        ])

    private static let value = ErrorArea(
        "value", "values passed between script and program",
        [
            ErrorDescription(
                "value.unsupported", .misuse, means: "The value cannot be passed to the program.",
                when: "A table contains itself, is nested more than 64 levels deep, has a gap in its list or keys that are neither strings "
                    + "nor list indices, or is too large for one call; or the value is a coroutine.",
                fix: "Pass plain tables of strings, numbers and booleans.",
                example: .lua(
                    """
                    local data = {}
                    data.self = data
                    push.json.encode(data)
                    """,
                    fix: "push.json.encode { name = \"data\" }")),
            ErrorDescription(
                "value.duplicate_type", .program, means: "Two modules define the same object type.",
                when: "A Swift program that embeds Lua defines a type twice. Scripts cannot cause this error.",
                fix: "Give the second type another name."),
            ErrorDescription(
                "value.shape", .program, means: "A Swift function returned a result that does not match its declared shape.",
                when: "A Swift program that embeds Lua has a type that writes other values than its shape declares. Scripts cannot cause "
                    + "this error.",
                fix: "Let the type write a value for each member of its shape, in order."),
        ])

    private static let lua = ErrorArea(
        "lua", "limits of the Lua runtime",
        [
            ErrorDescription(
                "lua.cannot_wait", .misuse, means: "A waiting call was made where a script cannot be suspended.",
                when: "push.send, push.sleep and others wait. Lua cannot wait inside the comparison of table.sort, the replacement of "
                    + "string.gsub, a metamethod or a message handler of xpcall.",
                fix: "Collect the values first, then sort or replace.",
                example: .lua(
                    "local text = (\"in 3 steps\"):gsub(\"%d\", function(n) push.sleep(n .. \"s\") return n end)",
                    fix: """
                        push.sleep "3s"
                        local text = ("in 3 steps"):gsub("%d", "three")
                        """))
        ])

    private static let json = ErrorArea(
        "json", "reading and writing JSON",
        [
            ErrorDescription(
                "json.invalid", .failure, means: "The text is not JSON.",
                when: "push.json.decode got text that is not JSON. The message gives line and column.",
                fix: "Use double quotes for names and strings. Remove commas before closing brackets, and comments.",
                example: .lua("push.json.decode \"{'alert': 'Hello'}\"", fix: "push.json.decode '{\"alert\": \"Hello\"}'")),
            ErrorDescription(
                "json.unsupported", .failure, means: "The value cannot be written as JSON.",
                when: "It contains functions, devices, sessions, numbers such as NaN, text that is not UTF-8, or a table that mixes names "
                    + "and list indices. The message gives the path of the value, such as value.phones[2].owner.",
                fix: "Select the values to write. An empty list is push.json.array {}, null is push.json.null.",
                example: .lua("push.json.encode { phone = phone }", fix: "push.json.encode { phone = phone.name }")),
        ])
}

// The script: its text, its calls, its values.
extension ErrorCatalogue {
    static let scriptAreas: [ErrorArea] = [script, args, sandbox, value, lua, json]

    private static let script = ErrorArea(
        "script", "the script itself: its file, its text, its names",
        [
            ErrorDescription(
                "script.syntax", .syntax, means: "The script is not Lua.",
                when: "The script cannot be compiled. The message says what is wrong and points at it: at the quote, the bracket "
                    + "or the block that is not closed, at the sign that Lua does not have, at the place where a word is missing.",
                cure: "The hint says what to write. When a block is not closed, look at the indentation below the line that it names.",
                example: .lua("local names = { \"ana\" \"wei\" }", cure: "local names = { \"ana\", \"wei\" }")),
            ErrorDescription(
                "script.error", .runtime, .finding, means: "Lua itself raised an error, or the script called error.",
                when:
                    "A nil value is called, indexed or added to; a text that is no number is calculated with; a function recurses without end; "
                    + "the script calls error. pushhost check finds it where the values are certain.",
                cure: "The message names the variable. Ask where its value comes from: a function that returns nothing, "
                    + "a misspelt local name, a list that is shorter than expected.",
                example: .lua(
                    """
                    local item = phone:wait_for { alert = "Hello", within = "1s" }
                    print(item.text) -- nothing came, so item is nil
                    """,
                    cure: """
                        local item = phone:wait_for { alert = "Hello", within = "1s" }
                        print(item and item.text or "nothing came")
                        """)),
            ErrorDescription(
                "script.unknown_name", .misuse, means: "A module, a phone or a session has nothing of that name.",
                when: "A field or a method is read that does not exist. push answers at once instead of giving nil, so that "
                    + "a misspelt name cannot go on as nothing.",
                cure: "Take the name that the message proposes; pushhost explain lists all.",
                example: .lua("push.sned { to = \"Sports\", alert = \"Goal\" }", cure: "push.send { to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "script.unknown_global", .finding, means: "The script reads a global variable that nobody has set.",
                when: "pushhost check finds a name that is neither a local variable, nor one of Lua's, nor set by the script: "
                    + "mostly a misspelling, which would be nil in the run.",
                cure: "Correct the name, or declare the variable with local before its first use.",
                example: .lua("pirnt(\"done\")", cure: "print(\"done\")")),
            ErrorDescription(
                "script.unknown_module", .misuse, means: "There is no module of that name to require.",
                when:
                    "require finds neither a module of pushhost nor a file of that name, nor init.lua in a folder of that name, below the "
                    + "script's folder or the working directory. Modules from elsewhere, such as those of LuaRocks, are out of reach.",
                cure: "Write the name of a file without .lua, with dots for slashes: lib/phones.lua is require \"lib.phones\".",
                example: .lua("local socket = require \"socket\"", cure: "local push = require \"push\"")),
            ErrorDescription(
                "script.module_name", .misuse, means: "A text was required that cannot be the name of a module.",
                when: "require gets a name with an empty part, a slash, a backslash or a control character. It is "
                    + "refused before anything is looked for.",
                cure: "Write the parts of the name with dots between them, as in lib.text."),
            ErrorDescription(
                "script.module_cycle", .misuse, means: "Modules require each other in a circle.",
                when: "A module is required while it is still being loaded, by itself or by a module that it "
                    + "requires. The message shows the circle.",
                cure: "Move what both need into a third module, or require one of them inside of the function that needs it."),
            ErrorDescription(
                "script.module_unreadable", .failure, means: "The file of a module cannot be read.",
                when: "The system refuses, a link leads out of the folder of the modules, or the file has more than "
                    + "4 MiB. The message says which.",
                cure: "Put the file itself into the folder, readable and with nothing but code."),
            ErrorDescription(
                "script.read_only", .misuse, means: "The script tries to change something that belongs to the host.",
                when: "A field of push, of a phone or of a session is assigned to.",
                cure: "Keep the value in a local variable; to change a phone call its methods.",
                example: .lua("phone.user = \"bob\"", cure: "local owner = \"bob\"")),
            ErrorDescription(
                "script.bad_argument", .misuse, means: "A function of the tasks got something that it cannot run or wait for.",
                when: "push.all gets a list with something else than functions and tasks, or await and cancel are called "
                    + "with a dot, or on the task of another run.",
                cure: "Pass functions, not what they return; call task:await() with a colon.",
                example: .lua(
                    "local task = push.spawn(function() end) task.await()", cure: "local task = push.spawn(function() end) task:await()")
            ),
            ErrorDescription(
                "script.deadlock", .misuse, means: "Tasks wait for each other, so none can go on.",
                when: "A task awaits itself, or several tasks await each other in a circle.",
                cure: "Let one of them end first: return a value from it and await it from one place.",
                example: .lua(
                    """
                    local task
                    task = push.spawn(function() push.sleep "1s" return task:await() end)
                    task:await()
                    """,
                    cure: """
                        local task = push.spawn(function() push.sleep "1s" return "done" end)
                        print(task:await())
                        """)),
            ErrorDescription(
                "script.no_run", .misuse, means: "A task was started while no script is running.",
                when: "The host's own prelude starts a task while it is loaded. A script cannot cause it.",
                cure: "Start tasks from functions that scripts call."),
            ErrorDescription(
                "script.not_found", .refusal, .failure, means: "The script's file does not exist.",
                when: "FILE names nothing, seen from the working directory; or push.run names nothing, seen from the script that calls it.",
                cure: "Check the path; the message proposes a file beside it whose name is near.",
                example: .shell("pushhost run scripts/notify_user.lua", cure: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "script.outside", .failure, means: "push.run names a file that is not a script of the project.",
                when: "The path, or a link on the way, leads out of the folders in which require looks: that of the script, that of "
                    + "its plugin, for a spec the folder above, and the working directory. Or the file is not called something.lua. It "
                    + "is not opened, and the message does not say whether it exists.",
                cure: "Put the flow into one of these folders, as a file itself and not as a link to one elsewhere."),
            ErrorDescription(
                "script.is_directory", .refusal, means: "A directory was given where a script is expected.",
                when: "FILE is a folder.", cure: "Name the script in it.",
                example: .shell("pushhost run scripts", cure: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "script.unreadable", .refusal, .failure, means: "The script's file cannot be read.",
                when: "The system refuses: no permission, a loop of links, a fault of the disk. The message has its words. Or "
                    + "push.run names a pipe: only the script of the command line may come through one.",
                cure: "Give yourself permission (ls -l FILE, chmod u+r FILE), or pass another file."),
            ErrorDescription(
                "script.too_large", .refusal, means: "The file is too large for a script.",
                when: "It has more than 4 MiB.", cure: "Pass a script; keep data that a flow needs small, or make it in the flow.",
                example: .shell("pushhost run /dev/zero", cure: "pushhost run scripts/notify_users.lua")),
            ErrorDescription(
                "script.encoding", .refusal, .failure, means: "The file is not text in UTF-8.",
                when: "It has bytes that are not UTF-8, or NUL characters; the message names the line. It is the script itself, or a "
                    + "module or a flow that it asks for.",
                cure: "Save it as UTF-8: iconv -f latin1 -t utf-8 OLD.lua > NEW.lua."),
        ])

    private static let args = ErrorArea(
        "args", "what a call of the module was given",
        [invalidArguments] + [
            ErrorDescription(
                "args.unknown_key", .misuse, means: "A call got a named key that it does not have.",
                when: "The table of a call has a key that the description does not know. Unknown keys are refused, because a "
                    + "misspelt one would be left out in silence.",
                cure: "Take the key that the message proposes; the hint lists all keys.",
                example: .lua(
                    "push.send { tags = \"username:alice\", alert = \"Hello\" }",
                    cure: "push.send { to = \"username:alice\", alert = \"Hello\" }")),
            ErrorDescription(
                "args.missing", .misuse, means: "A call lacks something that it needs.",
                when: "A required key is absent or nil. Nil often means that the variable is misspelt or was never set.",
                cure: "Give the key; print the variable before the call if you thought you did.",
                example: .lua(
                    "session:register { tags = { \"phone\" } }", cure: "session:register { device = phone, tags = { \"phone\" } }")),
            ErrorDescription(
                "args.wrong_type", .misuse, means: "A value has the wrong type.",
                when: "A call wants a list and gets a string, a string and gets a number, and so on; the message says both.",
                cure: "Give the type that the message asks for.",
                example: .lua(
                    "session:register { device = phone, tags = \"phone\" }",
                    cure: "session:register { device = phone, tags = { \"phone\" } }")),
            ErrorDescription(
                "args.too_many", .misuse, means: "A call got more arguments than it takes.",
                when: "A function with fixed arguments gets more of them, or one that takes a table gets something beside it.",
                cure: "Write the call as the hint shows it.",
                example: .lua("push.sleep(\"1h\", \"30m\")", cure: "push.sleep \"1h30m\"")),
            ErrorDescription(
                "args.too_long", .misuse, means: "A text is longer than any call needs.",
                when: "An argument has more than 1,048,576 bytes. What a call does with a text cannot be stopped by a budget.",
                cure: "Give it in parts; look for a text that grows in a loop."),
            ErrorDescription(
                "args.too_deep", .misuse, means: "Tables are nested too deeply to be compared.",
                when: "The matchers equal and contain of push.expect look into tables within tables, 200 levels deep and no deeper.",
                cure: "Compare the parts that matter, one by one; look for a list whose elements each hold the next one.",
                example: .lua(
                    """
                    local function chain() local t = {} for i = 1, 300 do t = { next = t } end return t end
                    push.expect(chain()).to.equal(chain())
                    """,
                    cure: """
                        local function chain() local t = {} for i = 1, 100 do t = { next = t } end return t end
                        push.expect(chain()).to.equal(chain())
                        """)),
            ErrorDescription(
                "args.pattern", .misuse, means: "A text is no pattern of Lua.",
                when: "push.expect(…).to.match got a pattern that Lua cannot read: a bracket that is not closed, a percent sign at "
                    + "its end, or more than Lua can follow.",
                cure: "Write % before a character that stands for itself, or use contain, which takes a text as it is.",
                example: .lua(
                    "push.expect(\"a[1]\").to.match \"[\"", cure: "push.expect(\"a[1]\").to.match \"%[\"")),
            ErrorDescription(
                "args.empty", .misuse, means: "A text or a list is empty where that means nothing.",
                when: "A text such as alert is \"\", or push.tag.any and its kin get no tags.",
                cure: "Give some text, at least one tag. If the value comes from outside, check it before the call.",
                example: .lua("push.send { to = \"Sports\", alert = \"\" }", cure: "push.send { to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "args.receiver", .misuse, means: "A method was called without the thing that it belongs to.",
                when: "A dot is written where a colon belongs, so the phone or the session is missing.",
                cure: "Write a colon.",
                example: .lua("local items = phone.inbox()", cure: "local items = phone:inbox()")),
            ErrorDescription(
                "args.duration", .misuse, means: "A text is no duration.",
                when: "A duration is negative, longer than a hundred years, or has no unit that is known.",
                cure: "Write \"500ms\", \"90s\", \"5m\", \"1h30m\", \"3d\", \"2w\" or a number of seconds.",
                example: .lua("push.sleep \"5 minutes\"", cure: "push.sleep \"5m\"")),
            ErrorDescription(
                "args.time", .misuse, means: "A value is no moment.",
                when: "A time is not ISO 8601 with a zone, or lies outside the years 1 to 9999.",
                cure: "Write \"2026-01-05T09:00:00Z\", or seconds since 1970.",
                example: .lua("print(os.date(\"%F\", \"tomorrow\"))", cure: "print(os.date(\"%F\", os.time() + 86400))")),
            ErrorDescription(
                "args.platform", .misuse, means: "There is no push service of that name, or it is named twice.",
                when: "A platform is misspelt, or two names of one platform stand in one table.",
                cure: "The names are apns, fcm, gcm (a legacy registration of an Android phone), wns and browser.",
                example: .lua(
                    "push.device { name = \"ana\", platform = \"phone\" }", cure: "push.device { name = \"ana\", platform = \"fcm\" }")),
            ErrorDescription(
                "args.date_format", .misuse, means: "os.date got a format that it does not know.",
                when: "A percent sign is followed by a letter that strftime has not, or that depends on a locale.",
                cure: "Use the formats of strftime in the C locale; two percent signs stand for one.",
                example: .lua("print(os.date(\"100%\"))", cure: "print(os.date(\"100%%\"))")),
            ErrorDescription(
                "args.declaration", .misuse, means: "push.args got a declaration that cannot be used.",
                when: "A parameter has an unknown type or key, a default that does not fit it, or the name of an option that "
                    + "pushhost itself has, such as seed or json.",
                cure: "Write name = { type = \"string\", default = \"alice\", desc = \"…\" }; choose another name if it is taken.",
                example: .lua(
                    "local args = push.args { seed = { type = \"integer\", default = 1 } }",
                    cure: "local args = push.args { number = { type = \"integer\", default = 1 } }")),
            ErrorDescription(
                "args.not_first", .misuse, means: "push.args was called too late, or twice.",
                when: "Another function of push ran before it. The options must be known before anything happens.",
                cure: "Make one call of push.args, before all others.",
                example: .lua(
                    """
                    push.sleep "1s"
                    local args = push.args { user = { default = "alice" } }
                    """,
                    cure: """
                        local args = push.args { user = { default = "alice" } }
                        print(args.user)
                        """)),
        ])

    private static let sandbox = ErrorArea(
        "sandbox", "parts of Lua that are out of reach of a flow",
        [
            ErrorDescription(
                "sandbox.absent", .misuse, means: "That part of Lua is not available to flows.",
                when: "A flow calls io.open, os.execute, debug.traceback, dofile and the like, or looks into package.loaded. A flow has "
                    + "no files, no processes and no bytecode, so that it can run anywhere and harm nothing. To ask whether there is "
                    + "such a function is no mistake: it is nil.",
                cure: "The hint says what to use instead: push.log to write, the returned table for results, push.args and "
                    + "push.secret for what comes from outside.",
                example: .lua("local user = os.getenv \"USER\"", cure: "local args = push.args { user = { default = \"alice\" } }"))
        ])

    private static let value = ErrorArea(
        "value", "values between the script and the host",
        [
            ErrorDescription(
                "value.unsupported", .misuse, means: "A value cannot be handed over to the host.",
                when: "A call gets a table that contains itself, is nested more than 64 deep, has a hole in its list or keys "
                    + "that are neither names nor places, or is larger than the host takes in one call; or a coroutine.",
                cure: "Pass plain tables of strings, numbers and booleans.",
                example: .lua(
                    """
                    local data = {}
                    data.self = data
                    push.json.encode(data)
                    """,
                    cure: "push.json.encode { name = \"data\" }")),
            ErrorDescription(
                "value.duplicate_type", .misuse, means: "Two modules of the host define the same type of object.",
                when: "A Swift program that embeds the machine defines a type twice. A script cannot cause it.",
                cure: "Give the second type another name."),
            ErrorDescription(
                "value.shape", .failure, means: "A function of the host gave another result than it says.",
                when: "A Swift program that embeds the machine has a type that writes other values than its shape names. A script "
                    + "cannot cause it.",
                cure: "Let the type write a value for each member of its shape, in their order."),
        ])

    private static let lua = ErrorArea(
        "lua", "limits of the machine",
        [
            ErrorDescription(
                "lua.cannot_wait", .misuse, means: "A call that waits was made where a script cannot be suspended.",
                when: "push.send, push.sleep and others wait. Inside the comparison of table.sort, the replacement of "
                    + "string.gsub, a metamethod or a message handler of xpcall Lua cannot wait.",
                cure: "Collect what is needed first, then sort or replace.",
                example: .lua(
                    "local text = (\"in 3 steps\"):gsub(\"%d\", function(n) push.sleep(n .. \"s\") return n end)",
                    cure: """
                        push.sleep "3s"
                        local text = ("in 3 steps"):gsub("%d", "three")
                        """))
        ])

    private static let json = ErrorArea(
        "json", "reading and writing JSON",
        [
            ErrorDescription(
                "json.invalid", .failure, means: "The text is not JSON.",
                when: "push.json.decode meets something else; the message names line and column.",
                cure: "Names and strings want double quotes; no comma before a closing bracket; no comments.",
                example: .lua("push.json.decode \"{'alert': 'Hello'}\"", cure: "push.json.decode '{\"alert\": \"Hello\"}'")),
            ErrorDescription(
                "json.unsupported", .failure, means: "The value has no form in JSON.",
                when: "It has functions, phones or sessions in it, numbers such as NaN, text that is not UTF-8, or a table "
                    + "with both names and places. The message has the way to the value, such as value.phones[2].owner.",
                cure: "Pick out what should be written. An empty list is push.json.array {}, null is push.json.null.",
                example: .lua("push.json.encode { phone = phone }", cure: "push.json.encode { phone = phone.name }")),
        ])
}

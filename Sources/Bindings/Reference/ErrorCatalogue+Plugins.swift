// Plugins: how they are loaded, what they may do, what becomes of them when they fail.
extension ErrorCatalogue {
    static let pluginAreas: [ErrorArea] = [
        plugin, native, hook, phase, capability, group, kv, http, route, webhook, cron, timeZone, dailyWindow,
    ]

    private static let plugin = ErrorArea(
        "plugin", "plugins and their configuration",
        [
            ErrorDescription(
                "plugin.manifest", .misuse, means: "What init.lua returns does not describe a plugin.",
                when: "A key is missing, misspelt or has a value of the wrong type; the message names the file, the key and the value.",
                cure: "Change what the message names; docs/plugins.md has all keys."),
            ErrorDescription(
                "plugin.config", .misuse, means: "A plugin is configured with something that it does not take.",
                when: "A value of the configuration does not fit the schema in the plugin's manifest; the message names the file, the "
                    + "plugin, the setting and the value.",
                cure: "Change the setting; pushhost plugin list shows what the plugin takes."),
            ErrorDescription(
                "plugin.no_main", .misuse, means: "A folder is no plugin.", when: "It has no init.lua.",
                cure: "Write one, or begin with pushhost plugin new NAME."),
            ErrorDescription(
                "plugin.name", .refusal, means: "A name cannot be a plugin's.",
                when: "It has other signs than small letters, digits and - between them, or more than 40.", cure: "Choose another name."),
            ErrorDescription(
                "plugin.not_found", .refusal, .failure, means: "There is no such plugin.",
                when: "The folder of plugins has none of that name, or a spec that wants its plugin lies outside of one.",
                cure: "Take the name that the hint proposes; pushhost plugin list shows all."),
            ErrorDescription(
                "plugin.too_large", .refusal, means: "A plugin has too many files, or too large ones.",
                when: "It has more than 500 Lua files, or more than 16 MiB of them.", cure: "Move out of its folder what is not its own."),
            ErrorDescription(
                "plugin.list", .refusal, means: "The list of plugins cannot be understood.",
                when: "plugins.yaml is no YAML, or an entry has a key or a value that there is not; the message has the line.",
                cure: "Change the line. A running server goes on with the list as it was."),
            ErrorDescription(
                "plugin.refused", .refusal, means: "A server does not begin without a plugin that is listed.",
                when: "The plugin does not load or fails its own spec, and no version of it was live before.",
                cure: "Mend it, or take it out of the list: pushhost plugin disable NAME."),
            ErrorDescription(
                "plugin.spec", .failure, means: "A version of a plugin fails its own spec.",
                when: "A changed plugin is tried out before it is called, and a test of it failed: the version before it stays live.",
                cure: "Run pushhost plugin test NAME, and mend what it shows."),
            ErrorDescription(
                "plugin.no_version", .refusal, means: "A version of a plugin is not kept.",
                when: "No version whose hash begins so was live, or it is not one of the last ten, or its files were changed.",
                cure: "Choose one of those that the hint lists."),
            ErrorDescription(
                "plugin.unkept", .failure, means: "A version of a plugin is live but cannot be rolled back to.",
                when: "The data folder cannot be written to.", cure: "Make room, or let the folder be written to."),
            ErrorDescription(
                "plugin.not_listed", .refusal, means: "A plugin is not in the list.",
                when: "A command changes an entry of plugins.yaml that is not there.", cure: "Enable it first: pushhost plugin enable NAME."
            ),
            ErrorDescription(
                "plugin.no_flow", .refusal, means: "A plugin has no flow of that name.",
                when: "pushhost run PLUGIN:FLOW names none of those in its manifest.", cure: "Take one of those that the hint lists."),
            ErrorDescription(
                "plugin.native", .refusal, .misuse,
                means: "A plugin that is a part of the program is taken for a folder, or does not begin.",
                when: "It is granted something, pinned, tested or rolled back, a folder has its name, or it says itself why it does not "
                    + "begin.", cure: "Change what the message names; docs/native-plugins.md tells of such plugins."),
            ErrorDescription(
                "plugin.not_granted", .refusal, means: "A plugin was not granted what is to be taken back.",
                when: "pushhost plugin revoke names a capability that the entry has not.", cure: "Take one of those that the hint lists."),
            ErrorDescription(
                "plugin.route_exists", .misuse, means: "Two routes of a plugin answer the same requests.",
                when: "Their methods are the same, and their paths differ in the names of parameters at most.",
                cure: "Give one of them another path or method."),
        ])

    private static let native = ErrorArea(
        "native", "functions and plugins in Swift",
        [
            ErrorDescription(
                "native.name", .refusal, means: "A program adds something under a name that cannot be.",
                when: "A function's name is not SPACE.NAME, the space is PushHost's own, or two have one name.",
                cure: "Choose another name where the program begins."),
            ErrorDescription(
                "native.late", .refusal, means: "A program adds functions after it has begun.",
                when: "They are added when the list of functions has been read already.",
                cure: "Hand them over to PushHostProgram.main, once."),
        ])

    private static let hook = ErrorArea(
        "hook", "hooks of plugins",
        [
            ErrorDescription(
                "hook.veto", .failure, .answer, means: "A plugin refuses.",
                when: "A hook has answered with veto; the message has the plugin's name and its reason. Status 403.",
                cure: "Do as the reason says, or ask who runs the plugin."),
            ErrorDescription(
                "hook.failed", .failure, .answer, means: "A plugin that decides could not.",
                when: "A hook that is fail_closed has failed: it raised an error, used up its budget, took too long, or answered something "
                    + "that the phase does not know. Status 503.",
                cure: "Try again in a while. The log has the hook's own error with file and line."),
            ErrorDescription(
                "hook.open", .failure, .answer, means: "A plugin that decides is not asked at the moment.",
                when: "A hook that is fail_closed has failed five times in a row, and is left alone for a while. Status 503.",
                cure: "Try again in a while. pushhost plugin list says until when, and what went wrong."),
            ErrorDescription(
                "hook.absent", .failure, .answer, means: "A plugin that decides is not live.",
                when:
                    "A plugin that is fail_closed was listed anew in a running server, is tried out or was refused, and no version of it can go on. Status 503.",
                cure: "pushhost plugin list says which. Wait for its specs; one that was refused says why there: mend it, or disable it."),
            ErrorDescription(
                "hook.timeout", .budget, means: "A call of a plugin took too long.",
                when: "It waited, or computed, for longer than its timeout.",
                cure: "Wait for less, or declare a longer timeout beside run."),
            ErrorDescription(
                "hook.behind", .failure, means: "A plugin does not keep up with what it is told.",
                when: "A thousand calls of after_send or on_outcome are under way already: further ones are left out, and counted.",
                cure: "Let the hook do less: keep what it is told with push.kv, and let a timer go on with it."),
            ErrorDescription(
                "hook.answer", .misuse, means: "A hook answered what goes not together.",
                when: "A ruling of before_deliver has none or several of skip, hold_until and pass, names devices in two ways, or does "
                    + "not say why.",
                cure: "Write one ruling for each group of devices, with one of skip, hold_until and pass, and a reason."),
        ])

    private static let phase = ErrorArea(
        "phase", "where functions may be called",
        [
            ErrorDescription(
                "phase.not_allowed", .misuse, means: "A function is called where it may not be.",
                when: "Not everything can be done at any time: while a plugin is loaded it can only describe itself, and a hook that the "
                    + "hub waits for cannot change the hub. The hint lists the phases that allow it.",
                cure: "Move the call to one of these phases: what is to be sent once a registration is kept goes into once_kept.")
        ])

    private static let capability = ErrorArea(
        "capability", "what plugins may do",
        [
            ErrorDescription(
                "capability.denied", .misuse, means: "A plugin does what it was not granted.",
                when: "The capability is not in the needs of its manifest, or the operator has not granted it. The first time is noted in "
                    + "the audit trail.",
                cure: "Write it into needs, and have it granted: pushhost plugin grant NAME CAPABILITY.")
        ])

    private static let group = ErrorArea(
        "group", "the devices of before_deliver",
        [
            ErrorDescription(
                "group.too_many_tags", .misuse, means: "A hook asks for too many tags at once.", when: "There are more than 10,000.",
                cure: "Ask for some at a time.")
        ])

    private static let kv = ErrorArea(
        "kv", "what plugins keep",
        [
            ErrorDescription(
                "kv.key", .failure, means: "A key cannot be one.", when: "It is empty, or has more than 256 bytes; so with a token.",
                cure: "Shorten it; of something longer, use its hash."),
            ErrorDescription(
                "kv.too_large", .failure, means: "A value is too large.", when: "It has more than 64 KiB of JSON, or more than 128 levels.",
                cure: "Split it over several keys."),
            ErrorDescription(
                "kv.ttl", .failure, means: "Something is to be kept for too long, or for too short a time.",
                when: "expires_in or within is less than a second or more than 1,830 days.", cure: "Choose a time between these."),
            ErrorDescription(
                "kv.too_many", .failure, means: "Too many keys at once.",
                when: "A call names more than 1,000 keys, or a page is not one of 1 to 1,000.", cure: "Ask in parts."),
            ErrorDescription(
                "kv.slots", .failure, means: "A key cannot have so many slots.", when: "The limit is not from 1 to 1,000.",
                cure: "Choose a smaller limit, or a shorter period."),
            ErrorDescription(
                "kv.full", .failure, means: "A plugin keeps too much.",
                when: "A plugin has 1,000,000 entries or 64 MiB: something new is not kept, and nothing has changed.",
                cure: "Delete what is not needed, or let it expire with expires_in."),
            ErrorDescription(
                "kv.not_a_number", .failure, means: "Something is added to what is no whole number.",
                when: "push.kv.add names a key with another value.", cure: "Use another key, or put a number first."),
            ErrorDescription(
                "kv.out_of_range", .failure, means: "A sum is too large.", when: "It does not fit into 64 bits.",
                cure: "Put a smaller number first."),
            ErrorDescription(
                "kv.condition", .misuse, means: "A put has two conditions.", when: "Both if_absent and if_version are given.",
                cure: "Keep one of them."),
        ])

    private static let http = ErrorArea(
        "http", "requests of plugins to servers elsewhere",
        [
            ErrorDescription(
                "http.denied", .failure, means: "A host is not granted.",
                when: "A redirect leads to a host, or a port, that the plugin was not granted.",
                cure: "Ask for http:HOST or http:HOST:PORT in needs, and have it granted."),
            ErrorDescription(
                "http.busy", .failure, means: "A plugin asks too many servers at once.",
                when: "It has 32 requests under way already: the places for requests are those of all plugins.",
                cure: "Wait for some of them before the next."),
            ErrorDescription(
                "http.private_address", .failure, means: "A host leads into a private network.",
                when: "One of the addresses of its name is this machine's, or not public. Plugins could be led there by others.",
                cure: "If it shall: ask for http.private:HOST, and have it granted."),
            ErrorDescription(
                "http.invalid_url", .failure, means: "A text is no address of a request.",
                when: "It is not absolute, has a user's name in it, is too long, or spells an address oddly.",
                cure: "Write https://api.example.com/path."),
            ErrorDescription(
                "http.invalid_header", .failure, means: "A header cannot be sent.",
                when: "Its name is no token or one that the client writes itself, its value has control characters, or all are too long.",
                cure: "Leave it out, or clean the value."),
            ErrorDescription(
                "http.method", .failure, means: "A method cannot be used so.",
                when: "It is none that is known, or a GET or HEAD has a body.", cure: "Use POST for what has a body."),
            ErrorDescription(
                "http.body", .misuse, means: "A request has no body that could be sent.",
                when: "Both json and body are given, or body is no string.", cure: "Keep one of them; json writes tables."),
            ErrorDescription(
                "http.unreachable", .failure, means: "A server cannot be reached.",
                when: "Its name is not found, nobody answers, or the answer is not HTTP.", cure: "Check host and port, and try again later."
            ),
            ErrorDescription(
                "http.tls", .failure, means: "A connection cannot be made safe.",
                when: "The certificate is not trusted, has expired, or is another host's.", cure: "Check the name and the certificate."),
            ErrorDescription(
                "http.timeout", .failure, means: "An answer did not come in time.",
                when: "The whole, redirects included, took longer than its timeout.",
                cure: "Give it more time, or look why the server is slow."),
            ErrorDescription(
                "http.too_large", .failure, means: "A body is too large.",
                when: "That of a request has more than 1 MiB, or an answer more than it may have.",
                cure: "Ask for less, or raise max_bytes."),
            ErrorDescription(
                "http.redirects", .failure, means: "A redirect is not followed.",
                when: "There are too many, or one leads from https to http, or nowhere.", cure: "Ask for the last address itself."),
        ])

    private static let route = ErrorArea(
        "route", "routes of plugins",
        [
            ErrorDescription(
                "route.not_found", .failure, .answer, means: "No plugin has such a route.",
                when: "No live plugin of the name in the path has a route with that path, or it takes other methods. Status 404.",
                cure: "Look at the routes in pushhost plugin list."),
            ErrorDescription(
                "route.method", .answer, means: "A route takes other methods.",
                when: "The path is a plugin's, the method is not. Status 405; the header Allow has those that are.",
                cure: "Use one of these."),
            ErrorDescription(
                "route.busy", .failure, .answer, means: "A plugin has too much to answer.",
                when: "64 requests to its routes are under way. Status 503.", cure: "Try again in a while, or let the route do less."),
            ErrorDescription(
                "route.failed", .failure, .answer, means: "A plugin could not answer.",
                when: "Its function failed, took too long, or returned what cannot be sent. Status 500.",
                cure: "The log has its own error with file and line, under the same run."),
            ErrorDescription(
                "route.answer", .misuse, means: "A route returned what cannot be sent.",
                when: "The status is none, a header is the server's own, or there are two bodies.",
                cure: "Write return { status = 200, json = { … } }."),
        ])

    private static let webhook = ErrorArea(
        "webhook", "signed requests to routes of plugins",
        [
            ErrorDescription(
                "webhook.signature", .answer, means: "A webhook is not signed as it must be.",
                when: "The header is missing or malformed, the secret is another one, or the body was changed on the way. Status 401.",
                cure: "Sign the exact bytes of the body with the webhook's secret."),
            ErrorDescription(
                "webhook.stale", .answer, means: "A webhook is too old, or from the future.",
                when: "It is signed rightly, for a time more than 300 s from now. Status 401.",
                cure: "Set both clocks, and sign each request anew."),
            ErrorDescription(
                "webhook.replayed", .answer, means: "A webhook came twice.",
                when: "The same message was taken before. Status 409.", cure: "Nothing: it was done the first time."),
            ErrorDescription(
                "webhook.under_way", .answer, means: "A webhook came again while it was still being answered.",
                when: "The first one may fail yet. Status 503 with Retry-After.",
                cure: "Send it again later: it is taken where the first one failed, else refused with webhook.replayed."),
            ErrorDescription(
                "webhook.secret", .answer, means: "A webhook cannot be checked.",
                when: "The secret that the route names is missing or unusable. Status 503; the log has its name.",
                cure: "Set PUSHHOST_SECRET_NAME on the server, or write it into its secrets file."),
        ])

    private static let cron = ErrorArea(
        "cron", "times that come again and again",
        [
            ErrorDescription(
                "cron.invalid", .failure, means: "A text is no cron expression.",
                when: "It has not five fields, a field has a value out of its range, or there is no such day; the message names the field.",
                cure: "Write minute, hour, day of the month, month and day of the week: \"0 7 * * 1-5\".")
        ])

    private static let timeZone = ErrorArea(
        "time_zone", "time zones",
        [
            ErrorDescription(
                "time_zone.unknown", .failure, means: "There is no time zone of that name.",
                when: "The name is not one of IANA's database as it is on this machine.", cure: "Take the name that the message proposes."),
            ErrorDescription(
                "time_zone.invalid", .failure, means: "A time zone cannot be read.",
                when: "The file of the machine is damaged.", cure: "Install the package tzdata anew."),
        ])

    private static let dailyWindow = ErrorArea(
        "daily_window", "parts of the day",
        [
            ErrorDescription(
                "daily_window.invalid", .failure, means: "Two texts are no part of the day.",
                when: "One is no time such as 07:00, or both are the same.", cure: "Write two different times, such as 22:00 and 07:00.")
        ])
}

/// Error codes of plugins: loading, permissions and failures.
enum PluginErrors {
    static let all: [ErrorArea] = [
        plugin, native, hook, phase, capability, group, kv, http, route, webhook, cron, timeZone, dailyWindow,
    ]

    private static let plugin = ErrorArea(
        "plugin", "plugins and their configuration",
        [
            ErrorDescription(
                "plugin.manifest", .misuse, means: "The manifest returned by init.lua is invalid.",
                when: "A key is missing, unknown or has a value of the wrong type. The message names the file, the key and the value.",
                fix: "Correct the key. docs/reference/plugin-manifest.md describes all keys."),
            ErrorDescription(
                "plugin.config", .misuse, means: "The configuration of a plugin is invalid.",
                when: "A value does not match the schema in the plugin's manifest. The message names the file, the plugin, the setting and "
                    + "the value.",
                fix: "Correct the setting. pushhost plugin list shows the settings of the plugin."),
            ErrorDescription(
                "plugin.no_main", .misuse, means: "The folder does not contain a plugin.",
                when: "It has no init.lua.", fix: "Create one, or start with pushhost plugin new NAME."),
            ErrorDescription(
                "plugin.name", .refusal, means: "The name of the plugin is invalid.",
                when: "It has characters other than lower-case letters, digits and - between them, or exceeds 40 characters.",
                fix: "Choose another name."),
            ErrorDescription(
                "plugin.not_found", .refusal, .failure, means: "The plugin does not exist.",
                when: "The folder of plugins has no plugin with this name, or a spec that tests a plugin is outside its folder.",
                fix: "Use the name in the hint. pushhost plugin list shows all plugins."),
            ErrorDescription(
                "plugin.too_large", .refusal, means: "The plugin is too large.",
                when: "It has more than 500 Lua files, or more than 16 MiB of them.", fix: "Move unrelated files out of its folder."),
            ErrorDescription(
                "plugin.list", .refusal, means: "The list of plugins is invalid.",
                when: "plugins.yaml is not valid YAML, or an entry has an unknown key or invalid value. The message gives the line.",
                fix: "Correct the line. A running server continues with the previous list."),
            ErrorDescription(
                "plugin.refused", .refusal, means: "The server cannot start because a listed plugin was rejected.",
                when: "The plugin does not load or fails its specs, and no previous version was live.",
                fix: "Fix the plugin, or remove it from the list: pushhost plugin disable NAME."),
            ErrorDescription(
                "plugin.spec", .log, means: "A new version of a plugin fails its specs.",
                when: "A changed plugin is tested before it goes live, and a test failed. The previous version stays live, and pushhost "
                    + "plugin list shows the error.",
                fix: "Run pushhost plugin test NAME, and fix what it reports."),
            ErrorDescription(
                "plugin.no_version", .refusal, means: "The version of the plugin is not available.",
                when: "No live version had a hash with this beginning, it is not among the last ten, or its files were changed.",
                fix: "Choose a version from the hint."),
            ErrorDescription(
                "plugin.unkept", .refusal, .log, means: "The version of the plugin could not be stored for rollback.",
                when: "The version is live, but the data folder is not writable.", fix: "Free space, or make the folder writable."),
            ErrorDescription(
                "plugin.not_listed", .refusal, means: "The plugin is not in the list.",
                when: "A command changes an entry that plugins.yaml does not have.", fix: "Enable it first: pushhost plugin enable NAME."),
            ErrorDescription(
                "plugin.no_flow", .refusal, means: "The plugin has no flow with this name.",
                when: "pushhost run PLUGIN:FLOW names a flow that is not in its manifest.", fix: "Choose one from the hint."),
            ErrorDescription(
                "plugin.native", .refusal, .misuse,
                means: "The command does not apply to native plugins, or the native plugin failed to start.",
                when: "A native plugin is granted capabilities, pinned, tested or rolled back; a folder has the same name; or the plugin "
                    + "reports why it cannot start.",
                fix: "Correct what the message names. docs/how-to/native-plugins.md describes native plugins."),
            ErrorDescription(
                "plugin.not_granted", .refusal, means: "The capability to revoke was not granted.",
                when: "pushhost plugin revoke names a capability that the entry does not have.", fix: "Choose one from the hint."),
            ErrorDescription(
                "plugin.route_exists", .misuse, means: "Two routes of a plugin handle the same requests.",
                when: "They have the same method, and their paths differ only in parameter names.",
                fix: "Give one of them another path or method."),
        ])

    private static let native = ErrorArea(
        "native", "functions and plugins written in Swift",
        [
            ErrorDescription(
                "native.name", .refusal, means: "The name of a native function or plugin is invalid.",
                when: "A function's name is not SPACE.NAME, the namespace is reserved by PushHost, or a name is used twice.",
                fix: "Choose another name in the program's start-up code."),
            ErrorDescription(
                "native.late", .refusal, means: "Functions are added too late.",
                when: "They are added after the list of functions was read.", fix: "Pass them to PushHostProgram.main, once."),
        ])

    private static let hook = ErrorArea(
        "hook", "hooks of plugins",
        [
            ErrorDescription(
                "hook.veto", .failure, .answer, means: "A plugin rejected the operation.",
                when: "A hook returned a veto. The message has the plugin's name and its reason. Status 403.",
                fix: "Follow the reason, or ask the operator of the plugin."),
            ErrorDescription(
                "hook.failed", .failure, .answer, means: "A blocking hook failed.",
                when: "A fail_closed hook raised an error, exceeded its CPU or time limit, or returned an invalid result. Status 503.",
                fix: "Try again later. The log has the hook's error with file and line."),
            ErrorDescription(
                "hook.open", .failure, .answer, means: "A blocking hook is suspended after repeated failures.",
                when: "A fail_closed hook failed five times in a row and is not called for a while. Status 503.",
                fix: "Try again later. pushhost plugin list shows the end of the pause and the last error."),
            ErrorDescription(
                "hook.absent", .failure, .answer, means: "A plugin with a blocking hook is not live.",
                when: "A fail_closed plugin was added to a running server and is being tested or was rejected, and no earlier version is "
                    + "live. Status 503.",
                fix: "pushhost plugin list shows which plugin and why. Wait for its specs to finish; fix or disable a rejected plugin."),
            ErrorDescription(
                "hook.timeout", .budget, means: "A call of a plugin exceeded its time limit.",
                when: "It waited or computed for longer than its timeout.",
                fix: "Wait for a shorter time, or declare a longer timeout beside run."),
            ErrorDescription(
                "hook.behind", .log, means: "A plugin is too slow for its notifications.",
                when: "A thousand calls of after_send or on_outcome are in progress. Further calls are dropped and counted.",
                fix: "Do less in the hook. Store data with push.kv, and process it in a timer."),
            ErrorDescription(
                "hook.answer", .misuse, means: "The result of a hook is inconsistent.",
                when: "A ruling of before_deliver has none or several of skip, hold_until and pass, selects devices in two ways, or lacks "
                    + "a reason.",
                fix: "Write one ruling for each group of devices, with one of skip, hold_until and pass, and a reason."),
        ])

    private static let phase = ErrorArea(
        "phase", "phases in which functions may be called",
        [
            ErrorDescription(
                "phase.not_allowed", .misuse, means: "The function may not be called in this phase.",
                when: "While a plugin is loaded it may only declare itself, and a hook that the hub waits for may not change the hub. The "
                    + "hint lists the phases that allow the call.",
                fix: "Move the call to one of these phases. Code that must run after a registration is stored belongs in once_kept.")
        ])

    private static let capability = ErrorArea(
        "capability", "capabilities of plugins",
        [
            ErrorDescription(
                "capability.denied", .misuse, means: "The plugin lacks a capability.",
                when: "The capability is not in needs of its manifest, or the operator has not granted it. The first denial is recorded in "
                    + "the audit log.",
                fix: "Add it to needs, and grant it: pushhost plugin grant NAME CAPABILITY.")
        ])

    private static let group = ErrorArea(
        "group", "the devices of before_deliver",
        [
            ErrorDescription(
                "group.too_many_tags", .misuse, means: "A hook queries too many tags at once.",
                when: "There are more than 10,000.", fix: "Split the query.")
        ])

    private static let kv = ErrorArea(
        "kv", "key-value storage of plugins",
        [
            ErrorDescription(
                "kv.key", .failure, means: "The key or token is invalid.",
                when: "It is empty, or exceeds 256 bytes.", fix: "Shorten it, or use a hash of it."),
            ErrorDescription(
                "kv.too_large", .failure, means: "The value is too large.",
                when: "It exceeds 64 KiB of JSON, or 128 levels.", fix: "Split it over several keys."),
            ErrorDescription(
                "kv.ttl", .failure, means: "The lifetime is out of range.",
                when: "expires_in or within is less than a second or more than 1,830 days.", fix: "Choose a time in this range."),
            ErrorDescription(
                "kv.too_many", .failure, means: "The call has too many keys.",
                when: "It names more than 1,000 keys, or the size of a page is not 1 to 1,000.", fix: "Split the call."),
            ErrorDescription(
                "kv.slots", .failure, means: "The number of slots is out of range.",
                when: "The limit is not 1 to 1,000.", fix: "Choose a smaller limit, or a shorter period."),
            ErrorDescription(
                "kv.full", .failure, means: "The plugin's storage is full.",
                when: "It has 1,000,000 entries or 64 MiB. The new value is not stored, and nothing has changed.",
                fix: "Delete entries, or let them expire with expires_in."),
            ErrorDescription(
                "kv.not_a_number", .failure, means: "The stored value is not a whole number.",
                when: "push.kv.add names a key with another value.", fix: "Use another key, or store a number first."),
            ErrorDescription(
                "kv.out_of_range", .failure, means: "The sum is too large.",
                when: "It does not fit into 64 bits.", fix: "Store a smaller number first."),
            ErrorDescription(
                "kv.condition", .misuse, means: "A put has two conditions.",
                when: "Both if_absent and if_version are given.", fix: "Use one of them."),
        ])

    private static let http = ErrorArea(
        "http", "HTTP requests of plugins",
        [
            ErrorDescription(
                "http.denied", .failure, means: "The plugin may not send requests to this host.",
                when: "A redirect leads to a host or port that was not granted.",
                fix: "Request http:HOST or http:HOST:PORT in needs, and have it granted."),
            ErrorDescription(
                "http.busy", .failure, means: "The plugin has too many requests in progress.",
                when: "It has 32 requests in progress. Plugins share the connections of the server.",
                fix: "Wait for some of them before sending more."),
            ErrorDescription(
                "http.private_address", .failure, means: "The host has a private address.",
                when: "One of its addresses belongs to this machine or is not public. An attacker could choose the host in order to "
                    + "reach internal servers (SSRF).",
                fix: "If this is intended, request http.private:HOST in needs, and have it granted."),
            ErrorDescription(
                "http.invalid_url", .failure, means: "The URL is invalid.",
                when: "It is not absolute, contains a user name, is too long, or has an unusual form of address.",
                fix: "Write https://api.example.com/path."),
            ErrorDescription(
                "http.invalid_header", .failure, means: "A header is invalid.",
                when: "Its name is not a token or is set by the client itself, its value has control characters, or the headers are too "
                    + "long.",
                fix: "Remove it, or correct the value."),
            ErrorDescription(
                "http.method", .failure, means: "The method is invalid.",
                when: "It is unknown, or a GET or HEAD request has a body.", fix: "Use POST for requests with a body."),
            ErrorDescription(
                "http.body", .misuse, means: "The body of the request is invalid.",
                when: "Both json and body are given, or body is not a string.", fix: "Use one of them; json writes tables."),
            ErrorDescription(
                "http.unreachable", .failure, means: "The server cannot be reached.",
                when: "Its name is not found, it does not respond, or its response is not HTTP.",
                fix: "Check host and port, and try again later."),
            ErrorDescription(
                "http.tls", .failure, means: "The TLS connection failed.",
                when: "The certificate is not trusted, has expired, or is for another host.", fix: "Check the name and the certificate."),
            ErrorDescription(
                "http.timeout", .failure, means: "The response did not arrive in time.",
                when: "The request, including redirects, took longer than its timeout.",
                fix: "Raise the timeout, or find out why the server is slow."),
            ErrorDescription(
                "http.too_large", .failure, means: "The body is too large.",
                when: "The body of the request exceeds 1 MiB, or that of the response exceeds its limit.",
                fix: "Request less, or raise max_bytes."),
            ErrorDescription(
                "http.redirects", .failure, means: "A redirect was not followed.",
                when: "There were too many, or one leads from https to http or has no valid target.", fix: "Request the final address."),
        ])

    private static let route = ErrorArea(
        "route", "routes of plugins",
        [
            ErrorDescription(
                "route.not_found", .failure, .answer, means: "The route does not exist.",
                when: "No live plugin with the name in the path has a route for it, or the route has other methods. Status 404.",
                fix: "pushhost plugin list shows all routes."),
            ErrorDescription(
                "route.method", .answer, means: "The route does not support this method.",
                when: "The path exists, the method does not. Status 405; the header Allow lists the methods.", fix: "Use one of these."),
            ErrorDescription(
                "route.busy", .failure, .answer, means: "The plugin has too many requests in progress.",
                when: "64 requests to its routes are in progress. Status 503.", fix: "Try again later, or do less in the route."),
            ErrorDescription(
                "route.failed", .failure, .answer, means: "The route of a plugin failed.",
                when: "Its function raised an error, took too long, or returned an invalid response. Status 500.",
                fix: "The log has the error with file and line, under the same run."),
            ErrorDescription(
                "route.answer", .misuse, means: "The response of a route is invalid.",
                when: "The status is invalid, a header is reserved for the server, or there are two bodies.",
                fix: "Write return { status = 200, json = { … } }."),
        ])

    private static let webhook = ErrorArea(
        "webhook", "signed requests to routes of plugins",
        [
            ErrorDescription(
                "webhook.signature", .answer, means: "The signature of the webhook is invalid.",
                when: "The header is missing or malformed, the secret differs, or the body was changed on the way. Status 401.",
                fix: "Sign the exact bytes of the body with the webhook's secret."),
            ErrorDescription(
                "webhook.stale", .answer, means: "The webhook's timestamp is out of range.",
                when: "The signature is valid, but its time differs from the server's by more than 300 s. Status 401.",
                fix: "Correct the clocks, and sign each request when it is sent."),
            ErrorDescription(
                "webhook.replayed", .answer, means: "The webhook was already processed.",
                when: "The same message was accepted before. Status 409.",
                fix: "No action needed: it has already been processed."),
            ErrorDescription(
                "webhook.under_way", .answer, means: "The webhook is still being processed.",
                when: "The same message arrived again before the first one was answered, which may still fail. Status 503 with "
                    + "Retry-After.",
                fix: "Send it again later. It is accepted if the first one failed, otherwise rejected with webhook.replayed."),
            ErrorDescription(
                "webhook.secret", .answer, means: "The webhook cannot be verified.",
                when: "The secret that the route names is missing or invalid. Status 503; the log has its name.",
                fix: "Set PUSHHOST_SECRET_NAME on the server, or add it to its secrets file."),
        ])

    private static let cron = ErrorArea(
        "cron", "cron expressions",
        [
            ErrorDescription(
                "cron.invalid", .failure, means: "The cron expression is invalid.",
                when: "It does not have five fields, a field is out of range, or the date does not exist. The message names the field.",
                fix: "Write minute, hour, day of the month, month and day of the week: \"0 7 * * 1-5\".")
        ])

    private static let timeZone = ErrorArea(
        "time_zone", "time zones",
        [
            ErrorDescription(
                "time_zone.unknown", .failure, means: "The time zone is unknown.",
                when: "The name is not in the machine's copy of the IANA database.", fix: "Use the name that the message suggests."),
            ErrorDescription(
                "time_zone.invalid", .failure, means: "The time zone data cannot be read.",
                when: "The file on the machine is damaged.", fix: "Reinstall the package tzdata."),
        ])

    private static let dailyWindow = ErrorArea(
        "daily_window", "daily time windows",
        [
            ErrorDescription(
                "daily_window.invalid", .failure, means: "The daily time window is invalid.",
                when: "One of its times is not in the form 07:00, or both are equal.",
                fix: "Write two different times, such as 22:00 and 07:00.")
        ])
}

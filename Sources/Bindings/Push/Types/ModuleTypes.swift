import Lua
import PushModel

/// The types of the `push` module.
enum ModuleTypes {
    static let all: [TypeDescription] = [
        .session, .device, .registration, .installation, .installationTemplate, .inboxItem, .outcome, .deviceOutcome, .plan, .planGroup,
        .planTemplate, .failedTerm,
        .planDifference,
        .exchange, .secureReceipt, .secureRead, .simulators, .simulator, .run, .runStep, .shownItem, .warning, .task, .error, .expectation,
        .matchers, .log, .target, .secret,
        .everyone, .null, .numeral, .draft, .sent, .group, .groupDevice, .ended, .candidate, .login, .secureFetch, .routeRequest,
        .keyValueEntry,
        .httpAnswer, .localTime, .plugin,
        .outboundRequest, .platform,
        .state, .trace, .traceLine, .tracedDevice, .traceCount, .traceCause,
        .deliveryResult, .secureReadResult, .errorKind, .generator,
    ]
}

// A test compares these fields with those that a script finds in a rehearsal.
extension TypeDescription {
    static let session = TypeDescription(
        "push.Session", "A session of a user at the app backend.",
        fields: [
            Field("username", "string", "the user's name"),
            Field("expires", "string", "when it expires, ISO 8601"),
        ])

    static let device = TypeDescription(
        "push.Device", "A simulated device.",
        fields: [
            Field("name", "string", "the device's name, unique in the run"),
            Field("platform", "push.Platform", "the push service of the device"),
            Field("user", "string", "the user of the device", isOptional: true),
            Field("locale", "string", "BCP 47, such as en-US"),
            Field("time_zone", "string", "IANA name, such as Europe/Lisbon"),
        ])

    static let registration = TypeDescription(
        "push.Registration", "A registration of a device at the hub.",
        fields: [
            Field("id", "string", "the registration's id at the hub"),
            Field("etag", "integer", "its version, incremented with every change"),
            Field("platform", "push.Platform", "the push service of the device"),
            Field("tags", "string[]", "its tags, including those of the backend"),
            Field("expires", "string", "when it expires, ISO 8601"),
            Field("template", "string", "the template's body, of a template registration", isOptional: true),
            Field("template_name", "string", "the template's name, if it has one", isOptional: true),
        ])

    static let installation = TypeDescription(
        "push.Installation", "An installation of a device at the hub, with any number of templates.",
        fields: [
            Field("id", "string", "the installation's id"),
            Field("platform", "push.Platform", "the push service of the device"),
            Field("push_channel", "string", "the device's handle"),
            Field("push_channel_expired", "boolean", "whether the push service reported the handle as invalid"),
            Field("tags", "string[]", "its tags"),
            Field("templates", "table<string, push.InstallationTemplate>", "its templates by name"),
            Field("push_variables", "table<string, string>", "further properties for the templates"),
            Field("user", "string", "the user of the device", isOptional: true),
            Field("expires", "string", "when it expires, ISO 8601", isOptional: true),
        ])

    static let installationTemplate = TypeDescription(
        "push.InstallationTemplate", "A template of an installation.",
        fields: [
            Field("body", "string", "the template body"),
            Field("tags", "string[]", "tags of this template"),
            Field("expiry", "string", "expiration of notifications", isOptional: true),
        ])

    static let inboxItem = TypeDescription(
        "push.InboxItem", "A notification that a device received.",
        fields: [
            Field("id", "string", "the push service's id; local-1 and so on for local notifications"),
            Field("received_at", "string", "when it arrived, ISO 8601"),
            Field("title", "string", "the title, empty if there is none"),
            Field("body", "string", "the text without the title"),
            Field("text", "string", "the text shown, with title and body on separate lines; empty if nothing is shown"),
            Field("source", "\"push\"|\"local\"", "whether it was pushed or shown locally by the app"),
            Field("shown", "boolean", "whether it is shown to the user"),
            Field("background", "boolean", "whether it only wakes the app"),
            Field("badge", "integer", "the number on the app's icon", isOptional: true),
            Field("reason", "string", "why it is not shown", isOptional: true),
            Field("payload", "table|string", "the payload received by the app; a table if it is JSON", isOptional: true),
            Field("secure_id", "string", "the id of a secure payload", isOptional: true),
        ])

    static let outcome = TypeDescription(
        "push.Outcome", "The state of a notification, with a result per device.",
        fields: [
            Field(
                "id", "string", "the notification's id; empty if the app backend does not report it, as those of the tutorials"),
            Field("state", "push.State", "Completed when every device has a final result, NoTargetFound if no device matched"),
            Field("sent", "integer", "number of devices for which push services accepted it"),
            Field("failed", "integer", "number of devices that were not reached"),
            Field("devices", "push.DeviceOutcome[]", "a result per device"),
            Field("counts", "table<push.Platform, table<push.DeliveryResult, integer>>", "number of devices by result"),
            Field("near", "string[]", "if no device matched: similar tags and expressions"),
            Field("notices", "string[]", "notices for the operator, for example that most tokens are of another environment"),
            Field(
                "pruned", "table<push.Platform, table<string, integer>>",
                "number of devices removed because their tokens are invalid, by the push service's reason"),
            Field("tags", "string", "the tag expression", isOptional: true),
            Field("enqueued_at", "string", "when it was accepted, ISO 8601"),
            Field("scheduled_for", "string", "when it is due, if scheduled, ISO 8601", isOptional: true),
            Field("ended_at", "string", "when the last device had a final result, ISO 8601", isOptional: true),
        ])

    static let deviceOutcome = TypeDescription(
        "push.DeviceOutcome", "The result of a notification for one device.",
        fields: [
            Field("platform", "push.Platform", "the push service"),
            Field("outcome", "push.DeliveryResult", "the result, named as in Azure"),
            Field("reason", "string", "the push service's own reason, empty on success"),
            Field("explanation", "string", "the meaning of the reason, and what to do"),
            Field("handle", "string", "the device's handle, abbreviated"),
            Field("bytes", "integer", "the size of the body that was sent"),
            Field("registration_removed", "boolean", "whether the hub removed the registration because its handle is invalid"),
            Field("name", "string", "the device's name, if known to the run", isOptional: true),
            Field("registration", "string", "the registration's id; absent for a send to a handle", isOptional: true),
            Field("push_id", "string", "the push service's id of the notification", isOptional: true),
            Field("template", "string", "the name of the template used", isOptional: true),
        ])

    static let exchange = TypeDescription(
        "push.Exchange", "A request to a push service and its response. Credentials are masked.",
        fields: [
            Field("service", "push.Platform", "the push service"),
            Field("time", "string", "when, ISO 8601"),
            Field("method", "string", "the HTTP method"),
            Field("host", "string", "the service's host"),
            Field("path", "string", "the path of the request"),
            Field("headers", "table<string, string>", "the request's headers"),
            Field("body", "string", "the request's body"),
            Field("json", "any", "the request's body as JSON", isOptional: true),
            Field("status", "integer", "the HTTP status of the response; 0 without a response"),
            Field("response_headers", "table<string, string>", "the headers of the response"),
            Field("response_body", "string", "the body of the response"),
        ])

    static let secureReceipt = TypeDescription(
        "push.SecureReceipt", "The sender's receipt for a secure payload.",
        fields: [
            Field("id", "string", "the payload's id, the only part sent through the push service"),
            Field("expires", "string", "when it expires, ISO 8601"),
            Field("outcome", "push.Outcome", "the outcome of the push with the id"),
        ])

    static let secureRead = TypeDescription(
        "push.SecureRead", "An attempt to read a secure payload.",
        fields: [
            Field("time", "string", "when, ISO 8601"),
            Field("user", "string", "the user's name"),
            Field("result", "push.SecureReadResult", "the result"),
        ])

    static let secureReadResult = TypeDescription(
        "push.SecureReadResult", "The result of an attempt to read a secure payload.", values: SecureRead.Result.allCases.map(\.rawValue))

    static let simulators = TypeDescription(
        "push.Simulators", "The simulated push services by name.",
        fields: Platform.delivered.map { Field($0.shortName, "push.Simulator", "the simulator of \($0.displayName)") },
        label: "push.simulator")

    static let simulator = TypeDescription(
        "push.Simulator", "A simulated push service that can be set to fail.",
        fields: [Field("service", "push.Platform", "the simulated push service")])

    static let run = TypeDescription(
        "push.Run", "The report of a flow run by push.run.",
        fields: [
            Field("result", "any", "the result of the flow", isOptional: true),
            Field("steps", "push.RunStep[]", "its steps in the order in which they ended"),
            Field("log", "string[]", "its log lines"),
            Field("warnings", "push.Warning[]", "its warnings"),
            Field("shown", "push.ShownItem[]", "notifications shown by devices"),
            Field("expectations", "integer", "number of expectations"),
            Field("delivered", "integer", "number of notifications accepted by push services"),
        ])

    static let runStep = TypeDescription(
        "push.RunStep", "A step of a flow.",
        fields: [
            Field("name", "string", "the step's name"),
            Field("status", "\"passed\"|\"failed\"|\"skipped\"", "the result"),
            Field("registrations", "integer", "number of devices registered"),
            Field("expectations", "integer", "number of expectations"),
        ])

    static let shownItem = TypeDescription(
        "push.ShownItem", "A notification shown by a device.",
        fields: [
            Field("device", "string", "the device's name"),
            Field("platform", "push.Platform", "the device's push service"),
            Field("locale", "string", "the device's language"),
            Field("text", "string", "the text shown"),
            Field("time", "string", "when, ISO 8601"),
        ])

    static let warning = TypeDescription(
        "push.Warning", "A warning of a run.",
        fields: [
            Field("code", "string", "a stable dotted name; pushhost explain has a page for it"),
            Field("message", "string", "the warning's text"),
        ])

    static let task = TypeDescription("push.Task", "A function that runs concurrently with the flow.")

    static let error = TypeDescription(
        "push.Error", "An error of a failed call, which pcall and push.try return as a table.",
        fields: [
            Field("code", "string", "a stable dotted name; pushhost explain has a page for it"),
            Field("kind", "push.ErrorKind", "the kind of error"),
            Field("message", "string", "what is wrong"),
            Field("hint", "string", "what to do", isOptional: true),
            Field("status", "integer", "the HTTP status of the error", isOptional: true),
            Field("retryable", "boolean", "whether the same call may succeed later"),
            Field("tracking_id", "string", "the id under which a remote service logged the request", isOptional: true),
            Field("details", "table", "details for programs: positions, limits, names", isOptional: true),
            Field("where", "string", "FILE:LINE of the script", isOptional: true),
            Field("traceback", "string", "the script's call stack, innermost first", isOptional: true),
            Field("run", "string", "the run's id"),
            Field("script", "string", "the version of the script"),
        ])

    static let expectation = TypeDescription(
        "push.Expectation", "An expectation about a value. Without a matcher it fails the run.",
        fields: [
            Field("to", "push.Matchers", "matchers that should hold"),
            Field("to_not", "push.Matchers", "matchers that should not hold"),
        ], label: "push.expect(…)")

    static let matchers = TypeDescription(
        "push.Matchers", "Matchers for a value. Tables are compared by their contents.",
        fields: Matchers.fields, label: "push.expect(…).to")

    static let log = TypeDescription(
        "push.Log", "The run's log. Call it like a function, or with a level.",
        fields: [
            Field("info", "fun(...: any)", "same as push.log"),
            Field("warn", "fun(...: any)", "writes a warning"),
            Field("error", "fun(...: any)", "writes an error; the flow continues"),
        ], isCallable: true, label: "push.log")

    static let target = TypeDescription(
        "push.Target", "The target of a flow.",
        fields: [
            Field("name", "string", "embedded, or the name of the target"),
            Field("simulated", "boolean", "whether devices, push services and the clock are simulated"),
        ], label: "push.target")

    static let secret = TypeDescription("push.Secret", "A secret text, which prints as ***. It can be used as a password.")

    static let everyone = TypeDescription("push.Everyone", "The audience of all devices.")

    static let platform = TypeDescription("push.Platform", "A push service.", values: Platform.spellings)

    static let state = TypeDescription(
        "push.State", "The state of a notification.",
        values: NotificationOutcome.State.allCases.map(\.rawValue))

    static let deliveryResult = TypeDescription(
        "push.DeliveryResult", "The result of a delivery, named as in Azure's telemetry.",
        values: OutcomeName.allCases.map(\.rawValue))

    static let errorKind = TypeDescription(
        "push.ErrorKind", "The kind of an error. push.try returns failures and raises all others again.",
        values: LuaError.Kind.allCases.map(\.rawValue))
}

// Types that `push.plan` returns.
extension TypeDescription {
    static let plan = TypeDescription(
        "push.Plan", "The devices that a notification would reach, and its content. Nothing was sent.",
        fields: [
            Field("id", "string", "for push.send{ plan = … }; absent if the plan is not stored", isOptional: true),
            Field("to", "string", "the audience as text"),
            Field("planned_at", "string", "when it was created, ISO 8601"),
            Field("expires_at", "string", "when it expires, ISO 8601", isOptional: true),
            Field("total", "integer", "devices that would be sent to, each handle once; without content, registrations"),
            Field("matched", "integer", "registrations that match the audience, whatever they can receive"),
            Field("duplicates", "integer", "registrations omitted because another one has the same handle"),
            Field("refused", "integer", "devices that would be rejected before a request to the push service"),
            Field("by_platform", "table<push.Platform, integer>", "devices by platform"),
            Field("by_tag", "table<string, integer>", "devices by tag, for the twenty most frequent tags"),
            Field("by_locale", "table<string, integer>", "devices by locale, if known"),
            Field("templates", "push.PlanTemplate[]", "devices by the name of their template"),
            Field("groups", "push.PlanGroup[]", "devices that would get the same content, at most 100 groups; none without content"),
            Field("near_misses", "string[]", "if it would reach no device: similar tags and expressions"),
            Field(
                "failed_terms", "push.FailedTerm[]",
                "if it would reach no or few devices: the parts of the expression that exclude devices"),
            Field("difference", "push.PlanDifference", "changes since the previous plan of the same audience", isOptional: true),
        ])

    static let planGroup = TypeDescription(
        "push.PlanGroup", "Devices that would get the same content.",
        fields: [
            Field("platform", "push.Platform", "the push service of the devices"),
            Field("template", "string", "the template's name, if it has one", isOptional: true),
            Field("devices", "integer", "the number of devices"),
            Field("payload", "string", "the body for the push service"),
            Field("bytes", "integer", "the size of the body"),
            Field("limit", "integer", "the platform's maximum size"),
            Field("too_large", "boolean", "whether the size exceeds the limit"),
            Field("refused", "string", "why these devices would be rejected", isOptional: true),
        ])

    static let planTemplate = TypeDescription(
        "push.PlanTemplate", "Devices of a platform with templates of one name, or with none.",
        fields: [
            Field("platform", "push.Platform", "the push service of the devices"),
            Field("template", "string", "the template's name, if it has one", isOptional: true),
            Field("is_template", "boolean", "whether the registrations have a template"),
            Field("devices", "integer", "the number of devices"),
            Field("smallest", "integer", "bytes of the smallest body; absent without content", isOptional: true),
            Field("largest", "integer", "bytes of the largest body; absent without content", isOptional: true),
            Field("refused", "integer", "devices that would be rejected"),
        ])

    static let failedTerm = TypeDescription(
        "push.FailedTerm", "A part of a tag expression that excludes devices.",
        fields: [
            Field("term", "string", "the part"),
            Field("matches", "integer", "registrations that match this part alone"),
            Field("without", "integer", "registrations that the expression would match without it", isOptional: true),
        ])

    static let planDifference = TypeDescription(
        "push.PlanDifference", "The difference between the audience of a plan and that of the previous one.",
        fields: [
            Field("plan", "string", "the id of the previous plan"),
            Field("joined", "integer", "new devices"),
            Field("left", "integer", "removed devices"),
            Field("changed", "integer", "devices that would get different content"),
        ])
}

import Lua
import PushCore

extension BindingRegistry {
    /// Every shape that bindings return, in the order of the reference.
    package static let types: [TypeDescription] = [
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
        .deliveryResult, .secureReadResult, .errorKind,
    ]

    /// By its full or its short name: `push.Outcome`, `Outcome`.
    package static func type(named name: String) -> TypeDescription? {
        types.first { $0.name == name || $0.shortName == name }
    }
}

// A test runs a rehearsal and compares these fields with those that a script finds.
extension TypeDescription {
    static let session = TypeDescription(
        "push.Session", "A user who is logged in at the app backend.",
        fields: [
            Field("username", "string", "whose session it is"),
            Field("expires", "string", "when it ends, ISO 8601"),
        ])

    static let device = TypeDescription(
        "push.Device", "A phone with the app installed.",
        fields: [
            Field("name", "string", "its name, unique in the run"),
            Field("platform", "push.Platform", "the push service that reaches it"),
            Field("user", "string", "whose phone it is", isOptional: true),
            Field("locale", "string", "BCP 47, such as en-US"),
            Field("time_zone", "string", "IANA name, such as Europe/Lisbon"),
        ])

    static let registration = TypeDescription(
        "push.Registration", "How the hub knows a device.",
        fields: [
            Field("id", "string", "the registration's id at the hub"),
            Field("etag", "integer", "its version, one more with every change"),
            Field("platform", "push.Platform", "the push service that reaches the device"),
            Field("tags", "string[]", "the tags that address it, with those of the backend"),
            Field("expires", "string", "when the hub forgets it, ISO 8601"),
            Field("template", "string", "the template's body, of a template registration", isOptional: true),
            Field("template_name", "string", "the template's name, if it has one", isOptional: true),
        ])

    static let installation = TypeDescription(
        "push.Installation", "A device at the hub under an id of its own, with any number of templates.",
        fields: [
            Field("id", "string", "the installation's id"),
            Field("platform", "push.Platform", "the push service that reaches the device"),
            Field("push_channel", "string", "its handle"),
            Field("push_channel_expired", "boolean", "whether the push service called the handle dead"),
            Field("tags", "string[]", "the tags that address it"),
            Field("templates", "table<string, push.InstallationTemplate>", "its templates by name"),
            Field("push_variables", "table<string, string>", "further properties for the templates"),
            Field("user", "string", "whose device it is", isOptional: true),
            Field("expires", "string", "when the hub forgets it, ISO 8601", isOptional: true),
        ])

    static let installationTemplate = TypeDescription(
        "push.InstallationTemplate", "One of an installation's templates.",
        fields: [
            Field("body", "string", "what is filled and sent"),
            Field("tags", "string[]", "tags of this template alone"),
            Field("expiry", "string", "until when a push is worth delivering", isOptional: true),
        ])

    static let inboxItem = TypeDescription(
        "push.InboxItem", "A notification that reached a phone.",
        fields: [
            Field("id", "string", "the push service's id; local-1 and so on for what the app shows itself"),
            Field("received_at", "string", "when it arrived, ISO 8601"),
            Field("title", "string", "the title, empty if there is none"),
            Field("body", "string", "the text without the title"),
            Field("text", "string", "what the user reads, title and body on lines of their own; empty when nothing is shown"),
            Field("source", "\"push\"|\"local\"", "whether it came over the network or the app showed it itself"),
            Field("shown", "boolean", "whether the user sees it"),
            Field("background", "boolean", "whether it only wakes the app"),
            Field("badge", "integer", "the number on the app's icon", isOptional: true),
            Field("reason", "string", "why it is not shown", isOptional: true),
            Field("payload", "table|string", "what reached the app, a table where it is JSON", isOptional: true),
            Field("secure_id", "string", "the id of the secure payload that it brings", isOptional: true),
        ])

    static let outcome = TypeDescription(
        "push.Outcome", "How a notification ended: one answer for the whole and one per device.",
        fields: [
            Field(
                "id", "string", "the notification's id; empty where the app backend that sent it does not tell, as those of the tutorials"),
            Field("state", "push.State", "Completed when every device has its verdict, NoTargetFound when nobody matched"),
            Field("sent", "integer", "how many devices the push services took it for"),
            Field("failed", "integer", "how many devices did not get it"),
            Field("devices", "push.DeviceOutcome[]", "a row per device"),
            Field("counts", "table<push.Platform, table<push.DeliveryResult, integer>>", "how many devices had which result"),
            Field("near", "string[]", "where nobody matched: what comes close, in words"),
            Field("notices", "string[]", "what somebody should do, in words: most tokens are of another environment"),
            Field(
                "pruned", "table<push.Platform, table<string, integer>>",
                "how many devices left because their handles are dead, by the push service's reason"),
            Field("tags", "string", "the tag expression as it was sent", isOptional: true),
            Field("enqueued_at", "string", "when it was accepted, ISO 8601"),
            Field("scheduled_for", "string", "when it is due, of a scheduled one, ISO 8601", isOptional: true),
            Field("ended_at", "string", "when the last device had its verdict, ISO 8601", isOptional: true),
        ])

    static let deviceOutcome = TypeDescription(
        "push.DeviceOutcome", "One device's share of a notification.",
        fields: [
            Field("platform", "push.Platform", "the push service that was asked"),
            Field("outcome", "push.DeliveryResult", "Success, or what went wrong, in Azure's words"),
            Field("reason", "string", "the push service's own reason, empty on success"),
            Field("explanation", "string", "what the reason means and what to do"),
            Field("handle", "string", "the device's handle, abbreviated"),
            Field("bytes", "integer", "the size of the body that was sent"),
            Field("registration_removed", "boolean", "whether the hub forgot the device, because its handle is dead"),
            Field("name", "string", "the phone's name, where the run knows it", isOptional: true),
            Field("registration", "string", "the registration's id; absent for a send straight to a handle", isOptional: true),
            Field("push_id", "string", "the push service's id of the push", isOptional: true),
            Field("template", "string", "the name of the template that was filled", isOptional: true),
        ])

    static let exchange = TypeDescription(
        "push.Exchange", "A request to a push service and its answer; credentials are masked.",
        fields: [
            Field("service", "push.Platform", "whose wire it crossed"),
            Field("time", "string", "when, ISO 8601"),
            Field("method", "string", "POST and the like"),
            Field("host", "string", "the service's host"),
            Field("path", "string", "the path of the request"),
            Field("headers", "table<string, string>", "the request's headers"),
            Field("body", "string", "the request's body"),
            Field("json", "any", "the request's body, read as JSON", isOptional: true),
            Field("status", "integer", "the answer's HTTP status; 0 when there was no answer"),
            Field("response_headers", "table<string, string>", "the answer's headers"),
            Field("response_body", "string", "the answer's body"),
        ])

    static let secureReceipt = TypeDescription(
        "push.SecureReceipt", "What the sender of a secure payload keeps.",
        fields: [
            Field("id", "string", "all of it that crosses a push service"),
            Field("expires", "string", "until when it can be read, ISO 8601"),
            Field("outcome", "push.Outcome", "how the push that brings the id ended"),
        ])

    static let secureRead = TypeDescription(
        "push.SecureRead", "An attempt to read a secure payload.",
        fields: [
            Field("time", "string", "when, ISO 8601"),
            Field("user", "string", "who tried"),
            Field("result", "push.SecureReadResult", "how it ended"),
        ])

    static let secureReadResult = TypeDescription(
        "push.SecureReadResult", "How an attempt to read a secure payload ended.", values: SecureRead.Result.allCases.map(\.rawValue))

    static let simulators = TypeDescription(
        "push.Simulators", "The simulated push services by name.",
        fields: Platform.delivered.map { Field($0.shortName, "push.Simulator", "the simulator of \($0.displayName)") },
        label: "push.simulator")

    static let simulator = TypeDescription(
        "push.Simulator", "A simulated push service, which can be made to fail.",
        fields: [Field("service", "push.Platform", "the push service that it stands for")])

    static let run = TypeDescription(
        "push.Run", "What push.run tells of the flow that it ran.",
        fields: [
            Field("result", "any", "what the flow returned", isOptional: true),
            Field("steps", "push.RunStep[]", "its steps, in the order in which they ended"),
            Field("log", "string[]", "what it printed"),
            Field("warnings", "push.Warning[]", "what it was warned of"),
            Field("shown", "push.ShownItem[]", "what phones showed meanwhile"),
            Field("expectations", "integer", "how many it had"),
            Field("delivered", "integer", "how many notifications the push services took"),
        ])

    static let runStep = TypeDescription(
        "push.RunStep", "A step of a flow.",
        fields: [
            Field("name", "string", "the step's name"),
            Field("status", "\"passed\"|\"failed\"|\"skipped\"", "how it ended"),
            Field("registrations", "integer", "how many devices it registered"),
            Field("expectations", "integer", "how many expectations it had"),
        ])

    static let shownItem = TypeDescription(
        "push.ShownItem", "What a phone showed.",
        fields: [
            Field("device", "string", "the phone's name"),
            Field("platform", "push.Platform", "the phone's push service"),
            Field("locale", "string", "the phone's language"),
            Field("text", "string", "what the user read"),
            Field("time", "string", "when, ISO 8601"),
        ])

    static let warning = TypeDescription(
        "push.Warning", "Something that the run noticed and went on.",
        fields: [
            Field("code", "string", "a stable dotted name; pushhost explain has a page for it"),
            Field("message", "string", "what was noticed"),
        ])

    static let task = TypeDescription("push.Task", "A function that runs beside the rest of the flow.")

    static let error = TypeDescription(
        "push.Error", "What a failed call raises: pcall and push.try hand it over as a table.",
        fields: [
            Field("code", "string", "a stable dotted name; pushhost explain has a page for it"),
            Field("kind", "push.ErrorKind", "what sort of error it is"),
            Field("message", "string", "what happened, where and why"),
            Field("hint", "string", "what to do about it", isOptional: true),
            Field("status", "integer", "the HTTP status that the error has on the wire", isOptional: true),
            Field("retryable", "boolean", "whether the same call may succeed later"),
            Field("tracking_id", "string", "the id under which a remote service logged the request", isOptional: true),
            Field("details", "table", "facts for programs: positions, limits, names", isOptional: true),
            Field("where", "string", "FILE:LINE of the script", isOptional: true),
            Field("traceback", "string", "the lines of the script that led there, innermost first", isOptional: true),
            Field("run", "string", "the run's id"),
            Field("script", "string", "the version of the script"),
        ])

    static let expectation = TypeDescription(
        "push.Expectation", "A value that is about to be looked at; without a matcher it fails the run.",
        fields: [
            Field("to", "push.Matchers", "what should hold"),
            Field("to_not", "push.Matchers", "what should not hold"),
        ], label: "push.expect(…)")

    static let matchers = TypeDescription(
        "push.Matchers", "What can be expected of a value; tables are compared by what they hold.",
        fields: Matchers.fields, label: "push.expect(…).to")

    static let log = TypeDescription(
        "push.Log", "The run's log: called like a function, or with a level.",
        fields: [
            Field("info", "fun(...: any)", "what push.log itself does"),
            Field("warn", "fun(...: any)", "a line that is marked as a warning"),
            Field("error", "fun(...: any)", "a line that is marked as an error; the flow goes on"),
        ], isCallable: true, label: "push.log")

    static let target = TypeDescription(
        "push.Target", "What a flow runs against.",
        fields: [
            Field("name", "string", "embedded, or the name of the target"),
            Field("simulated", "boolean", "whether phones, wires and the clock are simulated"),
        ], label: "push.target")

    static let secret = TypeDescription("push.Secret", "A text that prints as ***; passwords take it as it is.")

    static let everyone = TypeDescription("push.Everyone", "All devices, as an audience.")

    static let platform = TypeDescription("push.Platform", "A push service.", values: Platform.spellings)

    static let state = TypeDescription(
        "push.State", "How a notification stands.",
        values: NotificationOutcome.State.allCases.map(\.rawValue))

    static let deliveryResult = TypeDescription(
        "push.DeliveryResult", "How one delivery ended, in the words of Azure's telemetry.",
        values: OutcomeName.allCases.map(\.rawValue))

    static let errorKind = TypeDescription(
        "push.ErrorKind", "What sort of error it is; push.try hands over failures and raises all others again.",
        values: LuaError.Kind.allCases.map(\.rawValue))
}

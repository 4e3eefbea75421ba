import Lua
import PushModel
import Synchronization

/// Sending, and the state of a notification.
enum SendBindings {
    /// Audience, content and options: common to every way of sending.
    static let notificationParameters: [Parameter] = [
        .optional(
            "to", .audience, "the audience: a tag expression, or push.everyone",
            mistakenFor: ["tags", "tag", "audience", "target", "user", "recipients"]),
        .optional("device", .object("device"), "a single device, addressed by its handle without a registration"),
        .optional(
            "alert", .string, "text shown on every platform; reaches native registrations",
            mistakenFor: ["text", "message", "body", "msg"]),
        .optional("title", .string, "a title for the alert"),
        .optional(
            "properties", .map(.either([.string, .number, .boolean])), "values for templates; reaches template registrations",
            mistakenFor: ["data", "values", "template"]),
        .optional(
            "payload", .byPlatform(.either([.string, .table])),
            "a body per platform: { apns = {…}, fcm = {…}, gcm = {…}, wns = \"<toast>…\", browser = {…} }; an empty list in it is push.json.array {}"
        ),
        .optional("headers", .byPlatform(.map(.string)), "headers per platform: { apns = { [\"apns-priority\"] = \"5\" } }"),
        .optional(
            "expires_in", .duration, "time until the notification expires",
            mistakenFor: ["ttl", "expiry", "expiration", "time_to_live"]),
        .optional("priority", .oneOf(["high", "normal", "low"]), "high wakes the device"),
        .optional(
            "collapse_id", .string, "a later notification with the same id replaces this one; at most 64 bytes",
            mistakenFor: ["collapse_key", "collapse", "thread_id"]),
        .optional(
            "pace", .string, "maximum number of devices per second, minute or hour: \"200/s\", \"1000/m\", \"5000/h\"",
            mistakenFor: ["rate", "speed", "throttle", "rate_limit"]
        ).ruled { _ = try Pace($0.text ?? "") },
    ]

    static let notificationErrors = [
        "payload.empty", "payload.invalid", "payload.too_large", "send.no_audience", "send.header", "send.no_content",
        "tag_expression.invalid", "send.pace",
    ]

    private static let planErrors = [
        "plan.content", "plan.drifted", "plan.expired", "plan.not_found", "plan.tolerance", "target.unsupported",
    ]

    static let send = Binding(
        "push.send", "Sends a notification to all devices that match a tag expression, and returns when every device has a final result.",
        takes: .table(
            notificationParameters + [
                .optional("test", .boolean, "true: a test send to at most ten devices", mistakenFor: ["debug"]),
                .optional(
                    "plan", .either([.table, .string]),
                    "a plan from push.plan, or its id: sends to the devices of the plan that still exist, and no others"),
                .optional(
                    "tolerance", .either([.string, .integer]),
                    "with a plan, how many devices may have joined, left or changed since: \"2%\" or a number; 0 by default",
                    mistakenFor: ["drift"]
                ).ruled { value in
                    if case .string(let text) = value { _ = try DriftTolerance(text) }
                },
            ],
            constraint: { keys, name throws(LuaError) in
                keys.contains("plan")
                    ? try NotificationKeys.planConstraint(keys, name) : try NotificationKeys.unplannedConstraint(keys, name)
            }),
        returns: "push.Outcome", when: .in(.acting, capability: .hubSend), errors: ["hub.no_target"] + notificationErrors + planErrors,
        example: "local outcome = push.send { to = push.tag.user \"alice\", alert = \"Your order has shipped\" }",
        body: .async(.sending) { arguments, run in
            if let planned = try arguments.plannedSend(run) {
                let outcome = try await run.world.hub.send(planned)
                await run.sends.note(outcome, audience: "plan \(planned.binding.id)", site: arguments.site)
                return OutcomeRecord(outcome, run)
            }
            var (request, audience) = try await arguments.notification(run)
            request.isTest = arguments.boolean("test") ?? false
            run.warnOfAzureLimits(request, site: arguments.site)
            let outcome = try await run.world.hub.send(request)
            await run.sends.note(outcome, audience: audience, site: arguments.site)
            return OutcomeRecord(outcome, run)
        })

    static let outcome = Binding(
        "push.outcome", "Returns the state of a notification.",
        takes: .positional([.required("id", .string, "the id that push.send returned")]),
        returns: "push.Outcome", when: .in(.running, capability: .hubRead), errors: ["notification.not_found"],
        example: "print(push.outcome(outcome.id).state)",
        body: .async { arguments, run in
            OutcomeRecord(try await run.world.hub.outcome(of: arguments.text("id")), run)
        })
}

extension FlowRun {
    /// Warns of an expression that Azure would reject.
    func warnOfAzureLimits(_ request: NotificationRequest, site: LuaCallSite) {
        guard case .expression(let expression) = request.audience else { return }
        for finding in expression.azureFindings() {
            let note = "Azure would reject this expression: \(finding.asClause)"
            emit(.warning(FlowWarning(code: "azure.limits", message: note, near: [], location: site.location)))
        }
    }

    /// Warns of empty objects in payloads where push services expect a list, once for each name.
    fileprivate func warn(of lists: [EmptyPayloadList], site: LuaCallSite) {
        for list in lists where state.withLock({ $0.contentWarnings.insert(list.warning).inserted }) {
            emit(.warning(FlowWarning(code: EmptyPayloadList.code, message: list.warning, near: [], location: site.location)))
        }
    }
}

extension Arguments {
    /// The request, and its audience as text. Throws `send.*`, `payload.*`, `tag_expression.*`.
    func notification(_ run: FlowRun) async throws -> (NotificationRequest, String) {
        let (audience, words) = try await audience(run)
        let (options, pace) = try options(run)
        let request = NotificationRequest(audience: audience, content: try content(), options: options, pace: pace)
        try run.store(request)
        run.warn(of: request.content.emptyPayloadLists, site: site)
        return (request, words)
    }

    /// The delivery options.
    func options(_ run: FlowRun) throws -> (options: PushOptions, pace: Pace?) {
        var options = PushOptions()
        if let lifetime = try duration("expires_in") { options.expiration = run.world.clock.now + lifetime }
        options.priority = string("priority").flatMap(PushOptions.Priority.init)
        options.collapseID = string("collapse_id")
        return (options, try string("pace").map { text throws(PushError) in try Pace(text) })
    }

    private func audience(_ run: FlowRun) async throws -> (Audience, String) {
        if let device = payload("device", as: DeviceObject.self) {
            let handle = try await run.lab.handle(of: device.id)
            run.note(device.name, of: handle)
            return (.device(handle), device.name)
        }
        guard let text = string("to") else { return (.everyone, "everyone") }
        return (.expression(try TagExpression(audience: text)), text)
    }

    func content() throws -> NotificationContent {
        switch NotificationKeys.notificationContents.first(where: { value($0) != nil }) {
        case "alert":
            var payloads = AlertPayloads.system(title: string("title"), text: try text("alert"))
            for (platform, headers) in try headers() { payloads[platform]?.headers += headers }
            return .native(payloads)
        case "properties":
            return .template(table("properties")?.texts ?? [:])
        default:
            return .native(try payloads())
        }
    }

    private func payloads() throws -> [Platform: NativePayload] {
        let headers = try headers()
        var payloads: [Platform: NativePayload] = [:]
        for (platform, name, value) in try byPlatform("payload") {
            let body: [UInt8]
            switch value {
            case .string(let text): body = Array(text.utf8)
            default:
                do throws(JSONConversionError) {
                    body = try value.json(named: "payload.\(name)").serialized()
                } catch {
                    throw LuaError.misuse(
                        "payload.invalid", "the \(platform.displayName) payload cannot be written as JSON: \(error.message)",
                        hint: error.hint, details: ["key": .string(name)])
                }
            }
            payloads[platform] = NativePayload(body: body, headers: headers[platform] ?? [])
        }
        if let stray = headers.keys.sorted().first(where: { payloads[$0] == nil }) {
            throw LuaError.misuse(
                "send.no_content", "there are headers for \(stray.displayName), but no payload", hint: "give both",
                details: ["key": .string("headers")])
        }
        return payloads
    }

    private func headers() throws -> [Platform: [PushHeader]] {
        var headers: [Platform: [PushHeader]] = [:]
        for (platform, _, value) in try byPlatform("headers") {
            guard case .table(let table) = value else { continue }
            headers[platform] = try table.texts.sorted { $0.key < $1.key }.map { try header($0.key, $0.value, platform) }
        }
        return headers
    }

    /// The entries of a table that is keyed by platform.
    private func byPlatform(_ parameter: String) throws -> [(platform: Platform, key: String, value: LuaValue)] {
        var keys: [Platform: String] = [:]
        return try (table(parameter)?.fields ?? [:]).sorted { $0.key < $1.key }.map { key, value in
            let platform = try Platform.named(key, key: key)
            if let other = keys.updateValue(key, forKey: platform) {
                throw LuaError.misuse(
                    "args.platform", "\"\(other)\" and \"\(key)\" in \"\(parameter)\" are the same platform", hint: "keep one of them",
                    details: ["key": .string(key)])
            }
            return (platform, key, value)
        }
    }

    /// Checks a header. Only headers that the service accepts from senders are allowed; the connector sets the others.
    private func header(_ name: String, _ value: String, _ platform: Platform) throws -> PushHeader {
        let prefixes =
            switch platform {
            case .apns: ["apns-", "x-apns-"]
            case .wns: ["x-wns-", "ms-cv"]
            case .browser: ["ttl", "urgency", "topic"]
            case .fcmV1, .gcm, .mpns, .adm, .baidu, .xiaomi: [String]()
            }
        let isName = name.utf8.allSatisfy { $0.isPropertyCharacter || $0 == UInt8(ascii: "-") }
        let isTaken = prefixes.contains { $0.hasSuffix("-") ? name.lowercased().hasPrefix($0) : name.lowercased() == $0 }
        guard isName, isTaken else {
            throw LuaError.misuse(
                "send.header", "\(platform.displayName) does not accept the header \"\(name)\" from senders",
                hint: prefixes.isEmpty
                    ? "write options into the payload's message"
                    : "it accepts \(prefixes.map { $0.hasSuffix("-") ? "\($0)…" : $0 }.joined(separator: ", "))",
                details: ["key": .string(name)])
        }
        guard value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
            throw LuaError.misuse(
                "send.header", "the header \"\(name)\" has characters that are not allowed in headers", hint: "use ASCII",
                details: ["key": .string(name)])
        }
        return PushHeader(name, value)
    }
}

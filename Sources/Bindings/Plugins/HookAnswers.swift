import Lua
import PushModel

/// The tables that hooks may return, checked like the arguments of a function. An invalid table is a failure of the hook.
enum HookAnswers {
    static let beforeSend = Binding(
        "before_send", "Changes or vetoes the notification. Without a result it is accepted unchanged.",
        takes: .returned(
            [
                .optional("veto", .string, "rejects it; the reason for the sender, at most 300 characters"),
                .optional("at", .time, "defers it to this time, at most seven days ahead"),
                .optional("after", .duration, "defers it by this time"),
                .optional("to", .audience, "replaces the audience"),
            ] + SendBindings.notificationParameters.filter { !["to", "device", "pace"].contains($0.name) },
            constraint: { keys, name throws(LuaError) in
                if keys.isSuperset(of: ["at", "after"]) {
                    throw .misuse("hook.answer", "\(name): \"at\" and \"after\" cannot be combined", hint: "use one of them")
                }
                // Without new content the title and headers of the notification already exist.
                if !keys.isDisjoint(with: NotificationKeys.notificationContents + ["title", "headers"]) {
                    try NotificationKeys.requireContent(keys, name)
                }
            }),
        example: "return { after = \"1h\" }", body: .prelude)

    static let beforeDeliver = Binding(
        "before_deliver", "A ruling about some of the devices. The first ruling for a device applies.",
        takes: .returned([
            .optional("all", .boolean, "true: all devices"),
            .optional("tag", .tag, "devices with this tag"),
            .optional("devices", .list(.integer), "devices with these numbers"),
            .optional("skip", .boolean, "true: the devices are skipped"),
            .optional(
                "hold_until", .time, "delivery is deferred to this time, when hooks are called again; at most seven days ahead"),
            .optional("pass", .boolean, "true: later rulings of the list do not apply; those of other plugins still do"),
            .optional(
                "reason", .string, "the reason shown in traces, at most 300 characters; required with skip and hold_until"),
        ]),
        example: "return { { tag = \"time_zone:Europe.Lisbon\", hold_until = \"2026-01-06T07:00:00Z\", reason = \"quiet hours\" } }",
        body: .prelude)

    static let onRegister = Binding(
        "on_register", "Changes or vetoes the registration. Without a result it is stored unchanged.",
        takes: .returned([
            .optional("veto", .string, "rejects it; the reason for the client, at most 300 characters"),
            .optional("add_tags", .list(.tag), "tags to add"),
            .optional("remove_tags", .list(.tag), "tags to remove"),
            .optional("once_kept", .function, "called after the registration is stored; may send to it"),
        ]),
        example: "return { add_tags = { \"new_user\" } }", body: .prelude)

    static let refusal = Binding(
        "a refusal", "Vetoes the operation. Without a result it continues.",
        takes: .returned([.optional("veto", .string, "rejects it; the reason for the user, at most 300 characters")]),
        example: "return { veto = \"outside of working hours\" }", body: .prelude)

    /// The response of a route; no value means 204.
    static let route = Binding(
        "a route", "The response. Without a result: 204 No Content.",
        takes: .returned([
            .optional("status", .integer, "an HTTP status, 200 by default"),
            .optional("json", .any, "a body as JSON"),
            .optional("body", .any, "a body as a string"),
            .optional("type", .string, "the content type of body, text/plain by default"),
            .optional("headers", .map(.string), "further headers"),
        ]),
        example: "return { json = { hello = request.params.name } }", body: .prelude)

    static func binding(of phase: HookPhase) -> Binding? {
        switch phase {
        case .beforeSend: beforeSend
        case .beforeDeliver: beforeDeliver
        case .onRegister: onRegister
        case .onLogin, .onSecureFetch: refusal
        case .afterSend, .onOutcome: nil
        }
    }

    /// Checks the returned values. Returns nil if there are none. Throws `args.*`.
    static func arguments(_ values: [LuaValue], _ binding: Binding, run: FlowRun) throws(LuaError) -> Arguments? {
        guard let value = values.first, value != .nil else { return nil }
        func refusal(_ got: String) -> LuaError {
            .misuse("args.wrong_type", "\(binding.name) must return one table with names, got \(got)", hint: "write \(binding.correctForm)")
        }
        guard values.count == 1 else { throw refusal("\(values.count) values") }
        guard case .table(let table) = value else { throw refusal(value.phrase) }
        guard table.array.isEmpty else { throw refusal("one with an unnamed value") }
        return try Arguments(LuaCall(arguments: [value], run: LuaRunID(rawValue: 0), attachment: run), for: binding)
    }
}

// MARK: - Reading

extension SendDraft {
    /// Applies a hook's answer to a draft. Throws `HookVeto` for a veto, and an error for an invalid answer.
    func changed(by answer: Arguments, now: Timestamp) throws -> SendDraft {
        var draft = self
        try answer.checkVeto()
        if let time = try answer.time("at") ?? answer.duration("after").map({ now + $0 }) { draft.dueTime = time }
        switch answer.value("to") {
        case .string(let text)?: draft.request.audience = .expression(try TagExpression(audience: text))
        case nil: break
        default: draft.request.audience = .everyone
        }
        if NotificationKeys.notificationContents.contains(where: { answer.value($0) != nil }) {
            draft.request.content = try answer.content()
        }
        if let lifetime = try answer.duration("expires_in") { draft.request.options.expiration = now + lifetime }
        if let priority = answer.string("priority") { draft.request.options.priority = PushOptions.Priority(rawValue: priority) }
        if let collapseID = answer.string("collapse_id") { draft.request.options.collapseID = collapseID }
        return draft
    }
}

extension Arguments {
    /// Throws `HookVeto` for a veto, and `args.empty` for a veto without a reason.
    func checkVeto() throws {
        guard value("veto") != nil else { return }
        throw HookVeto(reason: try text("veto"))
    }
}

/// A veto by a hook, which is not a failure.
package struct HookVeto: Error {
    let reason: String

    /// - Parameter reason: The reason shown to the sender or user, truncated to 300 characters.
    package init(reason: String) { self.reason = reason.hookReason }
}

extension RegistrationDraft {
    func changed(by answer: Arguments) throws -> RegistrationDraft {
        var draft = self
        try answer.checkVeto()
        let removed = try answer.tags("remove_tags")
        draft.tags.removeAll { removed.contains($0) }
        for tag in try answer.tags("add_tags") where !draft.tags.contains(tag) { draft.tags.append(tag) }
        return draft
    }
}

extension [DeliveryRuling] {
    /// Reads the list of rulings that `before_deliver` returns.
    ///
    /// - Parameter plugin: The plugin's name, added to the reasons.
    init(_ values: [LuaValue], plugin: String, run: FlowRun) throws(LuaError) {
        self = []
        switch values.first ?? .nil {
        case .nil: return
        case .table(let list) where list.fields.isEmpty:
            for (index, value) in list.array.enumerated() {
                guard let answer = try HookAnswers.arguments([value], HookAnswers.beforeDeliver, run: run) else { continue }
                append(try DeliveryRuling(answer, index: index + 1, plugin: plugin))
            }
        case let other:
            throw .misuse(
                "args.wrong_type", "before_deliver must return a list of rulings, got \(other.phrase)",
                hint: "write return { { tag = \"…\", skip = true, reason = \"…\" } }")
        }
    }
}

extension DeliveryRuling {
    fileprivate init(_ answer: Arguments, index: Int, plugin: String) throws(LuaError) {
        func refuse(_ why: String, _ hint: String) -> LuaError {
            .misuse("hook.answer", "before_deliver: ruling \(index) \(why)", hint: hint)
        }
        let decision: Decision
        switch (answer.boolean("skip") ?? false, try answer.time("hold_until"), answer.boolean("pass") ?? false) {
        case (true, nil, false): decision = .skip
        case (false, let time?, false): decision = .hold(until: time)
        case (false, nil, true): decision = .pass
        default:
            throw refuse(
                "needs one of \"skip\", \"hold_until\" and \"pass\"",
                "skip = true skips devices, hold_until = \"…\" defers them, pass = true leaves them unchanged")
        }
        let reason = answer.string("reason") ?? ""
        guard decision == .pass || !reason.isEmpty else {
            throw refuse("needs a \"reason\"", "it is shown in traces of the devices")
        }
        let devices: Devices
        switch (answer.boolean("all") ?? false, answer.value("tag"), answer.table("devices")) {
        case (true, nil, nil): devices = .all
        case (false, .string(let text)?, nil): devices = .tagged(try Tag(argument: text))
        case (false, nil, let list?):
            var numbers: [UInt32] = []
            for value in list.array {
                guard case .integer(let whole) = value, let number = UInt32(exactly: whole) else {
                    throw refuse("has an invalid device number, \(value.phrase)", "use device.number unchanged")
                }
                numbers.append(number)
            }
            devices = .chosen(numbers)
        // A missing target must not mean all devices: it may be a misspelt name.
        case (false, nil, nil):
            throw refuse("does not select any devices", "write tag = \"…\", devices = { … } or all = true; is a variable nil?")
        default: throw refuse("selects devices in two ways", "write two rulings")
        }
        self.init(devices: devices, decision: decision, plugin: plugin, reason: reason)
    }
}

import Lua
import PushCore

/// What hooks may answer: tables that are checked like the arguments of a function. What does not fit is a failure of the hook.
enum HookAnswers {
    static let beforeSend = Binding(
        "before_send", "What is to become of the notification; nothing: it is accepted as it is.", style: .table,
        parameters: [
            .optional("veto", .string, "refuses it; the sender is told this, at most 300 characters"),
            .optional("at", .time, "sends it later, at most seven days ahead"),
            .optional("after", .duration, "sends it later"),
            .optional("to", .audience, "goes to others"),
        ] + Binding.notificationParameters.filter { !["to", "device", "pace"].contains($0.name) },
        example: "return { after = \"1h\" }",
        constraint: { keys, name throws(LuaError) in
            if keys.isSuperset(of: ["at", "after"]) {
                throw .misuse("hook.answer", "\(name): \"at\" and \"after\" exclude each other", hint: "keep one of them")
            }
            // Without a content it stays as it is, and has its title and headers already.
            if !keys.isDisjoint(with: Binding.notificationContents + ["title", "headers"]) { try Binding.requireContent(keys, name) }
        }, body: .prelude)

    static let beforeDeliver = Binding(
        "before_deliver", "One ruling about some of the devices; of each device the first one holds.", style: .table,
        parameters: [
            .optional("all", .boolean, "true: all of them"),
            .optional("tag", .tag, "those with this tag"),
            .optional("devices", .list(.integer), "those with these numbers"),
            .optional("skip", .boolean, "true: they do not get it"),
            .optional(
                "hold_until", .time, "they get it then, unless a hook that is asked once more rules otherwise; at most seven days ahead"),
            .optional("pass", .boolean, "true: what follows in the list is not for them; other plugins may still rule about them"),
            .optional(
                "reason", .string, "why, for whoever asks what became of them, at most 300 characters; needed with skip and hold_until"),
        ], example: "return { { tag = \"time_zone:Europe.Lisbon\", hold_until = \"2026-01-06T07:00:00Z\", reason = \"quiet hours\" } }",
        body: .prelude)

    static let onRegister = Binding(
        "on_register", "What is to become of the registration; nothing: it is kept as it is.", style: .table,
        parameters: [
            .optional("veto", .string, "refuses it; whoever registers is told this, at most 300 characters"),
            .optional("add_tags", .list(.tag), "tags that it gets as well"),
            .optional("remove_tags", .list(.tag), "tags that it does not get"),
            .optional("once_kept", .function, "called once the registration is kept; may send to it"),
        ], example: "return { add_tags = { \"new_user\" } }", body: .prelude)

    static let refusal = Binding(
        "a refusal", "Nothing: it may go on.", style: .table,
        parameters: [.optional("veto", .string, "refuses it; the user is told this, at most 300 characters")],
        example: "return { veto = \"outside of working hours\" }", body: .prelude)

    /// The answer to a route's request; nothing: 204.
    static let route = Binding(
        "a route", "What is answered; nothing: 204 No Content.", style: .table,
        parameters: [
            .optional("status", .integer, "an HTTP status, 200 if absent"),
            .optional("json", .any, "a body as JSON"),
            .optional("body", .any, "a body as it is: a string"),
            .optional("type", .string, "the content type of body, text/plain if absent"),
            .optional("headers", .map(.string), "further headers"),
        ], example: "return { json = { hello = request.params.name } }", body: .prelude)

    static func binding(of phase: HookPhase) -> Binding? {
        switch phase {
        case .beforeSend: beforeSend
        case .beforeDeliver: beforeDeliver
        case .onRegister: onRegister
        case .onLogin, .onSecureFetch: refusal
        case .afterSend, .onOutcome: nil
        }
    }

    /// Nil where nothing was returned. Throws `args.*`.
    static func arguments(_ values: [LuaValue], _ binding: Binding, run: FlowRun) throws(LuaError) -> Arguments? {
        guard let value = values.first, value != .nil else { return nil }
        func refusal(_ got: String) -> LuaError {
            .misuse("args.wrong_type", "\(binding.name) must return one table with names, got \(got)", hint: "write \(binding.example)")
        }
        guard values.count == 1 else { throw refusal("\(values.count) values") }
        guard case .table(let table) = value else { throw refusal(value.phrase) }
        guard table.array.isEmpty else { throw refusal("one with a value that has none") }
        do throws(LuaError) {
            return try Arguments(LuaCall(arguments: [value], run: LuaRunID(rawValue: 0), attachment: run), for: binding)
        } catch {
            // It is returned, and no function is called.
            var error = error
            if error.hint?.hasPrefix("write \(binding.name)") == true { error.hint = "write \(binding.example)" }
            throw error
        }
    }
}

// MARK: - Reading

extension SendDraft {
    /// What a hook has made of a draft. Throws `HookVeto` for a refusal, and what does not fit.
    func changed(by answer: Arguments, now: Timestamp) throws -> SendDraft {
        var draft = self
        try answer.checkVeto()
        if let moment = try answer.time("at") ?? answer.duration("after").map({ now + $0 }) { draft.moment = moment }
        switch answer.value("to") {
        case .string(let text)?: draft.request.audience = .expression(try TagExpression(audience: text))
        case nil: break
        default: draft.request.audience = .everyone
        }
        if Binding.notificationContents.contains(where: { answer.value($0) != nil }) { draft.request.content = try answer.content() }
        if let lifetime = try answer.duration("expires_in") { draft.request.options.expiration = now + lifetime }
        if let priority = answer.string("priority") { draft.request.options.priority = PushOptions.Priority(rawValue: priority) }
        if let collapseID = answer.string("collapse_id") { draft.request.options.collapseID = collapseID }
        return draft
    }
}

extension Arguments {
    /// Throws `HookVeto` for a refusal, and `args.empty` for one without a reason.
    func checkVeto() throws {
        guard value("veto") != nil else { return }
        throw HookVeto(reason: try text("veto"))
    }
}

/// A hook refuses, which is no failure.
package struct HookVeto: Error {
    let reason: String

    /// - Parameter reason: what whoever is refused is told; of a longer one the first 300 characters.
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
    /// What a `before_deliver` returns: a list of rulings.
    ///
    /// - Parameter plugin: whose name the reasons get.
    init(_ values: [LuaValue], plugin: String, run: FlowRun) throws(LuaError) {
        self = []
        switch values.first ?? .nil {
        case .nil: return
        case .table(let list) where list.fields.isEmpty:
            for (place, value) in list.array.enumerated() {
                guard let answer = try HookAnswers.arguments([value], HookAnswers.beforeDeliver, run: run) else { continue }
                append(try DeliveryRuling(answer, place: place + 1, plugin: plugin))
            }
        case let other:
            throw .misuse(
                "args.wrong_type", "before_deliver must return a list of rulings, got \(other.phrase)",
                hint: "write return { { tag = \"…\", skip = true, reason = \"…\" } }")
        }
    }
}

extension DeliveryRuling {
    fileprivate init(_ answer: Arguments, place: Int, plugin: String) throws(LuaError) {
        func refuse(_ why: String, _ hint: String) -> LuaError {
            .misuse("hook.answer", "before_deliver: ruling \(place) \(why)", hint: hint)
        }
        let fate: Fate
        switch (answer.boolean("skip") ?? false, try answer.time("hold_until"), answer.boolean("pass") ?? false) {
        case (true, nil, false): fate = .skip
        case (false, let moment?, false): fate = .hold(until: moment)
        case (false, nil, true): fate = .pass
        default:
            throw refuse(
                "needs one of \"skip\", \"hold_until\" and \"pass\"",
                "skip = true leaves devices out, hold_until = \"…\" lets them wait, pass = true lets them be")
        }
        let reason = answer.string("reason") ?? ""
        guard fate == .pass || !reason.isEmpty else {
            throw refuse("needs a \"reason\"", "whoever asks what became of the devices reads it")
        }
        let devices: Devices
        switch (answer.boolean("all") ?? false, answer.value("tag"), answer.table("devices")) {
        case (true, nil, nil): devices = .all
        case (false, .string(let text)?, nil): devices = .tagged(try Tag(argument: text))
        case (false, nil, let list?):
            var numbers: [UInt32] = []
            for value in list.array {
                guard case .integer(let whole) = value, let number = UInt32(exactly: whole) else {
                    throw refuse("names the device \(value.phrase), which no device is numbered", "take device.number as it is")
                }
                numbers.append(number)
            }
            devices = .chosen(numbers)
        // Nothing must not mean everybody: a name that is misspelt is nothing.
        case (false, nil, nil):
            throw refuse("says nothing of which devices", "write tag = \"…\", devices = { … } or all = true; is a variable nil?")
        default: throw refuse("names devices in two ways", "write two rulings")
        }
        self.init(devices: devices, fate: fate, reason: "\(plugin): \(reason)")
    }
}

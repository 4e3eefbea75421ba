import Lua
import PushCore

extension Binding {
    static let sendSecure = Binding(
        "session:send_secure",
        "Keeps a payload at the app backend for one user and sends its id alone: the payload itself never crosses a push service.",
        style: .table,
        parameters: [
            .required("to", .string, "the user whom it is for", mistakenFor: ["user", "username"]),
            .required(
                "payload", .either([.table, .string, .number, .boolean]), "what only that user may read: a table, a text, a number",
                mistakenFor: ["alert", "text", "message", "body", "data"]),
            .optional("expires_in", .duration, "how long it can be read; an hour if absent", mistakenFor: ["ttl", "expiry"])
                .ruled {
                    _ = try SecurePayloadService.checkedLifetime(Duration(argument: $0, named: "expires_in", of: "session:send_secure"))
                },
            .optional("max_reads", .integer, "how often it can be read; without end if absent", mistakenFor: ["reads"])
                .ruled { if case .integer(let maximum) = $0 { try SecurePayloadService.checkMaximum(Int(maximum)) } },
        ],
        returns: "push.SecureReceipt",
        errors: [
            "auth.session_expired", "secure.lifetime", "secure.maximum_reads", "secure.payload", "secure.too_large",
            "secure.too_many",
        ],
        example:
            "local receipt = session:send_secure { to = \"alice\", payload = { code = \"4711\" }, expires_in = \"10m\", max_reads = 1 }",
        body: .async { arguments, run in
            let session = try arguments.receiver(as: SessionObject.self).session
            let user = try arguments.username("to")
            let payload: JSON
            do throws(UnwritableJSON) {
                payload = try (arguments.value("payload") ?? .nil).json(named: "payload")
            } catch {
                throw LuaError.misuse("secure.payload", "session:send_secure: \(error.message)", hint: error.hint)
            }
            try run.store(HostCost.storedNotification, arguments)
            let receipt = try await run.world.backend.sendSecure(
                session,
                SecureRequest(
                    username: user, payload: payload, lifetime: try arguments.duration("expires_in"),
                    maximumReads: arguments.integer("max_reads")))
            await run.note(
                receipt.outcome, audience: "username:\(user)", site: arguments.site,
                advice: "a secure payload wakes registrations without a template; push.install with templates makes a phone that has both")
            return SecureReceiptRecord(receipt: receipt, outcome: OutcomeRecord(receipt.outcome, run))
        })

    private static let fetchErrors = [
        "auth.session_expired", "secure.exhausted", "secure.expired", "secure.forbidden", "secure.not_found", "secure.revoked",
    ]

    static let fetchSecurePayload = Binding(
        "push.fetch_secure_payload", "Reads a secure payload: its addressee's session alone may.", style: .table,
        parameters: [
            .required("session", .object("session"), "who reads: push.login{…}"),
            .required("id", .string, "the id that the push brought: item.secure_id"),
        ],
        returns: "any", errors: fetchErrors,
        example: "local payload = push.fetch_secure_payload { session = session, id = item.secure_id }",
        body: .async { arguments, run in
            let session = try arguments.handle("session", as: SessionObject.self)
            return try await run.securePayload(session.session, id: arguments.text("id"))
        })

    static let sessionFetchSecurePayload = Binding(
        "session:fetch_secure_payload", "The same as push.fetch_secure_payload, with this session.",
        parameters: [.required("id", .string, "the id that the push brought")], returns: "any", errors: fetchErrors,
        example: "local payload = session:fetch_secure_payload(item.secure_id)",
        body: .async { arguments, run in
            let session = try arguments.receiver(as: SessionObject.self).session
            return try await run.securePayload(session, id: arguments.text("id"))
        })

    static let revokeSecurePayload = Binding(
        "session:revoke_secure_payload", "Makes a secure payload unreadable; its sender and its addressee may.",
        parameters: [.required("id", .string, "the payload's id")],
        errors: ["auth.session_expired", "secure.forbidden", "secure.not_found"],
        example: "session:revoke_secure_payload(receipt.id)",
        body: .async { arguments, run in
            let session = try arguments.receiver(as: SessionObject.self).session
            try await run.world.backend.revokeSecurePayload(session, id: arguments.text("id"))
        })

    static let secureReads = Binding(
        "session:secure_reads", "Who tried to read a secure payload, and how that ended, oldest first; for its sender and its addressee.",
        parameters: [.required("id", .string, "the payload's id")], returns: "push.SecureRead[]",
        errors: ["auth.session_expired", "secure.forbidden", "secure.not_found"],
        example: "for _, read in ipairs(session:secure_reads(receipt.id)) do print(read.time, read.user, read.result) end",
        body: .async { arguments, run in
            let session = try arguments.receiver(as: SessionObject.self).session
            let reads = try await run.world.backend.secureReads(session, id: arguments.text("id"))
            return reads.map(SecureReadRecord.init)
        })
}

/// `push.SecureReceipt`.
private struct SecureReceiptRecord: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("id", .text), ("expires", .text), ("outcome", OutcomeRecord.luaShape)]

    let receipt: SecureReceipt
    let outcome: OutcomeRecord

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(receipt.id)
        writer.write(receipt.expiration.description)
        writer.write(outcome)
    }
}

/// `push.SecureRead`.
private struct SecureReadRecord: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("time", .text), ("user", .text), ("result", .text)]

    let read: SecureRead

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(read.time.description)
        writer.write(read.username)
        writer.write(read.result.rawValue)
    }
}

extension FlowRun {
    /// What a payload holds is for the script alone: from here on no report shows it.
    fileprivate func securePayload(_ session: Session, id: String) async throws(PushError) -> LuaValue {
        let payload = try await world.backend.securePayload(session, id: id)
        withheld.add(payload)
        return LuaValue(payload)
    }
}

extension Arguments {
    /// A user, by name or by the tag that `push.tag.user` makes of it.
    func username(_ name: String) throws(LuaError) -> String {
        let text = try text(name)
        let prefix = "username:"
        return text.hasPrefix(prefix) && text.count > prefix.count ? String(text.dropFirst(prefix.count)) : text
    }
}

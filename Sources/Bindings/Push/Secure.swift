import Lua
import PushModel

/// Secure payloads of the app backend.
enum SecurePayloadBindings {
    static let sendSecure = Binding(
        "session:send_secure",
        "Stores a payload at the app backend for one user and sends only its id. The payload itself never passes through a push service.",
        takes: .table([
            .required("to", .string, "the recipient's user name", mistakenFor: ["user", "username"]),
            .required(
                "payload", .either([.table, .string, .number, .boolean]), "the content for this user: a table, a text, a number",
                mistakenFor: ["alert", "text", "message", "body", "data"]),
            .optional("expires_in", .duration, "lifetime, an hour by default", mistakenFor: ["ttl", "expiry"])
                .ruled {
                    _ = try SecureRequest.checkedLifetime(Duration(argument: $0, named: "expires_in", of: "session:send_secure"))
                },
            .optional("max_reads", .integer, "maximum number of reads, unlimited by default", mistakenFor: ["reads"])
                .ruled { if case .integer(let maximum) = $0 { try SecureRequest.checkMaximumReads(Int(maximum)) } },
        ]),
        returns: "push.SecureReceipt",
        errors: [
            "auth.session_expired", "secure.lifetime", "secure.maximum_reads", "secure.payload", "secure.too_large",
            "secure.too_many",
        ],
        example:
            "local receipt = session:send_secure { to = \"alice\", payload = { code = \"4711\" }, expires_in = \"10m\", max_reads = 1 }",
        body: .async(.sending) { arguments, run in
            let session = try arguments.receiver(as: SessionObject.self).session
            let user = try arguments.username("to")
            let payload: JSON
            do throws(JSONConversionError) {
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
            await run.sends.note(
                receipt.outcome, audience: "username:\(user)", site: arguments.site,
                advice: "a secure payload reaches registrations without a template; push.install with templates creates an installation "
                    + "that both reach")
            return SecureReceiptRecord(receipt: receipt, outcome: OutcomeRecord(receipt.outcome, run))
        })

    private static let fetchErrors = [
        "auth.session_expired", "secure.exhausted", "secure.expired", "secure.forbidden", "secure.not_found", "secure.revoked",
    ]

    static let fetchSecurePayload = Binding(
        "push.fetch_secure_payload", "Reads a secure payload. Only its recipient may read it.",
        takes: .table([
            .required("session", .object("session"), "the recipient's session: push.login{…}"),
            .required("id", .string, "the id that the push brought: item.secure_id"),
        ]),
        returns: "any", errors: fetchErrors,
        example: "local payload = push.fetch_secure_payload { session = session, id = item.secure_id }",
        body: .async { arguments, run in
            let session = try arguments.handle("session", as: SessionObject.self)
            return try await run.securePayload(session.session, id: arguments.text("id"))
        })

    static let sessionFetchSecurePayload = Binding(
        "session:fetch_secure_payload", "Reads a secure payload with this session, like push.fetch_secure_payload.",
        takes: .positional([.required("id", .string, "the id that the push brought")]),
        returns: "any", errors: fetchErrors,
        example: "local payload = session:fetch_secure_payload(item.secure_id)",
        body: .async { arguments, run in
            let session = try arguments.receiver(as: SessionObject.self).session
            return try await run.securePayload(session, id: arguments.text("id"))
        })

    static let revokeSecurePayload = Binding(
        "session:revoke_secure_payload", "Revokes a secure payload. Its sender and its recipient may do so.",
        takes: .positional([.required("id", .string, "the payload's id")]),
        errors: ["auth.session_expired", "secure.forbidden", "secure.not_found"],
        example: "session:revoke_secure_payload(receipt.id)",
        body: .async { arguments, run in
            let session = try arguments.receiver(as: SessionObject.self).session
            try await run.world.backend.revokeSecurePayload(session, id: arguments.text("id"))
        })

    static let secureReads = Binding(
        "session:secure_reads", "Lists attempts to read a secure payload, oldest first. Its sender and its recipient may call it.",
        takes: .positional([.required("id", .string, "the payload's id")]),
        returns: "push.SecureRead[]", errors: ["auth.session_expired", "secure.forbidden", "secure.not_found"],
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
    /// Reads a secure payload. Its contents are masked in reports from here on.
    fileprivate func securePayload(_ session: Session, id: String) async throws(PushError) -> LuaValue {
        let payload = try await world.backend.securePayload(session, id: id)
        withheld.add(payload)
        return LuaValue(payload)
    }
}

extension Arguments {
    /// Reads a user, given by name or by the tag of `push.tag.user`.
    func username(_ name: String) throws(LuaError) -> String {
        let text = try text(name)
        let prefix = "username:"
        return text.hasPrefix(prefix) && text.count > prefix.count ? String(text.dropFirst(prefix.count)) : text
    }
}

import Lua
import PushModel

/// Key-value storage of plugins; each plugin has its own key space.
enum KeyValueBindings {
    private static let key = Parameter.required("key", .string, "1 to 256 bytes")
    private static let lifetime = Parameter.optional(
        "expires_in", .duration, "lifetime of the value, unlimited if absent", mistakenFor: ["ttl", "expiry", "expires"])

    static let kvGet = kv(
        "get", "Returns the value of a key, or nil if there is none.",
        takes: .positional([key]),
        returns: "any", errors: ["kv.key"],
        example: "local seen = push.kv.get \"seen\"",
        body: .async { arguments, run in
            let entry = try await run.space.value(arguments.text("key"), now: run.world.clock.now)
            return entry.map { LuaValue($0.value) } ?? .nil
        })

    static let kvEntry = kv(
        "entry", "Returns the value of a key with its version, which a later put can refer to.",
        takes: .positional([key]),
        returns: "push.KeyValueEntry?", errors: ["kv.key"],
        example: "local entry = push.kv.entry \"seen\"",
        body: .async { arguments, run in
            try await run.space.value(arguments.text("key"), now: run.world.clock.now).map(KeyValueEntryRecord.init)
        })

    static let kvPut = kv(
        "put", "Stores a value under a key, optionally only if a condition holds. Returns whether it was stored.",
        takes: .leading(
            [
                key, .required("value", .any, "a value that JSON can represent, at most 64 KiB"), lifetime,
                .optional("if_absent", .boolean, "true: only if the key has no value"),
                .optional("if_version", .integer, "only if the value has this version"),
            ],
            constraint: { keys, name throws(LuaError) in
                guard keys.isSuperset(of: ["if_absent", "if_version"]) else { return }
                throw .misuse(
                    "kv.condition", "\(name): \"if_absent\" and \"if_version\" cannot be combined", hint: "keep one of them",
                    details: ["key": .string("if_version")])
            }),
        returns: "boolean", errors: ["kv.condition", "kv.full", "kv.key", "kv.too_large", "kv.ttl", "json.unsupported"],
        example: "push.kv.put(\"seen\", { value = { at = push.clock.now() }, expires_in = \"1d\" })",
        body: .async { arguments, run in
            let value: JSON
            do throws(JSONConversionError) {
                value = try (arguments.value("value") ?? .nil).json(named: "value")
            } catch {
                throw error.error(in: "push.kv.put")
            }
            let condition: KeyValueCondition =
                arguments.boolean("if_absent") == true
                ? .absent : arguments.integer("if_version").map { .version(Int64($0)) } ?? .always
            let now = run.world.clock.now
            let answer = try await run.space.put(
                value, for: arguments.text("key"), expires: try arguments.duration("expires_in").map { now + $0 }, if: condition, now: now)
            if case .stored = answer { return true } else { return false }
        })

    static let kvDelete = kv(
        "delete", "Deletes the value of a key. Returns whether there was one.",
        takes: .positional([key]),
        returns: "boolean", errors: ["kv.key"],
        example: "push.kv.delete \"seen\"",
        body: .async { arguments, run in
            try await run.space.remove(arguments.text("key"), if: .always, now: run.world.clock.now) == .removed
        })

    static let kvAdd = kv(
        "add", "Adds to a whole number atomically, starting from 0. Returns the new number.",
        takes: .leading([
            key, .optional("amount", .integer, "1 if absent"),
            .optional("expires_in", .duration, "lifetime of a new number, unlimited if absent"),
        ]),
        returns: "integer", errors: ["kv.full", "kv.key", "kv.not_a_number", "kv.out_of_range", "kv.ttl"],
        example: "local visits = push.kv.add \"visits\"",
        body: .async { arguments, run in
            let now = run.world.clock.now
            return Int(
                try await run.space.add(
                    Int64(arguments.integer("amount") ?? 1), to: arguments.text("key"),
                    expiresIfNew: try arguments.duration("expires_in").map { now + $0 }, now: now))
        })

    static let kvTake = kv(
        "take",
        "Takes one slot of each key. Returns true for each key that had a free slot. A slot is free again after the time given by within. "
            + "Repeating a call with the same token returns the same results without taking slots.",
        takes: .leading([
            .required("keys", .list(.string), "at most 1,000"), .required("token", .string, "identifies the operation"),
            .required("limit", .integer, "number of slots per key"),
            .required("within", .duration, "time until a slot is free again"),
        ]),
        returns: "boolean[]", errors: ["kv.full", "kv.key", "kv.slots", "kv.too_many", "kv.ttl"],
        example: "local granted = push.kv.take({ \"alice\" }, { token = \"n-0001\", limit = 3, within = \"1d\" })",
        body: .async { arguments, run in
            try await run.space.take(
                arguments.strings("keys") ?? [], token: arguments.text("token"), limit: arguments.integer("limit") ?? 0,
                within: arguments.duration("within") ?? .zero, now: run.world.clock.now)
        })

    static let kvKeys = kv(
        "keys", "Lists keys in order, at most 1,000 per call.",
        takes: .table([
            .optional("prefix", .string, "only keys with this prefix"), .optional("after", .string, "the last key of the previous page"),
            .optional("limit", .integer, "maximum number of keys, 1,000 by default"),
        ]),
        returns: "string[]", errors: ["kv.too_many"],
        example: "for _, key in ipairs(push.kv.keys { prefix = \"seen:\" }) do push.kv.delete(key) end",
        body: .async { arguments, run in
            try await run.space.keys(
                prefix: arguments.string("prefix") ?? "", after: arguments.string("after"),
                limit: arguments.integer("limit") ?? KeyValueLimits.mostKeys, now: run.world.clock.now)
        })

    private static func kv(
        _ name: String, _ summary: String, takes: CallForm, returns: Binding.Returns, errors: [String], example: String, body: Binding.Body
    ) -> Binding {
        Binding(
            "push.kv.\(name)", summary, takes: takes, returns: returns, when: .in(.pluginsRunning, capability: .kv), errors: errors,
            example: example, body: body)
    }
}

extension FlowRun {
    /// The key space of the plugin that runs.
    fileprivate var space: any KeyValueStore {
        get throws(LuaError) {
            guard let plugin else { throw .failure("target.unsupported", "only plugins can store values") }
            return plugin.keyValues
        }
    }
}

/// `push.KeyValueEntry`.
struct KeyValueEntryRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("value", .value), ("version", .integer), ("expires", .text.optional)]

    let entry: KeyValueEntry

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(LuaValue(entry.value))
        writer.write(Int(entry.version))
        writer.write(entry.expires?.description)
    }
}

extension TypeDescription {
    static let keyValueEntry = TypeDescription(
        "push.KeyValueEntry", "A stored value of a plugin.",
        fields: [
            Field("value", "any", "the stored value"),
            Field("version", "integer", "increases with every change"),
            Field("expires", "string", "when it expires, ISO 8601", isOptional: true),
        ])
}

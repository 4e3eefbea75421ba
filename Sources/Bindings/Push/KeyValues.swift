import Lua
import PushCore

// What plugins remember: each in a space of its own.
extension Binding {
    private static let key = Parameter.required("key", .string, "1 to 256 bytes")
    private static let lifetime = Parameter.optional(
        "expires_in", .duration, "how long it is kept, for ever if absent", mistakenFor: ["ttl", "expiry", "expires"])

    static let kvGet = kv(
        "get", "What is kept under a key; nil where there is nothing.", parameters: [key], returns: "any", errors: ["kv.key"],
        example: "local seen = push.kv.get \"seen\"",
        body: .async { arguments, run in
            let entry = try await run.space.value(arguments.text("key"), now: run.world.clock.now)
            return entry.map { LuaValue($0.value) } ?? .nil
        })

    static let kvEntry = kv(
        "entry", "The same with its version, which a later put can name.", parameters: [key], returns: "push.KeyValueEntry?",
        errors: ["kv.key"],
        example: "local entry = push.kv.entry \"seen\"",
        body: .async { arguments, run in
            try await run.space.value(arguments.text("key"), now: run.world.clock.now).map(KeyValueEntryRecord.init)
        })

    static let kvPut = kv(
        "put", "Keeps a value under a key; with a condition only where that holds. True: it is kept.", style: .leading,
        parameters: [
            key, .required("value", .any, "what JSON can write, at most 64 KiB of it"), lifetime,
            .optional("if_absent", .boolean, "true: only where there is nothing"),
            .optional("if_version", .integer, "only where that is the version"),
        ],
        returns: "boolean", errors: ["kv.condition", "kv.full", "kv.key", "kv.too_large", "kv.ttl", "json.unsupported"],
        example: "push.kv.put(\"seen\", { value = { at = push.clock.now() }, expires_in = \"1d\" })",
        constraint: { keys, name throws(LuaError) in
            guard keys.isSuperset(of: ["if_absent", "if_version"]) else { return }
            throw .misuse(
                "kv.condition", "\(name): \"if_absent\" and \"if_version\" exclude each other", hint: "keep one of them",
                details: ["key": .string("if_version")])
        },
        body: .async { arguments, run in
            let value: JSON
            do throws(UnwritableJSON) {
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
        "delete", "Removes what is kept under a key. True: there was something.", parameters: [key], returns: "boolean",
        errors: ["kv.key"],
        example: "push.kv.delete \"seen\"",
        body: .async { arguments, run in
            try await run.space.remove(arguments.text("key"), if: .always, now: run.world.clock.now) == .removed
        })

    static let kvAdd = kv(
        "add", "Adds to a whole number, in one step; answers the new one. It begins as 0.", style: .leading,
        parameters: [
            key, .optional("amount", .integer, "1 if absent"),
            .optional("expires_in", .duration, "how long a number that begins is kept, for ever if absent"),
        ],
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
        "Takes a slot of each of some keys; true for those that had one left. A slot is free again after a while. "
            + "The same token asked again gets the same answers and takes nothing.", style: .leading,
        parameters: [
            .required("keys", .list(.string), "at most 1,000"), .required("token", .string, "what the slots are taken for"),
            .required("limit", .integer, "how many slots a key has"),
            .required("within", .duration, "after how long a slot is free again"),
        ],
        returns: "boolean[]", errors: ["kv.full", "kv.key", "kv.slots", "kv.too_many", "kv.ttl"],
        example: "local granted = push.kv.take({ \"alice\" }, { token = \"n-0001\", limit = 3, within = \"1d\" })",
        body: .async { arguments, run in
            try await run.space.take(
                arguments.strings("keys") ?? [], token: arguments.text("token"), limit: arguments.integer("limit") ?? 0,
                within: arguments.duration("within") ?? .zero, now: run.world.clock.now)
        })

    static let kvKeys = kv(
        "keys", "Keys in order, at most 1,000 at a time.", style: .table,
        parameters: [
            .optional("prefix", .string, "what they begin with"), .optional("after", .string, "the last one of the page before"),
            .optional("limit", .integer, "how many, 1,000 if absent"),
        ],
        returns: "string[]", errors: ["kv.too_many"],
        example: "for _, key in ipairs(push.kv.keys { prefix = \"seen:\" }) do push.kv.delete(key) end",
        body: .async { arguments, run in
            try await run.space.keys(
                prefix: arguments.string("prefix") ?? "", after: arguments.string("after"),
                limit: arguments.integer("limit") ?? KeyValueRules.mostKeys, now: run.world.clock.now)
        })

    private static func kv(
        _ name: String, _ summary: String, style: Style = .positional, parameters: [Parameter], returns: Returns, errors: [String],
        example: String, constraint: Constraint? = nil, body: Body
    ) -> Binding {
        Binding(
            "push.kv.\(name)", summary, style: style, parameters: parameters, returns: returns, phases: .pluginsRunning, capability: .kv,
            errors: errors, example: example, constraint: constraint, body: body)
    }
}

extension FlowRun {
    /// Of the plugin that the run is one of.
    fileprivate var space: any KeyValueStore {
        get throws(LuaError) {
            guard let plugin else { throw .failure("target.unsupported", "only plugins keep values") }
            return plugin.services.keyValues.space(plugin.name)
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
        "push.KeyValueEntry", "What a plugin keeps under a key.",
        fields: [
            Field("value", "any", "what was put"),
            Field("version", "integer", "another one after every change, and larger than any before"),
            Field("expires", "string", "until when it is kept, ISO 8601", isOptional: true),
        ])
}

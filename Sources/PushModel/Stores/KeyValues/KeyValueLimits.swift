/// The limits of the key-value store, the same for every storage engine.
package enum KeyValueLimits {
    /// Maximum length of a key, in bytes of UTF-8.
    package static let maximumKeyLength = 256
    /// Maximum size of a value, in bytes of JSON.
    package static let maximumValueSize = 65_536
    /// Allowed lifetimes of an entry: up to five years, with leap days.
    package static let lifetimes = Duration.seconds(1)...Duration.seconds(5 * 366 * 86_400)
    /// Maximum number of keys in one call.
    package static let mostKeys = 1000
    /// Maximum number of slots of a key.
    package static let maximumSlots = 1000

    package static func check(key: String) throws(PushError) {
        try check(key, "key")
    }

    private static func check(_ key: String, _ what: String) throws(PushError) {
        let size = key.utf8.count
        guard (1...maximumKeyLength).contains(size) else {
            throw PushError(
                "kv.key", size == 0 ? "the \(what) is empty" : "the \(what) \"\(key.prefix(40))…\" has \(size) bytes of UTF-8",
                hint: "use 1 to \(maximumKeyLength) bytes; for longer texts use a hash", status: 400,
                details: ["size": .integer(Int64(size)), "limit": .integer(Int64(maximumKeyLength))])
        }
    }

    package static func check(keys: [String]) throws(PushError) {
        guard keys.count <= mostKeys else {
            throw tooMany("\(keys.count) keys in one call", hint: "split the call into parts of \(mostKeys)")
        }
        for key in keys { try check(key: key) }
    }

    /// - Parameter limit: number of keys on a page.
    package static func check(page limit: Int) throws(PushError) {
        guard (1...mostKeys).contains(limit) else {
            throw tooMany("invalid page size \(limit)", hint: "use 1 to \(mostKeys), and continue after the last key")
        }
    }

    private static func tooMany(_ message: String, hint: String) -> PushError {
        PushError("kv.too_many", message, hint: hint, status: 400, details: ["limit": .integer(Int64(mostKeys))])
    }

    /// The bytes to store for a value.
    package static func content(of value: JSON, for key: String) throws(PushError) -> [UInt8] {
        guard value.depth <= JSON.maximumDepth else {
            throw PushError(
                "kv.too_large", "the value of \"\(key)\" has more than \(JSON.maximumDepth) levels",
                hint: "split it or reduce the nesting", status: 413, details: ["limit": .integer(Int64(JSON.maximumDepth))])
        }
        let content = value.serialized()
        guard content.count <= maximumValueSize else {
            throw PushError(
                "kv.too_large", "the value of \"\(key)\" has \(content.count) bytes of JSON; a value has at most \(maximumValueSize)",
                hint: "split it over several keys", status: 413,
                details: ["size": .integer(Int64(content.count)), "limit": .integer(Int64(maximumValueSize))])
        }
        return content
    }

    package static func check(expires: Timestamp?, now: Timestamp) throws(PushError) {
        if let expires { try check(lifetime: expires - now, "the entry would expire in") }
    }

    private static func check(lifetime: Duration, _ what: String) throws(PushError) {
        guard lifetimes.contains(lifetime) else {
            throw PushError(
                "kv.ttl", "\(what) \(lifetime.short)", hint: "use \(lifetimes.lowerBound.short) to \(lifetimes.upperBound.short)",
                status: 400, details: ["milliseconds": .integer(lifetime.milliseconds)])
        }
    }

    package static func check(token: String, limit: Int, period: Duration) throws(PushError) {
        try check(token, "token")
        guard (1...maximumSlots).contains(limit) else {
            throw PushError(
                "kv.slots", "invalid limit of \(limit) slots: a key has 1 to \(maximumSlots)",
                hint: "use a limit in this range, or a shorter period with fewer slots", status: 400,
                details: ["limit": .integer(Int64(maximumSlots))])
        }
        try check(lifetime: period, "the period is")
    }

    /// The error for a space that exceeds its quota.
    /// - Parameter space: the space's name.
    package static func full(_ space: String, _ usage: KeyValueUsage, _ quota: KeyValueQuota) -> PushError {
        PushError(
            "kv.full",
            "the space \"\(space)\" is full: it has \(usage.entries) entries of at most \(quota.entries), and "
                + "\(usage.bytes) bytes of at most \(quota.bytes)",
            hint: "remove what is not needed, or let entries expire", status: 507,
            details: [
                "entries": .integer(Int64(usage.entries)), "maximum_entries": .integer(Int64(quota.entries)),
                "bytes": .integer(Int64(usage.bytes)), "maximum_bytes": .integer(Int64(quota.bytes)),
            ])
    }

    package static func sum(_ value: JSON, _ amount: Int64, for key: String) throws(PushError) -> Int64 {
        guard let number = value.int else {
            throw PushError(
                "kv.not_a_number", "cannot add to the value of \"\(key)\": it is \(value.kind)",
                hint: "use another key for the counter, or store a number first", status: 409)
        }
        let (sum, overflow) = Int64(number).addingReportingOverflow(amount)
        guard !overflow else {
            throw PushError(
                "kv.out_of_range", "the value of \"\(key)\" is \(number): adding \(amount) would exceed 64 bits",
                hint: "store a smaller number first", status: 409)
        }
        return sum
    }

    /// The version after `last`. At least the current time in milliseconds, so that writes after a restored backup never reuse a version
    /// that a client remembers from before.
    package static func version(after last: Int64, now: Timestamp) -> Int64 { max(last &+ 1, now.milliseconds) }
}

extension JSON {
    /// Describes the kind of value, for messages.
    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number, .numeral: "a number with a fraction, or beyond 64 bits"
        case .string: "text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

import PushCore

/// A column of one row. A sealed value opens only in the field that it was sealed for.
struct SealedField {
    let table: String
    let column: String
    /// The key of the row.
    let row: [JSON]

    /// JSON, because no two different fields have the same text.
    var authenticated: [UInt8] { JSON.array([.string(table), .string(column)] + row).serialized() }

    /// Of the access keys of the server.
    static let namespace = SealedField(table: "namespace", column: "secrets", row: [])

    /// Of the access keys and the push credentials of a hub.
    static func hub(_ number: Int64) -> SealedField { SealedField(table: "hub", column: "secrets", row: [.integer(number)]) }

    /// Of a token for a push service.
    static func providerToken(_ key: String) -> SealedField {
        SealedField(table: "provider_token", column: "secrets", row: [.string(key)])
    }

    /// Of the addresses of a job, which may hold a signature.
    static func job(_ id: String, hub: Int64) -> SealedField {
        SealedField(table: "job", column: "secrets", row: [.integer(hub), .string(id)])
    }

    /// Of a value that a plugin stores.
    static func value(_ key: String, space: String) -> SealedField {
        SealedField(table: "key_value", column: "content", row: [.string(space), .string(key)])
    }
}

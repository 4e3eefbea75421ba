import PushModel

/// Identifies a column of one row. A sealed value can only be opened in the field that it was sealed for.
struct SealedField {
    let table: String
    let column: String
    /// Key of the row.
    let row: [JSON]

    /// Serialized as JSON, so that different fields never have the same text.
    var authenticated: [UInt8] { JSON.array([.string(table), .string(column)] + row).serialized() }

    /// Access keys of the server.
    static let namespace = SealedField(table: "namespace", column: "secrets", row: [])

    /// Access keys and push credentials of a hub.
    static func hub(_ number: Int64) -> SealedField { SealedField(table: "hub", column: "secrets", row: [.integer(number)]) }

    /// A provider token.
    static func providerToken(_ key: String) -> SealedField {
        SealedField(table: "provider_token", column: "secrets", row: [.string(key)])
    }

    /// Addresses of a job, which may contain a signature.
    static func job(_ id: String, hub: Int64) -> SealedField {
        SealedField(table: "job", column: "secrets", row: [.integer(hub), .string(id)])
    }

    /// A value stored by a plugin.
    static func value(_ key: String, space: String) -> SealedField {
        SealedField(table: "key_value", column: "content", row: [.string(space), .string(key)])
    }
}

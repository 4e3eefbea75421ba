import HTTPTypes
import HubWire
import PushModel

/// A route of the JSON API: its operation, required access, parameters, responses and handler. Requests are dispatched and the
/// OpenAPI document is written from the same table.
struct ManagementRoute: Sendable {
    /// The key that a request needs.
    struct Access: Sendable {
        /// The keys that grant access.
        enum Scope: Sendable {
            case server
            /// The server's keys, or those of the hub named in the path.
            case hub
        }

        let scope: Scope
        let right: AuthorizationRule.Right
        /// Whether the key itself is accepted as a bearer token, instead of a token that it signed.
        var acceptsKey = false

        static func server(_ right: AuthorizationRule.Right) -> Self { Self(scope: .server, right: right) }
        static func hub(_ right: AuthorizationRule.Right) -> Self { Self(scope: .hub, right: right) }
        /// Access with a token or with the key itself.
        static func hubKey(_ right: AuthorizationRule.Right) -> Self { Self(scope: .hub, right: right, acceptsKey: true) }
    }

    struct Parameter: Sendable {
        let name: String
        let schema: JSONSchema
        var isRequired = false
    }

    struct Answer: Sendable {
        let status: HTTPResponse.Status
        let note: String
        /// Nil for an empty body.
        let schema: JSONSchema?
    }

    typealias Handler = @Sendable (ManagementCall) async throws(PushError) -> WebAnswer

    let operation: ManagementOperation
    let access: Access
    let parameters: [Parameter]
    let body: JSONSchema?
    let answer: Answer
    /// Error statuses in addition to those of every route.
    let refusals: [Int]
    /// Nil for a route that changes nothing.
    let audit: AuditRule?
    let handle: Handler

    init(
        _ operation: ManagementOperation, _ access: Access, _ parameters: [Parameter] = [], body: JSONSchema? = nil, answer: Answer,
        refusals: [Int] = [], audit: AuditRule? = nil, handle: @escaping Handler
    ) {
        (self.operation, self.access) = (operation, access)
        (self.parameters, self.body, self.answer, self.refusals) = (parameters, body, answer, refusals)
        (self.audit, self.handle) = (audit, handle)
    }
}

extension ManagementRoute.Answer {
    static func ok(_ note: String, _ schema: JSONSchema) -> Self { Self(status: .ok, note: note, schema: schema) }
    static func created(_ note: String, _ schema: JSONSchema) -> Self { Self(status: .created, note: note, schema: schema) }
    static func accepted(_ note: String, _ schema: JSONSchema) -> Self { Self(status: .accepted, note: note, schema: schema) }
    static let deleted = Self(status: .noContent, note: "Deleted", schema: nil)
}

extension ManagementRoute.Parameter {
    static let top = Self(name: "top", schema: .integer("Maximum number of items per page; 100 by default", 1...100))
    static let platform = Self(name: "platform", schema: .platform)
    static let tag = Self(name: "tag", schema: .tag)
    static let user = Self(name: "user", schema: .user)
    static func outcome(_ name: String) -> Self { Self(name: name, schema: .outcome) }

    /// A parameter of one route.
    static func query(_ name: String, _ schema: JSONSchema, isRequired: Bool = false) -> Self {
        Self(name: name, schema: schema, isRequired: isRequired)
    }

    /// - Parameter pattern: Matches the continuation tokens of this list.
    static func continuation(_ pattern: String, length: ClosedRange<Int> = 1...200) -> Self {
        Self(name: "continuation", schema: .text("The continuation token of the previous page", length: length, pattern: pattern))
    }
}

/// The audit entries of a route of the JSON API.
struct AuditRule: Sendable {
    /// Returns the object and further details, without secrets; nil if nothing was changed.
    typealias Words = @Sendable (ManagementCall, WebAnswer) throws(PushError) -> (subject: String, details: [String: String])?

    let action: AuditAction
    /// Whether it can occur thousands of times.
    var isFrequent = false
    let words: Words

    init(_ action: AuditAction, isFrequent: Bool = false, words: @escaping Words) {
        (self.action, self.isFrequent, self.words) = (action, isFrequent, words)
    }
}

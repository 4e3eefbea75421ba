import HTTPTypes
import HubWire
import PushModel

/// A route of the JSON interface: its path, required right, parameters, responses and handler. Requests are dispatched and the OpenAPI
/// document is written from the same table.
struct ManagementRoute: Sendable {
    /// The keys that grant access.
    enum Scope: Sendable {
        case server
        /// The server's keys, or those of the hub named in the path.
        case hub
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

    /// The audit entries of a route.
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

    typealias Handler = @Sendable (ManagementCall) async throws(PushError) -> WebAnswer

    let method: HTTPRequest.Method
    /// The path with placeholders in braces, each for one segment, such as `/api/v1/hubs/{hub}`.
    let path: String
    /// The name of the operation.
    let name: String
    let summary: String
    let scope: Scope
    let right: AuthorizationRule.Right
    let parameters: [Parameter]
    let body: JSONSchema?
    let answer: Answer
    /// Error statuses in addition to those of every route.
    let refusals: [Int]
    /// Nil for a route that changes nothing.
    let noted: AuditRule?
    let handle: Handler

    init(
        _ method: HTTPRequest.Method, _ path: String, _ name: String, _ summary: String, _ scope: Scope, _ right: AuthorizationRule.Right,
        _ parameters: [Parameter] = [], body: JSONSchema? = nil, answer: Answer, refusals: [Int] = [], noted: AuditRule? = nil,
        handle: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.name = name
        self.summary = summary
        self.scope = scope
        self.right = right
        self.parameters = parameters
        self.body = body
        self.answer = answer
        self.refusals = refusals
        self.noted = noted
        self.handle = handle
    }

    /// The segments of the path.
    var parts: [Substring] { path.split(separator: "/") }

    /// The names of the placeholders.
    var pathNames: [String] { parts.filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) } }

    /// The values of the placeholders for a request path; nil if the path does not match.
    /// - Parameter path: The decoded segments.
    func match(_ path: [String]) -> [String: String]? {
        let parts = parts
        guard parts.count == path.count else { return nil }
        var values: [String: String] = [:]
        for (part, text) in zip(parts, path) {
            if part.hasPrefix("{") {
                guard !text.isEmpty else { return nil }
                values[String(part.dropFirst().dropLast())] = text
            } else if part != text {
                return nil
            }
        }
        return values
    }
}

extension ManagementRoute.Answer {
    static func ok(_ note: String, _ schema: JSONSchema) -> Self { Self(status: .ok, note: note, schema: schema) }
    static func created(_ note: String, _ schema: JSONSchema) -> Self { Self(status: .created, note: note, schema: schema) }
    static let deleted = Self(status: .noContent, note: "Deleted", schema: nil)
}

extension ManagementRoute.Parameter {
    static let top = Self(name: "top", schema: .integer("Maximum number of items per page; 100 by default", 1...100))
    static let platform = Self(name: "platform", schema: .platform)
    static let tag = Self(name: "tag", schema: .tag)
    static let user = Self(name: "user", schema: .user)
    static func outcome(_ name: String) -> Self { Self(name: name, schema: .outcome) }

    /// - Parameter pattern: Matches the continuation tokens of this list.
    static func continuation(_ pattern: String, length: ClosedRange<Int> = 1...200) -> Self {
        Self(name: "continuation", schema: .text("The continuation token of the previous page", length: length, pattern: pattern))
    }
}

import HTTPTypes
import HubWire
import PushCore

/// A route of the JSON interface: how it is found, who may, what it takes and answers, and what does it. Requests are answered and
/// the document is written from the same table.
struct ManagementRoute: Sendable {
    /// Whose keys open it.
    enum Scope: Sendable {
        case server
        /// The server's, or those of the hub that the path names.
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
        /// Nil for no body.
        let schema: JSONSchema?
    }

    /// How the audit log tells what the route has done.
    struct Noted: Sendable {
        /// To what, and what else there is to know; no secrets. Nil where nothing was changed after all.
        typealias Words = @Sendable (ManagementCall, WebAnswer) throws(PushError) -> (subject: String, details: [String: String])?

        let action: AuditAction
        /// Whether it may come by thousands.
        var isFrequent = false
        let words: Words

        init(_ action: AuditAction, isFrequent: Bool = false, words: @escaping Words) {
            (self.action, self.isFrequent, self.words) = (action, isFrequent, words)
        }
    }

    typealias Handler = @Sendable (ManagementCall) async throws(PushError) -> WebAnswer

    let method: HTTPRequest.Method
    /// Names in braces stand for one part of the path, such as `/api/v1/hubs/{hub}`.
    let path: String
    /// The name of the operation.
    let name: String
    let summary: String
    let scope: Scope
    let right: AuthorizationRule.Right
    let parameters: [Parameter]
    let body: JSONSchema?
    let answer: Answer
    /// Errors beyond those of every route, by status.
    let refusals: [Int]
    /// Nil for one that changes nothing.
    let noted: Noted?
    let handle: Handler

    init(
        _ method: HTTPRequest.Method, _ path: String, _ name: String, _ summary: String, _ scope: Scope, _ right: AuthorizationRule.Right,
        _ parameters: [Parameter] = [], body: JSONSchema? = nil, answer: Answer, refusals: [Int] = [], noted: Noted? = nil,
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

    /// The parts of the path between slashes.
    var parts: [Substring] { path.split(separator: "/") }

    /// The names in braces.
    var pathNames: [String] { parts.filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) } }

    /// What the names in braces stand for in a path; nil where it is the path of another route.
    /// - Parameter path: between slashes, decoded.
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
    static let deleted = Self(status: .noContent, note: "It is gone", schema: nil)
}

extension ManagementRoute.Parameter {
    static let top = Self(name: "top", schema: .integer("Most items of the page; 100 where it is not given", 1...100))
    static let platform = Self(name: "platform", schema: .platform)
    static let tag = Self(name: "tag", schema: .tag)
    static let user = Self(name: "user", schema: .user)
    static func outcome(_ name: String) -> Self { Self(name: name, schema: .outcome) }

    /// - Parameter pattern: of a continuation of this list.
    static func continuation(_ pattern: String, length: ClosedRange<Int> = 1...200) -> Self {
        Self(name: "continuation", schema: .text("The continuation of the page before", length: length, pattern: pattern))
    }
}

import HTTPTypes

/// A method on a path of the JSON API, with its name and summary: an operation in the terms of OpenAPI.
struct ManagementOperation: Sendable {
    let method: HTTPRequest.Method
    /// The path with placeholders in braces, each for one segment, such as `/api/v1/hubs/{hub}`.
    let path: String
    let name: String
    let summary: String
    /// The segments of the path.
    private let segments: [Substring]

    init(_ method: HTTPRequest.Method, _ path: String, _ name: String, _ summary: String) {
        (self.method, self.path, self.name, self.summary) = (method, path, name, summary)
        segments = path.split(separator: "/")
    }

    static func get(_ path: String, _ name: String, _ summary: String) -> Self { Self(.get, path, name, summary) }
    static func put(_ path: String, _ name: String, _ summary: String) -> Self { Self(.put, path, name, summary) }
    static func post(_ path: String, _ name: String, _ summary: String) -> Self { Self(.post, path, name, summary) }
    static func delete(_ path: String, _ name: String, _ summary: String) -> Self { Self(.delete, path, name, summary) }

    /// The names of the placeholders.
    var placeholders: [String] { segments.filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) } }

    /// The values of the placeholders for a request path; nil if the path does not match.
    /// - Parameter path: The decoded segments.
    func match(_ path: [String]) -> [String: String]? {
        guard segments.count == path.count else { return nil }
        var values: [String: String] = [:]
        for (segment, text) in zip(segments, path) {
            if segment.hasPrefix("{") {
                guard !text.isEmpty else { return nil }
                values[String(segment.dropFirst().dropLast())] = text
            } else if segment != text {
                return nil
            }
        }
        return values
    }
}

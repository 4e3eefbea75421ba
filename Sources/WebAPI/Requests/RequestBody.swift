import HubWire
import PushModel

/// A body that has not been read yet.
struct RequestBody: Sendable {
    private let collect: @Sendable (Int) async throws(PushError) -> [UInt8]

    init(_ collect: @escaping @Sendable (Int) async throws(PushError) -> [UInt8]) { self.collect = collect }

    /// Reads the whole body. Throws `request.too_large` (413) beyond `limit` bytes and `request.too_slow` (408).
    func read(limit: Int) async throws(PushError) -> [UInt8] { try await collect(limit) }
}

extension JSON {
    /// Parses the body of a request. Duplicate members are rejected. Throws `request.body` (400).
    init(body bytes: [UInt8], numbers: Numbers = .asValues, hint: String) throws(PushError) {
        do {
            self = try JSON(parsing: bytes, duplicateKeys: .refused, numbers: numbers)
        } catch {
            throw PushError(
                "request.body", "the body is not JSON: \(error.message.asClause) at line \(error.line), column \(error.column)",
                hint: hint, status: 400)
        }
    }
}

import HubWire
import PushModel

extension JSON {
    /// Parses the body of a request. Duplicate members are rejected. Throws `request.body` (400).
    init(body bytes: [UInt8], hint: String) throws(PushError) {
        do {
            self = try JSON(parsing: bytes, duplicateKeys: .refused)
        } catch {
            throw PushError(
                "request.body", "the body is not JSON: \(error.message.asClause) at line \(error.line), column \(error.column)",
                hint: hint, status: 400)
        }
    }
}

import Glibc
import PushHub
import PushModel

/// Answers one expression per line, so that other engines can be measured in turns: prints the nanoseconds, the number of ids
/// and their sum.
enum Conversation {
    static func run() throws {
        let index = try TargetingFigures.load(try .typical(1_000_000))
        while let line = readLine() {
            let expression = try TagExpression(parsing: line)
            var ids: [UInt32] = []
            let time = ContinuousClock().measure { ids = index.select(expression) }
            print(Int(time / .nanoseconds(1)), ids.count, ids.reduce(0) { $0 + UInt64($1) })
            fflush(nil)
        }
    }

    /// Prints the registrations as lines for PostgreSQL's COPY: the id, a tab, the tags in braces.
    static func printRows() throws {
        try Population.typical(1_000_000).forEach { id, tags in print("\(id)\t{\(tags.map(\.text).joined(separator: ","))}") }
    }
}

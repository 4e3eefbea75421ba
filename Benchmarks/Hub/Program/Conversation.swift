import Glibc
import PushCore

/// Answers one question a line, so that other engines can be asked the same in turns: the nanoseconds that it took, how many ids
/// there are, and their sum.
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

    /// The registrations as lines of PostgreSQL's COPY: the id, a tabulator, the tags in braces.
    static func printRows() throws {
        try Population.typical(1_000_000).forEach { id, tags in print("\(id)\t{\(tags.map(\.text).joined(separator: ","))}") }
    }
}

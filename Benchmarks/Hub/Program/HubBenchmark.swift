/// Measures how a hub finds the recipients of a notification: `make bench-hub`.
///
/// `HubBenchmark [PART]` runs one part alone. `ask` and `rows` are for `rivals.py`.
@main
struct HubBenchmark {
    private static let parts: [(name: String, run: @Sendable () throws -> Void)] = [
        ("expressions", { try TargetingFigures.printExpressions() }), ("index", { try TargetingFigures.printIndex() }),
    ]

    static func main() throws {
        switch CommandLine.arguments.dropFirst().first {
        case "ask": try Conversation.run()
        case "rows": try Conversation.printRows()
        case let wanted: for (name, run) in parts where wanted == nil || wanted == name { try run() }
        }
    }
}

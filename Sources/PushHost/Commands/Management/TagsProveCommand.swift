import ArgumentParser
import PushModel
import PushRuntime
import WebAPI

struct TagsProveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove", abstract: "Check whether two tag expressions are equivalent.",
        discussion: """
            Equivalent expressions match the same registrations in every hub. If they differ, the smallest registration that only one \
            of them matches is shown. Needs no server.

            Example: pushhost tags prove '!(a || b)' '!a && !b'

            Exit codes: 0 equivalent · 1 different · 2 usage.
            """)

    @Argument(help: "First tag expression, in quotes.")
    var first: String

    @Argument(help: "Second tag expression, in quotes.")
    var second: String

    @Flag(help: "Print one JSON object (schema \(ManagementSession.schema)) instead of text.")
    var json = false

    func run() async {
        await ManagementSession(isJSON: json).run { () throws(PushError) in
            let (one, other) = (try Self.read(first, "first"), try Self.read(second, "second"))
            let proof = try TagProof(of: one, and: other)
            return CommandResult(json: proof.json, lines: { Self.lines(proof, one, other, $0) }, status: Self.status(proof))
        }
    }

    /// Parses a tag expression. Throws `tag_expression.invalid` with the position of the argument (`first` or `second`) in the message.
    private static func read(_ text: String, _ which: String) throws(PushError) -> TagExpression {
        do {
            return try TagExpression(parsing: text)
        } catch {
            var refusal = PushError(error)
            refusal.message = "invalid \(which) tag expression at character \(error.position): \(error.message.asClause)"
            refusal.hint = refusal.hint ?? "combine tags with &&, || and !, and quote the expression"
            throw refusal
        }
    }

    private static func status(_ proof: TagProof) -> Int32 { proof == .equal ? ExitStatus.pass : ExitStatus.failed }

    private static func lines(_ proof: TagProof, _ first: TagExpression, _ second: TagExpression, _ palette: Palette) -> [String] {
        guard case .different(let example) = proof else {
            return ["\(palette.green("✓")) equivalent: both match the same registrations in every hub"]
        }
        let tags = example.tags.map { "\"\($0.text)\"" }
        let noun =
            tags.isEmpty
            ? "a registration without tags" : "a registration with the tag\(tags.count == 1 ? "" : "s") \(tags.joined(separator: ", "))"
        func line(_ name: String, _ isTaken: Bool, _ expression: TagExpression) -> String {
            "  \(name)  \(isTaken ? palette.green("matches     ") : palette.red("no match    "))\(expression.description.printable)"
        }
        return [
            "\(palette.red("✗")) different for \(noun.printable)", line("first ", example.isFirst, first),
            line("second", !example.isFirst, second),
        ]
    }
}

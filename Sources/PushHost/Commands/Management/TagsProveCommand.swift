import ArgumentParser
import PushCore
import WebAPI

struct TagsProveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove", abstract: "Whether two tag expressions name the same registrations, whatever these may be.",
        discussion:
            "Where they differ, the smallest registration that tells them apart is shown, and which of the two names it. It needs no server. "
            + "Exit code 0: they name the same, 1: they differ.")

    @Argument(help: "A tag expression, in quotes.")
    var first: String

    @Argument(help: "Another one.")
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

    /// Throws `tag_expression.invalid`, with which of the two it is.
    private static func read(_ text: String, _ which: String) throws(PushError) -> TagExpression {
        do {
            return try TagExpression(parsing: text)
        } catch {
            var refusal = PushError(error)
            refusal.message = "of the \(which) expression: \(refusal.message)"
            throw refusal
        }
    }

    private static func status(_ proof: TagProof) -> Int32 { proof == .equal ? ExitStatus.pass : ExitStatus.failed }

    private static func lines(_ proof: TagProof, _ first: TagExpression, _ second: TagExpression, _ palette: Palette) -> [String] {
        guard case .different(let example) = proof else {
            return ["\(palette.green("✓")) they name the same registrations, whatever these may be"]
        }
        let tags = example.tags.map { "\"\($0.text)\"" }
        let noun =
            tags.isEmpty
            ? "a registration without tags" : "a registration with the tag\(tags.count == 1 ? "" : "s") \(tags.joined(separator: ", "))"
        func line(_ name: String, _ isTaken: Bool, _ expression: TagExpression) -> String {
            "  \(name)  \(isTaken ? palette.green("names it    ") : palette.red("does not    "))\(expression.description.printable)"
        }
        return [
            "\(palette.red("✗")) they differ: \(noun.printable)", line("first ", example.isFirst, first),
            line("second", !example.isFirst, second),
        ]
    }
}

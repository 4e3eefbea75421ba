import ArgumentParser
import PushModel

/// The command that a command line names.
struct CommandPath {
    /// The commands from the program to the one that is named, or to its default subcommand.
    let commands: [any ParsableCommand.Type]
    /// The words that name the commands, as they were given.
    let words: [String]
    /// What follows the words.
    let rest: ArraySlice<String>
    /// Whether the last command is the default subcommand of the one before.
    let endsWithDefault: Bool

    init(_ arguments: [String], from root: any ParsableCommand.Type = PushHostCommand.self) {
        var commands: [any ParsableCommand.Type] = [root]
        var rest = arguments[...]
        var command = root
        while let word = rest.first, let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word }) {
            commands.append(next)
            command = next
            rest = rest.dropFirst()
        }
        words = Array(arguments[..<rest.startIndex])
        self.rest = rest
        let standard = command.configuration.defaultSubcommand
        endsWithDefault = standard != nil
        self.commands = commands + (standard.map { [$0] } ?? [])
    }

    var command: any ParsableCommand.Type { commands[commands.count - 1] }

    /// The command that shows the help of the command.
    var help: String { (names + ["--help"]).joined(separator: " ") }

    /// The error for a word that is not a subcommand of the command named so far.
    func unknownCommand(_ word: String) -> PushError {
        let group = endsWithDefault ? commands[commands.count - 2] : command
        let siblings = group.configuration.subcommands.compactMap { $0.configuration.commandName }
        func whole(_ word: String) -> String { (words + [word]).joined(separator: " ") }
        let near = nearest(word, in: siblings).map { "; did you mean \"\(whole($0))\"?" } ?? ""
        return PushError(
            "usage.command", "unknown command \"\(whole(word))\"\(near)",
            hint: "see all commands with \((["pushhost"] + words + ["--help"]).joined(separator: " "))")
    }

    /// The first example in the help of the command.
    var example: String? {
        let lines = command.configuration.discussion.split(separator: "\n").map { $0.drop { $0 == " " } }
        let example = lines.first { $0.hasPrefix("Example: ") }?.dropFirst("Example: ".count)
        return (example ?? lines.first { $0.hasPrefix("pushhost ") }).map(String.init)
    }

    private var names: [String] { commands.map { $0.configuration.commandName ?? "" } }
}

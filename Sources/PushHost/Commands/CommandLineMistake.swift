import ArgumentParser
import PushModel

/// Finds the mistake in a command line that the argument parser has rejected.
///
/// The parser reports a mistake only as text. This reads the command line again, by the parser's description of the command, and reports
/// the mistake in the form of the program's other errors.
struct CommandLineMistake {
    private let path: CommandPath
    private let description: CommandDescription

    /// - Parameter arguments: the arguments as the parser received them.
    init(_ arguments: [String]) {
        path = CommandPath(arguments)
        description = CommandDescription(path.command)
    }

    /// The command that shows the help of the command.
    var help: String { path.help }

    /// The first mistake; nil if there is none that the description shows.
    var error: PushError? {
        if path.command.configuration.subcommands.isEmpty || path.endsWithDefault { return leafError }
        guard let word = path.rest.first else { return nil }
        return word.isOption ? unknownOption(word) : path.unknownCommand(word)
    }

    private var leafError: PushError? {
        var given: [String] = []
        var values: [String] = []
        var rest = path.rest
        while let word = rest.popFirst() {
            if word == "--" {
                // An argument that takes only what follows accepts everything.
                if !description.arguments.contains(where: { $0.parsing == .afterTerminator }) { values += rest }
                break
            }
            guard word.isOption else {
                values.append(word)
                continue
            }
            let name = String(word.prefix { $0 != "=" })
            guard let option = description.option(name) else { return unknownOption(name) }
            given.append(name)
            if let error = error(of: option, name, word, &rest) { return error }
        }
        return flagError(given) ?? argumentError(values) ?? missingOption(given)
    }

    /// The error in the value of an option. Removes the value from `rest`.
    private func error(of option: CommandDescription.Parameter, _ name: String, _ word: String, _ rest: inout ArraySlice<String>)
        -> PushError?
    {
        let value = word.firstIndex(of: "=").map { String(word[word.index(after: $0)...]) }
        if option.parsing == .flag {
            return value.map { PushError("usage.argument", "\(name) takes no value, got \"\($0)\"", hint: "write \(name)") }
        }
        if let value { return option.error(for: value) }
        guard let next = rest.first, !next.isOption else {
            let missing = "\(name): the value is missing"
            guard let next = rest.first, !isOptionOfCommand(next) else { return PushError("usage.argument", missing, hint: hint) }
            return PushError("usage.argument", "\(missing); \"\(next)\" looks like an option", hint: "write \(name)=\(next)")
        }
        rest.removeFirst()
        if option.parsing == .upToNextOption { rest = rest.drop { !$0.isOption } }
        return option.error(for: next)
    }

    /// The error if flags that cannot be combined are given, or none of those that are required. Only alternatives are required flags.
    private func flagError(_ given: [String]) -> PushError? {
        let required = description.options.filter { $0.parsing == .flag && $0.isRequired }.map(\.name)
        let chosen = required.filter(given.contains)
        guard !required.isEmpty, chosen.count != 1 else { return nil }
        if chosen.isEmpty { return PushError("usage.argument", "missing option \(required.alternatives)", hint: hint) }
        return PushError("usage.value", "\(chosen.joined(separator: " and ")) cannot be combined", hint: "remove one of them")
    }

    private func argumentError(_ values: [String]) -> PushError? {
        var rest = values[...]
        for argument in description.arguments where argument.parsing != .afterTerminator {
            if argument.isRepeating {
                rest = []
            } else if let value = rest.popFirst() {
                if let error = argument.error(for: value) { return error }
            } else if argument.isRequired {
                return PushError("usage.argument", "missing argument \(argument.name)", hint: hint)
            }
        }
        guard let word = rest.first else { return nil }
        // `simulate pns` names no subcommand of `simulate`, and the default one takes no arguments.
        if path.endsWithDefault, word == values.first { return path.unknownCommand(word) }
        return PushError("usage.argument", "unexpected argument \"\(word)\"", hint: "see \(help)")
    }

    private func missingOption(_ given: [String]) -> PushError? {
        let missing = description.options.first { $0.isRequired && $0.parsing != .flag && !$0.names.contains(where: given.contains) }
        return missing.map { PushError("usage.argument", "missing option \($0.name)", hint: hint) }
    }

    /// Whether the word is an option of the command, or the terminator `--`. Other words that begin with a dash may be values.
    private func isOptionOfCommand(_ word: String) -> Bool {
        let name = String(word.prefix { $0 != "=" })
        return ["--", "--help", "-h", "--version"].contains(name) || description.option(name) != nil
    }

    private func unknownOption(_ word: String) -> PushError {
        let name = String(word.prefix { $0 != "=" })
        let names = description.options.filter { !$0.isHidden }.flatMap(\.names) + ["--version"]
        let near = nearest(name, in: names).map { "; did you mean \"\($0)\"?" } ?? ""
        return PushError("usage.command", "unknown option \"\(name)\"\(near)", hint: "see \(help)")
    }

    /// The example of the command, and its help.
    private var hint: String { path.example.map { "for example: \($0)" } ?? "see \(help)" }
}

extension String {
    /// Whether the argument parser takes the word as the name of an option. A dash alone is a value: standard input.
    fileprivate var isOption: Bool { hasPrefix("-") && count > 1 }
}

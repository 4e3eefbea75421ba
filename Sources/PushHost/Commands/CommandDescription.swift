import ArgumentParser
import PushModel

/// The options and arguments of a command, as the argument parser describes it.
struct CommandDescription {
    struct Parameter {
        /// The values that a parameter takes from the command line.
        enum Parsing {
            /// None: an option without a value.
            case flag
            /// The next one.
            case next
            /// All up to the next option.
            case upToNextOption
            /// All after `--`.
            case afterTerminator
        }

        /// The names of an option, with dashes. Empty for an argument.
        var names: [String]
        var parsing: Parsing
        var isRequired: Bool
        var isRepeating: Bool
        var isHidden: Bool
        var valueName: String
        /// The only valid values; empty if there is no such list.
        var choices: [String]

        /// The name that people read: the long one of an option, and the upper-case one of an argument.
        var name: String { names.last ?? valueName.uppercased() }

        /// The error for a value that the parameter does not accept; nil if it may be valid.
        func error(for value: String) -> PushError? {
            if !choices.isEmpty {
                guard !choices.contains(value) else { return nil }
                let near = nearest(value, in: choices).map { "; did you mean \"\($0)\"?" } ?? ""
                let what = names.isEmpty ? "unknown \(valueName)" : "\(name): unknown value"
                return PushError("usage.value", "\(what) \"\(value)\"\(near)", hint: "use \(choices.alternatives)")
            }
            guard let form = ValueForm(rawValue: valueName), !form.accepts(value) else { return nil }
            return form.error(name, value)
        }
    }

    let parameters: [Parameter]

    var options: [Parameter] { parameters.filter { !$0.names.isEmpty } }
    var arguments: [Parameter] { parameters.filter(\.names.isEmpty) }

    init(_ command: any ParsableCommand.Type) {
        let document = try? JSON(parsing: command._dumpHelp())
        parameters = (document?["command"]?["arguments"]?.array ?? []).map(Parameter.init)
    }

    /// The option with this name, such as `--seed`.
    func option(_ name: String) -> Parameter? { options.first { $0.names.contains(name) } }
}

extension CommandDescription.Parameter {
    fileprivate init(_ json: JSON) {
        let names = (json["names"]?.array ?? []).map { name in
            "\(name["kind"]?.string == "long" ? "--" : "-")\(name["name"]?.string ?? "")"
        }
        let parsing: Parsing =
            switch (json["kind"]?.string, json["parsingStrategy"]?.string) {
            case ("flag", _): .flag
            case (_, "upToNextOption"): .upToNextOption
            case (_, "postTerminator"): .afterTerminator
            default: .next
            }
        self.init(
            names: names, parsing: parsing, isRequired: json["isOptional"]?.bool == false,
            isRepeating: json["isRepeating"]?.bool == true, isHidden: json["shouldDisplay"]?.bool == false,
            valueName: json["valueName"]?.string ?? "", choices: (json["allValues"]?.array ?? []).compactMap(\.string))
    }
}

extension [String] {
    /// The words as a list: `a, b or c`.
    var alternatives: String {
        guard count > 1, let last else { return first ?? "" }
        return "\(dropLast().joined(separator: ", ")) or \(last)"
    }
}

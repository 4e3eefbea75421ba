package import Yams

extension YamlError {
    /// The line of the error; nil if it is unknown.
    package var line: Int? {
        switch self {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        case .duplicatedKeysInMapping(_, let context): context.mark.line
        default: nil
        }
    }

    /// The reason without the source line, which may contain a secret.
    package var reason: String {
        switch self {
        case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _): problem
        case .duplicatedKeysInMapping(let names, _):
            "\(names.sorted().map { "\"\($0)\"" }.joined(separator: ", ")) occurs more than once"
        default: "\(self)".split(separator: "\n").first.map(String.init) ?? "it cannot be read"
        }
    }
}

import Bindings
import Lua

/// `pushhost run FILE --help`: what the flow's first comment says, and the options that its `push.args` declares.
struct FlowHelp {
    let script: FlowScript
    let declaration: FlowDeclaration?

    var lines: [String] {
        var lines = introduction
        let parameters = declaration?.parameters ?? []
        lines.append("USAGE: pushhost run \(script.name)\(parameters.isEmpty ? "" : " [options]")")
        lines.append("")
        if parameters.isEmpty {
            lines.append("The flow takes no options of its own.")
        } else {
            lines.append("OPTIONS OF THE FLOW:")
            let width = parameters.map(\.flag.count).max() ?? 0
            for parameter in parameters {
                lines.append("  \(parameter.flag.padded(to: width))  \(parameter.note)")
            }
        }
        lines.append("")
        lines.append("See 'pushhost run --help' for the options of every flow.")
        return lines.map(\.printable)
    }

    /// The first line of that comment; empty where there is none.
    var summary: String { introduction.first { !$0.isEmpty } ?? "" }

    /// The comment at the head of the script.
    private var introduction: [String] {
        let source = String(decoding: script.source, as: UTF8.self)
        let comment = source.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { $0.hasPrefix("#!") || $0.hasPrefix("\u{feff}") }
            .prefix { $0.hasPrefix("--") && !$0.hasPrefix("--[") }
            .map { line in String(line.drop { $0 == "-" }.drop { $0 == " " }) }
        return comment.isEmpty ? [] : comment + [""]
    }
}

extension FlowParameter {
    fileprivate var note: String {
        var facts: [String] = []
        switch defaultValue {
        case .string(let text)?: facts.append("default: \(text)")
        case .integer(let value)?: facts.append("default: \(value)")
        case .number(let value)?: facts.append("default: \(value)")
        default: break
        }
        if let minimum { facts.append("at least \(minimum.formatted)") }
        if let maximum { facts.append("at most \(maximum.formatted)") }
        if isRequired { facts.append("required") }
        let details = facts.isEmpty ? "" : "(\(facts.joined(separator: ", ")))"
        return [summary, details].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension Double {
    fileprivate var formatted: String { self == rounded() && abs(self) < 1e15 ? String(Int64(self)) : String(self) }
}

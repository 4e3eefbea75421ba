import Bindings
import Lua
import PushRuntime

/// The help of a flow, `pushhost run FILE --help`: the comment at its head and the options that its `push.args` declares.
struct FlowHelp {
    let script: FlowScript
    let declaration: FlowDeclaration?

    var lines: [String] {
        var lines = script.introduction
        let parameters = declaration?.parameters ?? []
        lines.append("USAGE: pushhost run \(script.name)\(parameters.isEmpty ? "" : " [options]")")
        lines.append("")
        if parameters.isEmpty {
            lines.append("This flow has no options.")
        } else {
            lines.append("OPTIONS OF THE FLOW:")
            let width = parameters.map(\.flag.count).max() ?? 0
            for parameter in parameters {
                lines.append("  \(parameter.flag.padded(to: width))  \(parameter.note)")
            }
        }
        lines.append("")
        lines.append("See 'pushhost run --help' for the options of all flows.")
        return lines.map(\.printable)
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

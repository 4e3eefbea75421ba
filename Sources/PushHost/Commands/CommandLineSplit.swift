import PushCore

/// Tells the options of `pushhost run` from those of the flow.
///
/// The host's options may stand before or after FILE; everything else after FILE is the flow's. What the argument parser
/// gets is `run <host options> FILE -- <flow options>`.
enum CommandLineSplit {
    /// Options of `run` that take a value, and those that do not.
    private static let valued: Set<String> = [
        "--seed", "--timeout", "--cpu-limit", "--memory-limit", "--instruction-limit", "--target", "--hub", "--backend", "--authority",
        "--config", "--wire",
    ]
    private static let flags: Set<String> = [
        "--json", "--trace", "--help", "-h", "--timings", "--fail-on-no-target", "--tutorial-mode", "--version",
        "--watch", "--yes",
    ]

    /// Throws `usage.argument` for an option without its value, such as a variable that is not set.
    static func rearranged(_ arguments: [String]) throws(PushError) -> [String] {
        if isPlanOfFlow(arguments) {
            // Behind -- it is the flow's own.
            let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
            let own = arguments[..<end].filter { $0 != "--all" }
            let flow = try rearranged(["run"] + own.dropFirst() + arguments[end...]).dropFirst()
            return ["plan", "flow"] + (own.count < end ? ["--all"] : []) + flow
        }
        guard arguments.first == "run" else { return arguments }
        var host: [String] = []
        var file: String?
        var flow: [String] = []
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            let name = argument.prefix { $0 != "=" }
            if valued.contains(String(name)), argument.hasSuffix("="), argument.count == name.count + 1 {
                throw Self.empty(String(name))
            }
            if flags.contains(argument) || (valued.contains(String(name)) && argument.contains("=")) {
                host.append(argument)
            } else if valued.contains(argument) {
                guard let value = rest.first, !valued.contains(value), !flags.contains(value), value != "--" else {
                    throw PushError("usage.argument", "\(argument): the value is missing", hint: "pushhost run --help shows what it takes")
                }
                guard !value.isEmpty else { throw Self.empty(argument) }
                // As one word: a value may begin with a dash.
                host.append("\(argument)=\(value)")
                rest.removeFirst()
            } else if argument == "--" {
                flow += rest
                rest = []
            } else if file == nil, !argument.hasPrefix("-") || argument == "-" {
                file = argument
            } else if file == nil {
                // Before FILE nothing but the host's options makes sense: let the parser say so.
                host.append(argument)
            } else {
                flow.append(argument)
            }
        }
        // Of a flow, help is the flow's own.
        if file != nil { host = host.map { $0 == "--help" || $0 == "-h" ? "--flow-help" : $0 } }
        return ["run"] + host + (file.map { [$0] } ?? []) + (flow.isEmpty ? [] : ["--"] + flow)
    }

    /// `plan FILE`, the flow being a file of Lua or one of a plugin: neither a text nor another command.
    private static func isPlanOfFlow(_ arguments: [String]) -> Bool {
        guard arguments.first == "plan", !arguments.contains("--to"), !arguments.contains("--broadcast"),
            !arguments.contains(where: { $0.hasPrefix("--to=") })
        else { return false }
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            if valued.contains(argument) {
                _ = rest.popFirst()
            } else if !argument.hasPrefix("-") {
                return argument.hasSuffix(".lua") || argument.wholeMatch(of: /[a-z0-9_-]+:[a-z0-9_-]+/) != nil
            }
        }
        return false
    }

    private static func empty(_ option: String) -> PushError {
        PushError("usage.argument", "\(option): the value is empty", hint: "pushhost run --help shows what it takes")
    }

    /// `--user alice --loud --text=hi` as names and values. Throws what is no option.
    static func options(_ arguments: [String]) throws(StrayArgument) -> [(name: String, value: String?)] {
        var options: [(name: String, value: String?)] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--"), argument.count > 2 else { throw StrayArgument(text: argument) }
            let body = argument.dropFirst(2)
            if let equals = body.firstIndex(of: "=") {
                options.append((String(body[..<equals]), String(body[body.index(after: equals)...])))
            } else if let next = rest.first, !next.hasPrefix("--") {
                options.append((String(body), next))
                rest.removeFirst()
            } else {
                options.append((String(body), nil))
            }
        }
        return options
    }

    struct StrayArgument: Error {
        let text: String
    }
}

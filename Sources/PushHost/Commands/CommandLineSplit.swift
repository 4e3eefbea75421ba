import PushModel
import PushRuntime

/// Separates the options of `pushhost run` from those of the flow.
///
/// Options of `pushhost run` may stand before or after FILE; all other arguments after FILE belong to the flow. The argument parser
/// receives `run <options of run> FILE -- <options of the flow>`.
enum CommandLineSplit {
    /// Options of `run` that take a value. `flags` lists those that do not.
    private static let valued: Set<String> = [
        "--seed", "--timeout", "--cpu-limit", "--memory-limit", "--instruction-limit", "--target", "--hub", "--backend", "--authority",
        "--config", "--wire",
    ]
    private static let flags: Set<String> = [
        "--json", "--trace", "--help", "-h", "--timings", "--fail-on-no-target", "--tutorial-mode", "--version",
        "--watch", "--yes",
    ]

    /// Reorders the arguments. Throws `usage.argument` if an option has no value, for example because a shell variable is not set.
    static func rearranged(_ arguments: [String]) throws(PushError) -> [String] {
        if isFlowPlan(arguments) {
            // An `--all` after `--` belongs to the flow.
            let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
            let own = arguments[..<end].filter { $0 != "--all" }
            let flow = try rearranged(["run"] + own.dropFirst() + arguments[end...]).dropFirst()
            return ["plan", "flow"] + (own.count < end ? ["--all"] : []) + flow
        }
        if arguments.first == "test" { return seeded(arguments) }
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
                    throw PushError("usage.argument", "\(argument): the value is missing", hint: "see pushhost run --help")
                }
                guard !value.isEmpty else { throw Self.empty(argument) }
                // Joined with "=", because a value may begin with a dash.
                host.append("\(argument)=\(value)")
                rest.removeFirst()
            } else if argument == "--" {
                flow += rest
                rest = []
            } else if file == nil, !argument.hasPrefix("-") || argument == "-" {
                file = argument
            } else if file == nil {
                // Only options of `run` may stand before FILE, so the parser reports this one.
                host.append(argument)
            } else {
                flow.append(argument)
            }
        }
        // After FILE, `--help` shows the flow's own help.
        if file != nil { host = host.map { $0 == "--help" || $0 == "-h" ? "--flow-help" : $0 } }
        return ["run"] + host + (file.map { [$0] } ?? []) + (flow.isEmpty ? [] : ["--"] + flow)
    }

    /// The arguments of `test` with a random seed after each `--randomize` that has none: the parser's options always have a value.
    static func seeded(_ arguments: [String], random: any RandomSource = SystemRandom()) -> [String] {
        arguments.enumerated().map { index, argument in
            let isSeeded = index + 1 < arguments.count && arguments[index + 1].allSatisfy(\.isNumber)
            return argument == "--randomize" && !isSeeded ? "\(argument)=\(random.next() % 1_000_000)" : argument
        }
    }

    /// Whether the command is `plan FILE`, where FILE is a Lua file or a plugin's flow and neither a text nor a subcommand.
    private static func isFlowPlan(_ arguments: [String]) -> Bool {
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
        PushError("usage.argument", "\(option): the value is empty", hint: "see pushhost run --help")
    }

    /// Parses `--user alice --loud --text=hi` into names and values. Throws the first argument that is not an option.
    static func options(_ arguments: [String]) throws(UnexpectedArgument) -> [(name: String, value: String?)] {
        var options: [(name: String, value: String?)] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--"), argument.count > 2 else { throw UnexpectedArgument(text: argument) }
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

    struct UnexpectedArgument: Error {
        let text: String
    }
}

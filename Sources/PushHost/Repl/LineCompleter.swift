import Bindings
import Lua

/// Completes names of a session.
struct LineCompleter: Sendable {
    let flow: InteractiveFlow
    let registry: BindingRegistry

    /// Completes the name at the end of the last line, where the cursor is.
    func completion(of lines: [String]) async -> Completion? {
        guard let context = CompletionContext(lines) else { return nil }
        func fitting(_ typed: String, _ names: [String]) -> Completion {
            Completion(typed: typed, names: names.filter { $0.hasPrefix(typed) })
        }
        switch context {
        case .name(let typed):
            guard !typed.isEmpty, case .names(let globals) = await flow.members(of: [], beginningWith: typed) else { return nil }
            return fitting(typed, Set(globals + Self.keywords).sorted())
        case .member(let path, let isMethod, let typed):
            switch await flow.members(of: path, beginningWith: typed) {
            case .names(let names): return fitting(typed, names.sorted())
            case .handle(let type): return fitting(typed, isMethod ? methods(of: type) : [])
            }
        case .key(let callee, let given, let typed):
            guard let binding = await binding(callee) else {
                return typed.isEmpty ? nil : await completion(of: [typed])
            }
            let parameters = binding.parameters.dropFirst(callee.hasLeading ? 1 : 0).map(\.name).filter { !given.contains($0) }
            return fitting(typed, parameters.map { "\($0) = " })
        }
    }

    private static let keywords = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
        "repeat", "return", "then", "true", "until", "while",
    ]

    private func methods(of type: String) -> [String] {
        registry.bindings.filter { $0.receiver == type }.map(\.shortName).sorted()
    }

    /// The called binding, if it accepts a table of named parameters in this position.
    private func binding(_ callee: CompletionContext.Callee) async -> Binding? {
        var name = callee.path.joined(separator: ".")
        if callee.isMethod, let method = callee.path.last {
            guard case .handle(let type) = await flow.members(of: callee.path.dropLast()) else { return nil }
            name = "\(type):\(method)"
        }
        guard let binding = registry.binding(named: name) else { return nil }
        return binding.style == (callee.hasLeading ? .leading : .table) ? binding : nil
    }
}

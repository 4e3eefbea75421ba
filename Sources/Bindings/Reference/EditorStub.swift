/// The `push` module for lua-language-server: definitions without bodies, from which editors complete, check and explain.
///
/// Its annotations are described at https://luals.github.io/wiki/annotations/.
package enum EditorStub {
    package static var text: String {
        var lines = [
            "---@meta push",
            "",
            "-- The push module, for editors. Written by pushhost from its own descriptions: do not edit.",
            "-- pushhost reference stubs > types/push.lua writes it anew.",
            "",
        ]
        for type in BindingRegistry.types where !type.values.isEmpty { lines += alias(type) }
        for type in BindingRegistry.types where type.values.isEmpty { lines += self.class(type) }
        lines += ["---Push-notification flows: pushhost explain NAME tells more.", "---@class push", "local push = {}", ""]
        var spaces: Set<String> = []
        for binding in BindingRegistry.all where binding.receiver == nil {
            if let space = binding.space, spaces.insert(space).inserted { lines += ["---@class \(space)", "\(space) = {}", ""] }
            lines += definition(binding, as: binding.name)
        }
        return (lines + ["return push", ""]).joined(separator: "\n")
    }

    private static func alias(_ type: TypeDescription) -> [String] {
        ["---\(type.summary)", "---@alias \(type.name)"] + type.values.map { "---| \"\($0)\"" } + [""]
    }

    private static func `class`(_ type: TypeDescription) -> [String] {
        var lines = ["---\(type.summary)", "---@class \(type.name)"]
        for field in type.fields {
            lines.append("---@field \(field.name)\(field.isOptional ? "?" : "") \(field.type) # \(field.summary)")
        }
        if type.isCallable { lines.append("---@overload fun(...: any)") }
        let methods = type.methods
        guard !methods.isEmpty else { return lines + [""] }
        lines += ["local \(type.shortName) = {}", ""]
        return lines + methods.flatMap { definition($0, as: "\(type.shortName):\($0.shortName)") }
    }

    /// A binding under the name by which the stub reaches it: `push.send`, `Session:register`.
    private static func definition(_ binding: Binding, as name: String) -> [String] {
        if let type = BindingRegistry.types.first(where: { $0.isCallable && $0.name.lowercased() == binding.name }) {
            return comment(binding) + ["---@type \(type.name)", "\(name) = nil", ""]
        }
        switch binding.style {
        case .value:
            return comment(binding) + ["---@type \(binding.returns?.type ?? "any")", "\(name) = nil", ""]
        case .table, .leading:
            let options = "\(name.hasPrefix("push.") ? "" : "push.")\(name.replacing(":", with: ".")).Options"
            let leading = binding.style == .leading ? Array(binding.parameters.prefix(1)) : []
            let named = Array(binding.parameters.dropFirst(leading.count))
            var lines = ["---@class (exact) \(options)"]
            for parameter in named {
                lines.append("---@field \(parameter.mark) \(parameter.type.annotation) # \(parameter.summary)")
            }
            let required = named.filter(\.isRequired)
            lines += [""] + comment(binding) + leading.map(parameter)
            lines += ["---@param options\(required.isEmpty ? "?" : "") \(options)"] + returns(binding)
            if leading.isEmpty, required.count == 1, let alone = required.first {
                // Arguments lets the one required value stand alone.
                let receiver = binding.receiver.map { "self: \(ParameterType.object($0).annotation), " } ?? ""
                let result = binding.returns.map { ": \($0.type)" } ?? ""
                lines.append("---@overload fun(\(receiver)\(alone.name): \(alone.type.annotation))\(result)")
            }
            return lines + ["function \(name)(\((leading.map(\.name) + ["options"]).joined(separator: ", "))) end", ""]
        case .positional:
            let parameters = binding.parameters.map(parameter)
            let names = binding.parameters.map { $0.isVariadic ? "..." : $0.name }.joined(separator: ", ")
            return comment(binding) + parameters + returns(binding) + ["function \(name)(\(names)) end", ""]
        }
    }

    private static func parameter(_ parameter: Parameter) -> String {
        "---@param \(parameter.mark) \(parameter.type.annotation) # \(parameter.summary)"
    }

    private static func comment(_ binding: Binding) -> [String] {
        let example = ["---```lua"] + binding.example.split(separator: "\n").map { "---\($0)" } + ["---```"]
        let errors = binding.errors.isEmpty ? [] : ["---", "---Errors: \(binding.errors.joined(separator: ", "))"]
        return ["---\(binding.summary)"] + errors + example
    }

    private static func returns(_ binding: Binding) -> [String] {
        guard let returns = binding.returns else { return [] }
        return returns.results.map { "---@return \($0)" }
    }
}

extension Binding {
    /// `push.tag` for `push.tag.user`; nil for what is in `push` itself or has a receiver.
    package var space: String? {
        guard receiver == nil, let dot = name.lastIndex(of: "."), name[..<dot] != "push" else { return nil }
        return String(name[..<dot])
    }
}

extension Binding.Returns {
    /// The types of several results: "any, push.Error?" are two.
    fileprivate var results: [String] {
        var depth = 0
        return type.split { sign in
            if "<{(".contains(sign) { depth += 1 }
            if ">})".contains(sign) { depth -= 1 }
            return sign == "," && depth == 0
        }.map { String($0.drop { $0 == " " }) }
    }
}

extension Parameter {
    /// Takes the place of any number of further arguments.
    package var isVariadic: Bool { name == "…" }

    /// The name in an annotation, with a question mark where it may be left out.
    fileprivate var mark: String { isVariadic ? "..." : "\(name)\(isRequired ? "" : "?")" }
}

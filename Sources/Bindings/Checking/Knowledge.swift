import LuaSyntax

/// The static knowledge about the value of an expression.
indirect enum Knowledge: Sendable {
    case unknown
    case value(SourceValue)
    /// A namespace: `push`, `push.tag`.
    case namespace(String)
    case binding(Binding)
    /// A value of a type that bindings return: `push.Session`.
    case instance(String)
    case list(Knowledge)
    /// A table with any keys and values of one kind.
    case dictionary(Knowledge)
    /// A function of the script.
    case function(results: Knowledge)
    /// A standard library of Lua: `string`.
    case library(String)
    case require
    /// `ipairs` or `pairs`.
    case iteration
    /// The result of `ipairs` or `pairs` for a table.
    case iterated(Knowledge)
    /// The result of `push.args`, with its keys.
    case options([String])
}

extension Knowledge {
    /// The result of a function with these return values: one type, or nil.
    static func merged(_ results: [Knowledge]) -> Knowledge {
        var found: String?
        for result in results {
            switch result {
            case .instance(let name) where found == nil || found == name: found = name
            case .value(let value) where value.content.isNil: continue
            default: return .unknown
            }
        }
        return found.map(Knowledge.instance) ?? .unknown
    }

    var isNil: Bool {
        if case .value(let value) = self { value.content.isNil } else { false }
    }

    var binding: Binding? {
        if case .binding(let binding) = self { binding } else { nil }
    }

    var isUnknown: Bool {
        if case .unknown = self { true } else { false }
    }

    /// The value as an argument that is written at `range`.
    func argument(at range: Range<Int>, _ vocabulary: Vocabulary) -> SourceValue {
        switch self {
        case .value(let value): return value.moved(to: range)
        case .binding, .function: return SourceValue(.function, at: range)
        case .instance(let name):
            if let handle = vocabulary.handle(of: name) { return SourceValue(.object(type: handle), at: range) }
            let isTable = vocabulary.type(named: name)?.isCallable == false
            return SourceValue(isTable ? .table(array: [], fields: [:], isComplete: false) : .unknown, at: range)
        case .list, .dictionary: return SourceValue(.table(array: [], fields: [:], isComplete: false), at: range)
        case .unknown, .namespace, .library, .require, .iteration, .iterated, .options: return SourceValue(.unknown, at: range)
        }
    }
}

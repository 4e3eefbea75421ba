import LuaSyntax

/// What is known about the value of an expression.
indirect enum Knowledge: Sendable {
    case unknown
    case value(SourceValue)
    /// `push`, `push.tag`.
    case namespace(String)
    case binding(Binding)
    /// Something of a type that bindings return: `push.Session`.
    case instance(String)
    case list(Knowledge)
    /// A table with any keys and such values.
    case dictionary(Knowledge)
    /// A function of the script.
    case function(results: Knowledge)
    /// A library of Lua: `string`.
    case library(String)
    case require
    /// `ipairs` and `pairs`: what they are given is gone through.
    case iteration
    /// What they return for a table.
    case iterated(Knowledge)
    /// What `push.args` returns: its keys.
    case options([String])
}

extension Knowledge {
    /// What a function returns that returns these: one type, or nil.
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

    /// The value as an argument of a call that stands at a place.
    func argument(at range: Range<Int>, _ vocabulary: Vocabulary) -> SourceValue {
        switch self {
        case .value(let value): return value.moved(to: range)
        case .binding, .function: return SourceValue(.function, at: range)
        case .instance(let name):
            if let handle = vocabulary.handle(of: name) { return SourceValue(.object(type: handle), at: range) }
            let isTable = vocabulary.type(named: name)?.isCallable == false
            return SourceValue(isTable ? .table(array: [], fields: [:], isWhole: false) : .unknown, at: range)
        case .list, .dictionary: return SourceValue(.table(array: [], fields: [:], isWhole: false), at: range)
        case .unknown, .namespace, .library, .require, .iteration, .iterated, .options: return SourceValue(.unknown, at: range)
        }
    }
}

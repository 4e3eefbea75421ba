import Lua
import PushModel

// Checks the contents of texts and numbers: at run time when they are used, in `pushhost check` before any run.

extension ParameterType {
    /// Throws an error if a value of the right type has invalid content: `args.*`, `tag.*`, `tag_expression.*`, `template.*`. Callers skip
    /// parts that are unknown.
    func examine(_ value: LuaValue, named name: String, of function: String) throws(LuaError) {
        switch (self, value) {
        case (.duration, _): _ = try Duration(argument: value, named: name, of: function)
        case (.time, _): _ = try Timestamp(argument: value, named: name, of: function)
        case (.platform, .string(let text)): _ = try Platform.named(text, key: name)
        case (.audience, .string(let text)): _ = try TagExpression(audience: text)
        case (.tagExpression, .string(let text)): _ = try TagExpression(argument: text)
        case (.tag, .string(let text)): _ = try Tag(argument: text)
        case (.template, .string(let body)):
            do throws(TemplateError) {
                _ = try Template(compiling: body)
            } catch {
                throw LuaError(PushError(error, in: body))
            }
        default: break
        }
    }
}

extension Duration {
    /// The longest duration in seconds: 100 years. Anything longer is a mistake.
    private static let longest: Double = 100 * 366 * 86_400

    /// Reads a duration. Throws `args.duration`.
    init(argument value: LuaValue, named name: String, of function: String) throws(LuaError) {
        switch value {
        case .integer(let seconds) where seconds >= 0 && Double(seconds) <= Self.longest: self = .seconds(seconds)
        case .number(let seconds) where seconds >= 0 && seconds <= Self.longest: self = .seconds(seconds)
        case .string(let text) where Duration(parsing: text) != nil: self = Duration(parsing: text) ?? .zero
        default:
            throw .misuse(
                "args.duration", "\(function): \"\(name)\" must be a duration, got \(value.phrase)",
                hint: "write \"500ms\", \"90s\", \"5m\", \"1h30m\", \"3d\" or a number of seconds; the longest is \"36600d\"",
                details: ["key": .string(name)])
        }
    }

    /// Parses `500ms`, `90s`, `5m`, `1h30m`, `3d` or `1.5s`; nil for anything else.
    package init?(parsing text: String) {
        var total: Double = 0
        var rest = text[...]
        var parts = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard let value = Double(digits) else { return nil }
            rest.removeFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest.removeFirst(unit.count)
            switch unit {
            case "ms": total += value / 1000
            case "s": total += value
            case "m", "min": total += value * 60
            case "h": total += value * 3600
            case "d": total += value * 86_400
            case "w": total += value * 604_800
            default: return nil
            }
            parts += 1
        }
        guard parts > 0, total <= Duration.longest else { return nil }
        self = .milliseconds(Int64((total * 1000).rounded()))
    }
}

extension Timestamp {
    /// Reads a time. Throws `args.time`.
    init(argument value: LuaValue, named name: String, of function: String) throws(LuaError) {
        switch value {
        case .integer(let seconds) where (-(1 << 40)...(1 << 40)).contains(seconds): self = Timestamp(seconds: seconds)
        case .number(let seconds) where abs(seconds) < 1e12: self = Timestamp(milliseconds: Int64(seconds * 1000))
        case .string(let text):
            guard let time = Timestamp(iso8601: text) else { fallthrough }
            self = time
        default:
            throw .misuse(
                "args.time", "\(function): \"\(name)\" must be a time, got \(value.phrase)",
                hint: "write ISO 8601, such as \"2026-01-05T09:00:00Z\", or a number of seconds",
                details: ["key": .string(name)])
        }
    }
}

extension Platform {
    /// Finds a platform by name. Throws `args.platform`; `key` is the argument that the error refers to.
    static func named(_ name: String, key: String = "platform") throws(LuaError) -> Platform {
        if let platform = Platform(name: name) { return platform }
        let near = nearestName(to: name)
        let isRetired = name.lowercased() == "mpns"
        throw .misuse(
            "args.platform", "unknown platform \"\(name)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
            hint:
                "\(isRetired ? "MPNS, the service of Windows Phone, was shut down; " : "")use \(spellings.joined(separator: ", "))",
            details: ["key": .string(key), "name": .string(name)])
    }
}

extension Tag {
    /// Parses a tag. Throws `tag.invalid`.
    init(argument text: String) throws(LuaError) {
        do throws(TagError) {
            try self.init(text)
        } catch {
            throw LuaError(PushError(error))
        }
    }
}

extension TagExpression {
    /// Parses a tag expression. Throws `tag_expression.invalid`.
    init(argument text: String) throws(LuaError) {
        do throws(TagExpressionError) {
            try self.init(parsing: text)
        } catch {
            throw LuaError(PushError(error))
        }
    }

    /// Parses the non-empty value of `to`. Throws `tag_expression.invalid`.
    init(audience text: String) throws(LuaError) {
        do throws(LuaError) {
            try self.init(argument: text)
        } catch {
            var error = error
            if text.filter({ !$0.isWhitespace }) == "*" { error.hint = "to send to all devices, write push.everyone" }
            throw error
        }
    }
}

extension Duration {
    /// Parses a positive duration such as `500ms`, `30s`, `5m` or `1h`; a bare number is in seconds. Nil if it is invalid.
    package init?(positive text: String) {
        guard let duration = Duration(parsing: text) ?? Duration(parsing: "\(text)s"), duration > .zero else { return nil }
        self = duration
    }
}

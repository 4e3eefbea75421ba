/// The fields of a request body.
struct JSONObject {
    private let value: JSONValue

    /// Throws `simulator.request` if the body is not a JSON object.
    init(_ body: [UInt8]) throws(ControlRefusal) {
        guard let value = JSONValue(body), value.members != nil else {
            throw .request("the body is not a JSON object", hint: "write {\"name\": \"value\"}")
        }
        self.value = value
    }

    func check(allowing names: [String]) throws(ControlRefusal) {
        guard let stranger = value.members?.first(where: { !names.contains($0.name) }) else { return }
        throw .request("unknown field \"\(stranger.name)\"", hint: "use \(names.joined(separator: ", "))")
    }

    /// A required string.
    func text(_ name: String) throws(ControlRefusal) -> String {
        guard let text = try optionalText(name), !text.isEmpty else {
            throw .request("\"\(name)\" is missing", hint: "give a string")
        }
        return text
    }

    func optionalText(_ name: String) throws(ControlRefusal) -> String? {
        guard let member = value[name], member != .null else { return nil }
        guard let text = member.string, text.utf8.count <= Self.longestText else {
            throw .request("\"\(name)\" is not a string of at most \(Self.longestText) bytes", hint: "give a shorter string")
        }
        return text
    }

    /// - Parameter least: Smallest valid value, 0 or 1.
    func optionalNumber(_ name: String, from least: Int64 = 1, hint: String) throws(ControlRefusal) -> Int? {
        guard let member = value[name], member != .null else { return nil }
        guard let number = member.integer, (least...1_000_000).contains(number) else {
            throw .request("\"\(name)\" is not a number from \(least) to 1000000", hint: hint)
        }
        return Int(number)
    }

    /// A share above 0, at most 1.
    func optionalShare(_ name: String) throws(ControlRefusal) -> Double? {
        guard let member = value[name], member != .null else { return nil }
        guard case .number(let text) = member, let share = Double(text), share > 0, share <= 1 else {
            throw .request("\"\(name)\" is not a number above 0 and up to 1", hint: "0.01 affects one of a hundred, at random")
        }
        return share
    }

    /// Seconds; negative values are in the past.
    func optionalSeconds(_ name: String) throws(ControlRefusal) -> Int64? {
        guard let member = value[name], member != .null else { return nil }
        guard let seconds = member.integer, (-86_400...315_360_000).contains(seconds) else {
            throw .request("\"\(name)\" is not a number of seconds", hint: "give seconds, from -86400 on")
        }
        return seconds
    }

    func optionalEnvironment(_ name: String) throws(ControlRefusal) -> APNsEnvironment? {
        guard let word = try optionalText(name) else { return nil }
        guard let environment = APNsEnvironment(rawValue: word) else {
            throw .request("unknown environment \"\(word)\"", hint: "use production or development")
        }
        return environment
    }

    /// A list of 1 to 32 strings.
    func optionalTexts(_ name: String) throws(ControlRefusal) -> [String]? {
        guard let member = value[name], member != .null else { return nil }
        let texts = (member.elements ?? []).compactMap(\.string).filter { !$0.isEmpty && $0.utf8.count <= 255 }
        guard let count = member.elements?.count, count == texts.count, (1...32).contains(count) else {
            throw .request("\"\(name)\" is not a list of 1 to 32 strings", hint: "write [\"com.example.app\"]")
        }
        return texts
    }

    private static let longestText = 4096
}

extension ControlRefusal {
    /// Error for an invalid request.
    static func request(_ message: String, hint: String) -> ControlRefusal {
        ControlRefusal(400, "simulator.request", message, hint: hint)
    }
}

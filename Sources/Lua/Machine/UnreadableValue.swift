import CLua

/// A script value that cannot be converted for the host. The code that wanted it adds the function for which it was meant.
struct UnreadableValue: Error {
    /// The path to the value, or the path within the argument if `index` is given.
    var path: String
    /// What is wrong, as the predicate of a sentence.
    let reason: String
    let hint: String
    /// Its index on the call's stack, for a typed function that could not read it.
    var index: Int32?

    init(_ path: String, _ reason: String, hint: String) {
        self.path = path
        self.reason = reason
        self.hint = hint
    }

    /// The script error for an argument of a function.
    func error(in function: String) -> LuaError { error("\(path) of \(function)") }

    /// The script error for an argument of a typed function. Reads the arguments again to find the value.
    func error(in function: String, calledBy L: OpaquePointer) -> LuaError {
        guard let index else { return error(in: function) }
        let (argument, way) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            buffer[0] = 0
            return (clua_find_argument(L, index, buffer.baseAddress, buffer.count), buffer.baseAddress.map { String(cString: $0) } ?? "")
        }
        guard argument > 0 else { return error("an argument of \(function)") }
        return error("\(Self.argument(Int(argument), of: function))\(way)\(path) of \(function)")
    }

    /// The script error outside of any function call.
    var error: LuaError { error(path) }

    private func error(_ subject: String) -> LuaError { .misuse("value.unsupported", "\(subject) \(reason)", hint: hint) }

    /// `argument 1`, counted as the script counts: an object before a colon does not count.
    static func argument(_ number: Int, of function: String) -> String {
        guard function.contains(":") else { return "argument \(number)" }
        return number == 1 ? "the value before the colon" : "argument \(number - 1)"
    }
}

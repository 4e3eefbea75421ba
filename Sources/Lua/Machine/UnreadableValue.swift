import CLua

/// A value of a script that the host cannot be given. Whoever asked for it says which function it was meant for.
struct UnreadableValue: Error {
    /// The way to the value; to one of the arguments if `place` is given.
    var path: String
    /// What is wrong, as the end of a sentence.
    let reason: String
    let hint: String
    /// Where it stands on the stack of a call, for a typed function that could not read it.
    var place: Int32?

    init(_ path: String, _ reason: String, hint: String) {
        self.path = path
        self.reason = reason
        self.hint = hint
    }

    /// What a script is told, of an argument of a function.
    func error(in function: String) -> LuaError { error("\(path) of \(function)") }

    /// What a script is told by a typed function, which ends with it: its arguments are read again to find the value.
    func error(in function: String, calledBy L: OpaquePointer) -> LuaError {
        guard let place else { return error(in: function) }
        let (argument, way) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { room in
            room[0] = 0
            return (clua_find_argument(L, place, room.baseAddress, room.count), room.baseAddress.map { String(cString: $0) } ?? "")
        }
        guard argument > 0 else { return error("an argument of \(function)") }
        return error("\(Self.argument(Int(argument), of: function))\(way)\(path) of \(function)")
    }

    /// What a script is told where no function is involved.
    var error: LuaError { error(path) }

    private func error(_ subject: String) -> LuaError { .misuse("value.unsupported", "\(subject) \(reason)", hint: hint) }

    /// `argument 1`, as the script counts: what stands before a colon is none.
    static func argument(_ number: Int, of function: String) -> String {
        guard function.contains(":") else { return "argument \(number)" }
        return number == 1 ? "what stands before the colon" : "argument \(number - 1)"
    }
}

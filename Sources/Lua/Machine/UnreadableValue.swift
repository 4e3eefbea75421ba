/// A value of a script that the host cannot be given. Whoever asked for it says which function it was meant for.
struct UnreadableValue: Error {
    /// The way to the value; to one of the arguments if `place` is given.
    var path: String
    /// What is wrong, as the end of a sentence.
    let reason: String
    let hint: String
    /// On the stack of a call: the way begins at the argument there, or at a part of one.
    var place: Int?

    init(_ path: String, _ reason: String, hint: String) {
        self.path = path
        self.reason = reason
        self.hint = hint
    }

    /// What a script is told, of an argument of a function that takes so many.
    func error(in function: String, argumentCount: Int) -> LuaError {
        guard let place else { return error("\(path) of \(function)") }
        let isWhole = place <= argumentCount
        return error("\(isWhole ? Self.argument(place, of: function) + path : "a part of the arguments") of \(function)")
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

/// A request to the control plane that cannot be granted.
struct ControlRefusal: Error {
    var status: Int
    var code: String
    /// One sentence without a full stop.
    var message: String
    var hint: String

    init(_ status: Int, _ code: String, _ message: String, hint: String) {
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// `{"code","message","hint"}`
    var answer: Answer {
        Simulators.answer(
            status, json: JSONValue(members: ["code": .string(code), "message": .string(message), "hint": .string(hint)]))
    }
}

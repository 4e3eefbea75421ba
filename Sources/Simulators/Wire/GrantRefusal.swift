/// A token request that the token endpoint of a service rejects (RFC 6749 section 5.2).
struct GrantRefusal: Error {
    var error: String
    var description: String

    init(_ error: String, _ description: String) {
        self.error = error
        self.description = description
    }

    /// 400 with `error` and `error_description`.
    var answer: Answer {
        Simulators.answer(
            400, json: JSONValue(members: ["error": .string(error), "error_description": .string(description)]))
    }
}

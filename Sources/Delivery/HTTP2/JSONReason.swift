import PushCore

/// What a service says in a GOAWAY frame: a JSON object with a `reason`, or any text.
enum JSONReason {
    static func text(_ bytes: [UInt8]) -> String {
        JSON(answer: bytes)?["reason"]?.string?.excerpt ?? String(decoding: bytes, as: UTF8.self).excerpt
    }
}

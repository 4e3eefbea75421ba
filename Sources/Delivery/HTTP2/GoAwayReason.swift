import PushModel

/// The debug data of a GOAWAY frame as text: the `reason` of a JSON object, or the text itself.
enum GoAwayReason {
    static func text(_ bytes: [UInt8]) -> String {
        JSON(answer: bytes)?["reason"]?.string?.excerpt ?? String(decoding: bytes, as: UTF8.self).excerpt
    }
}

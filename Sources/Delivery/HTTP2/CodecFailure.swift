/// The reason why a codec cannot continue.
enum CodecFailure: Error {
    /// The connection has used all its stream identifiers (RFC 9113, section 5.1.1).
    case streamsExhausted
    case library(Int)
}

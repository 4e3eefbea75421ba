/// An event of the codec, reported after reading or writing: handlers are never called from within the parser.
enum CodecEvent {
    /// The stream of this slot has ended, with an HTTP/2 error code.
    case ended(slot: Int32, stream: Int32, code: UInt32)
    /// The peer accepts no new requests, for this reason.
    case goAway(String)
    /// The peer answered the PING.
    case alive
}

import NIOCore

/// An event of the codec, reported after reading or writing: handlers are never called from within the parser.
enum CodecEvent {
    /// The stream of this slot has ended, with an HTTP/2 error code.
    case ended(slot: Int32, stream: Int32, code: UInt32)
    /// The peer accepts no new requests, for this reason.
    case goAway(String)
    /// The peer answered the PING.
    case alive
}

enum CodecFailure: Error {
    /// The connection has used all its stream identifiers (RFC 9113, section 5.1.1).
    case streamsExhausted
    case library(Int)
}

/// The streams on the client side of an HTTP/2 connection. Confined to one handler.
protocol StreamCodec: AnyObject {
    /// The peer's limit of concurrent streams: 1 until it sends SETTINGS, then its latest value.
    var peerLimit: Int { get }

    /// Swaps the recorded events with an empty list.
    func exchangeEvents(with other: inout [CodecEvent])
    /// Starts the request of the ticket in the slot.
    func submit(_ slot: Int32) throws(CodecFailure)
    /// Cancels a stream whose request was released.
    func cancel(stream: Int32)
}

/// The client side of an HTTP/2 connection, without I/O. Confined to one handler.
protocol PushCodec: StreamCodec {
    /// Whether nothing is left to read or write.
    var isFinished: Bool { get }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(CodecFailure)
    /// Writes frames until none is left, or until `out` has `limit` bytes or more.
    func write(to out: inout ByteBuffer, limit: Int) throws(CodecFailure)
    func ping()
    /// Sends GOAWAY: no more streams follow.
    func goAway()
}

/// The HTTP/2 error codes that are handled here (RFC 9113, section 7).
enum ErrorCode {
    static let refusedStream: UInt32 = 7
}

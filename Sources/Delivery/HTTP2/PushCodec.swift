import NIOCore

/// What a codec has seen, told after it has read or written: nobody is called from within its parser.
enum CodecEvent {
    /// The stream of this slot is over, with an error code of HTTP/2.
    case ended(slot: Int32, stream: Int32, code: UInt32)
    /// The peer takes no new requests; what it said about it.
    case goAway(String)
    /// The peer answered our PING.
    case alive
}

enum CodecFailure: Error {
    /// The connection has used all its stream identifiers (RFC 9113, section 5.1.1).
    case streamsExhausted
    case library(Int)
}

/// The client's half of an HTTP/2 connection, without any input or output of its own. Belongs to one handler.
protocol PushCodec: AnyObject {
    /// How many requests the peer takes at a time: 1 until it has told, then what it told last.
    var peerLimit: Int { get }
    /// Nothing more will come or go.
    var isFinished: Bool { get }

    /// Gives away what was seen since the last call, and takes an empty list in its place.
    func exchangeEvents(with other: inout [CodecEvent])
    /// Begins a request for the ticket in the slot.
    func submit(_ slot: Int32) throws(CodecFailure)
    func receive(_ bytes: UnsafeRawBufferPointer) throws(CodecFailure)
    /// Writes frames until there are none, or until `out` has `limit` bytes or more.
    func write(to out: inout ByteBuffer, limit: Int) throws(CodecFailure)
    /// Ends a stream that nobody waits for any more.
    func cancel(stream: Int32)
    func ping()
    /// Says goodbye: no stream follows.
    func goAway()
}

/// Error codes that decide something here (RFC 9113, section 7).
enum ErrorCode {
    static let refusedStream: UInt32 = 7
}

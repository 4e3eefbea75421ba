import NIOCore

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

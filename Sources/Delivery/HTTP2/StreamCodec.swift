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

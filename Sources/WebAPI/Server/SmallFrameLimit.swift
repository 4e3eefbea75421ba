import NIOCore

/// Limits the small DATA frames of an HTTP/2 connection that do not end a request. Each costs the server as much as a large one.
struct SmallFrameLimit {
    /// Size in bytes below which a frame is small.
    static let bytes = 128
    /// Maximum number of small frames in one window.
    static let frames = 10_000
    static let window = TimeAmount.seconds(10)
    /// Number of small frames that each request adds to the maximum: many clients send a short body and the end of the request in two
    /// frames.
    static let perRequest = 8

    private var start: NIODeadline?
    private var count = 0

    mutating func noteRequest() { count = max(0, count - Self.perRequest) }

    /// Counts a small frame. Returns false if there were too many.
    mutating func allows(at now: NIODeadline) -> Bool {
        if start.map({ now - $0 >= Self.window }) ?? true { (start, count) = (now, 0) }
        count += 1
        return count <= Self.frames
    }
}

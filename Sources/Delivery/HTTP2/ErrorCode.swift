/// The HTTP/2 error codes that are handled here (RFC 9113, section 7).
enum ErrorCode {
    static let refusedStream: UInt32 = 7
}

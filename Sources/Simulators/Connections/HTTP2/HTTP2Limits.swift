package import NIOCore

/// The SETTINGS that a server announces, and the limits that it enforces.
package struct HTTP2Limits: Sendable {
    /// SETTINGS_HEADER_TABLE_SIZE in bytes (RFC 9113 section 6.5.2). The next three are also SETTINGS.
    package var headerTableSize: UInt32 = 4096
    package var initialWindowSize: UInt32 = 65_535
    package var largestFrame: UInt32 = 16_384
    /// Bytes of names and values, plus 32 for each field; a larger list is answered with 431.
    package var largestHeaderList: UInt32 = 8000
    /// Maximum size of a request body, in bytes. A longer body is passed on, cut off, as soon as it exceeds this.
    package var largestBody = 65_536
    /// Number of bytes that are read and discarded after a cut-off body was passed on: clients read an early response more reliably if they
    /// may send to the end. A longer body is aborted once it is answered (RFC 9113 section 8.1).
    package var maximumDiscardedBody = 1_048_576
    /// Number of requests that a client may cancel, in addition to the number of answered ones, before the connection is closed
    /// (CVE-2023-44487).
    package var resetAllowance = 200
    /// Maximum time of a TLS handshake, with the choice of a protocol.
    package var handshakeTimeout = TimeAmount.seconds(15)
    /// Maximum time before the first request of an HTTP/2 connection.
    package var firstRequestTimeout = TimeAmount.seconds(75)

    package init() {}
}

/// A fatal connection error, with libnghttp2's error code (negative).
struct HTTP2Failure: Error, Equatable {
    var code: Int
}

/// What a server tells its clients of itself, and what it bears from them.
package struct HTTP2Limits: Sendable {
    /// SETTINGS_HEADER_TABLE_SIZE, bytes (RFC 9113 section 6.5.2), as the next three.
    package var headerTableSize: UInt32 = 4096
    package var initialWindowSize: UInt32 = 65_535
    package var largestFrame: UInt32 = 16_384
    /// Bytes of names and values, and 32 for each field; more is answered with 431.
    package var largestHeaderList: UInt32 = 8000
    /// Bytes of a request's body that are kept; a longer one is handed over cut off, as soon as it is known to be longer.
    package var largestBody = 65_536
    /// Bytes of a body that are read and thrown away after its request was handed over: clients read an early answer more reliably when
    /// they may send to the end. One that goes on is cut off once it is answered (RFC 9113 section 8.1).
    package var largestRemainder = 1_048_576
    /// How many requests a client may take back, beyond as many as were answered, before it is shown the door (CVE-2023-44487).
    package var resetAllowance = 200

    package init() {}
}

/// The connection cannot go on: the library's number, negative.
struct HTTP2Failure: Error, Equatable {
    var code: Int
}

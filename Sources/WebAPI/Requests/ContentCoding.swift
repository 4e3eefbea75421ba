import HubWire

/// The header Content-Encoding of a request (RFC 9110, section 8.4).
enum ContentCoding {
    /// The content codings of IANA's registry that change the bytes of a body. `identity` does not.
    private static let registered: Set = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip", "zstd",
    ]

    /// The first coding in a header that changes the body's bytes, in lower case; nil if there is none.
    ///
    /// Some client libraries put a character set there, such as `utf-8` or `"us-ascii"`. Unregistered codings are ignored.
    static func firstEncoded(in header: String) -> String? {
        header.split(separator: ",").lazy
            .map { item in item.prefix { $0 != ";" }.filter { $0 != "\"" && $0 != "'" }.trimmed.lowercased() }
            .first(where: registered.contains)
    }
}

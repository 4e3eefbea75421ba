import HubWire

/// The segments of a request's path, decoded one by one, so that an encoded slash stays part of its segment.
enum PathSegments {
    /// Several slashes count as one, because clients concatenate addresses.
    /// - Parameter path: The encoded path, without the query. The result is nil for a segment `.` or `..` and for control characters.
    static func decoded(_ path: String) -> [String]? {
        let texts = path.split(separator: "/").map { PercentEncoding.decode($0) }
        let isPlain = texts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && !$0.utf8.contains { $0 < 0x20 || $0 == 0x7f } }
        return isPlain ? texts : nil
    }

    /// Empty segments stay, because they make a path invalid in the JSON API. The first slash is not part of a segment.
    static func decodedWithEmptyOnes(_ path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { PercentEncoding.decode($0) }
    }
}

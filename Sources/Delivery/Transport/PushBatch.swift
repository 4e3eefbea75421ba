import PushCore

/// The same content for many devices: POST requests with the same headers and body, each with a path and an id of its own.
package struct PushBatch: Sendable {
    package let headers: HeaderTemplate
    package let body: [UInt8]
    /// All paths, one behind the other.
    private var paths: [UInt8] = []
    /// Where each path ends.
    private var ends: [Int] = []
    /// Value of `apns-id` for each; where a request has none, the template may.
    private var ids: [PushID?] = []

    /// - Parameter capacity: how many requests there will be; `pathSize` bytes of room for each one's path.
    package init(headers: HeaderTemplate, body: [UInt8], capacity: Int = 1, pathSize: Int = 80) {
        self.headers = headers
        self.body = body
        paths.reserveCapacity(capacity * pathSize)
        ends.reserveCapacity(capacity)
        ids.reserveCapacity(capacity)
    }

    package var count: Int { ends.count }
    package var isEmpty: Bool { ends.isEmpty }

    /// `path` appends the bytes of the request's path: visible ASCII.
    package mutating func append(id: PushID?, path: (inout [UInt8]) -> Void) {
        path(&paths)
        ends.append(paths.count)
        ids.append(id)
    }

    package func id(_ index: Int) -> PushID? { ids[index] }

    package func path(_ index: Int) -> String {
        withPath(index) { String(decoding: $0, as: UTF8.self) }
    }

    func withPath<Result>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        let start = index == 0 ? 0 : ends[index - 1]
        return try paths.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[start..<ends[index]])) }
    }

    /// Some of the requests with other headers and the same ids, in the order of `indexes`.
    package func subset(_ indexes: [Int], headers: HeaderTemplate) -> PushBatch {
        var subset = PushBatch(headers: headers, body: body, capacity: indexes.count)
        for index in indexes {
            subset.append(id: ids[index]) { bytes in withPath(index) { bytes.append(contentsOf: $0) } }
        }
        return subset
    }
}

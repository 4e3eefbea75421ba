import PushModel

/// One notification for many devices: POST requests with the same headers, each with its own path and id. All share one body, or each has
/// its own part between a common head and tail.
package struct PushBatch: Sendable {
    package let headers: HeaderTemplate
    private let bodies: PushBodies
    /// All paths, concatenated.
    private var paths: [UInt8] = []
    /// The end of each path.
    private var ends: [Int] = []
    /// The `apns-id` of each request; if it is `nil`, the template may have one.
    private var ids: [PushID?] = []

    /// - Parameter capacity: Expected number of requests; `pathSize` is the expected size of a path, in bytes.
    package init(headers: HeaderTemplate, body: [UInt8], capacity: Int = 1, pathSize: Int = 80) {
        self.init(headers: headers, bodies: PushBodies(shared: body), capacity: capacity, pathSize: pathSize)
    }

    /// - Parameter bodies: The bodies of all requests, in order.
    package init(headers: HeaderTemplate, bodies: PushBodies, capacity: Int = 1, pathSize: Int = 80) {
        self.headers = headers
        self.bodies = bodies
        paths.reserveCapacity(capacity * pathSize)
        ends.reserveCapacity(capacity)
        ids.reserveCapacity(capacity)
    }

    package var count: Int { ends.count }
    package var isEmpty: Bool { ends.isEmpty }

    /// Adds a request. `path` appends the bytes of its path: visible ASCII.
    package mutating func append(id: PushID?, path: (inout [UInt8]) -> Void) {
        path(&paths)
        ends.append(paths.count)
        ids.append(id)
    }

    package func id(_ index: Int) -> PushID? { ids[index] }

    package func path(_ index: Int) -> String {
        withPath(index) { String(decoding: $0, as: UTF8.self) }
    }

    package func body(_ index: Int) -> [UInt8] { bodies.body(index) }

    func bodySize(_ index: Int) -> Int { bodies.size(index) }

    /// See ``PushBodies/copy(_:from:to:capacity:)``.
    func copyBody(_ index: Int, from start: Int, to destination: UnsafeMutablePointer<UInt8>, capacity: Int) -> Int {
        bodies.copy(index, from: start, to: destination, capacity: capacity)
    }

    func withPath<Result>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        let start = index == 0 ? 0 : ends[index - 1]
        return try paths.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[start..<ends[index]])) }
    }

    /// Some of the requests with other headers and the same ids and bodies, in the order of `indexes`.
    package func subset(_ indexes: some Collection<Int>, headers: HeaderTemplate) -> PushBatch {
        var subset = PushBatch(headers: headers, bodies: bodies.subset(indexes), capacity: indexes.count)
        for index in indexes {
            subset.append(id: ids[index]) { bytes in withPath(index) { bytes.append(contentsOf: $0) } }
        }
        return subset
    }
}

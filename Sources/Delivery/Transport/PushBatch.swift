import PushCore

/// The same notification for many devices: POST requests with the same headers, each with a path and an id of its own. They share a
/// body, or have one each between a head and a tail that all of them have.
package struct PushBatch: Sendable {
    package let headers: HeaderTemplate
    private let bodies: PushBodies
    /// All paths, one behind the other.
    private var paths: [UInt8] = []
    /// Where each path ends.
    private var ends: [Int] = []
    /// Value of `apns-id` for each; where a request has none, the template may.
    private var ids: [PushID?] = []

    /// - Parameter capacity: how many requests there will be; `pathSize` bytes of room for each one's path.
    package init(headers: HeaderTemplate, body: [UInt8], capacity: Int = 1, pathSize: Int = 80) {
        self.init(headers: headers, bodies: PushBodies(shared: body), capacity: capacity, pathSize: pathSize)
    }

    /// - Parameter bodies: where requests have parts of their own, those of all requests in their order.
    package init(headers: HeaderTemplate, bodies: PushBodies, capacity: Int = 1, pathSize: Int = 80) {
        self.headers = headers
        self.bodies = bodies
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

    package func body(_ index: Int) -> [UInt8] { bodies.body(index) }

    func bodySize(_ index: Int) -> Int { bodies.size(index) }

    /// See ``PushBodies/copy(_:from:to:room:)``.
    func copyBody(_ index: Int, from start: Int, to place: UnsafeMutablePointer<UInt8>, room: Int) -> Int {
        bodies.copy(index, from: start, to: place, room: room)
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

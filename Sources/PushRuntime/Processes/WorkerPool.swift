/// Runs work items concurrently and reports the results in order, each as soon as all earlier ones are done.
package struct WorkerPool {
    package let size: Int

    package init(size: Int) {
        self.size = size
    }

    /// - Parameter report: Returns whether to continue. If not, the work in progress is cancelled, and its results are dropped.
    package func inOrder<Item: Sendable, Result: Sendable>(
        _ items: [Item], _ work: @escaping @Sendable (Item) async -> Result, report: (Result) -> Bool
    ) async {
        await withTaskGroup(of: (Int, Result).self) { group in
            var waiting = items.enumerated().makeIterator()
            var done: [Int: Result] = [:]
            var next = 0
            func start() {
                guard !Task.isCancelled, let (index, item) = waiting.next() else { return }
                group.addTask { (index, await work(item)) }
            }
            for _ in 0..<size { start() }
            while let (index, result) = await group.next() {
                done[index] = result
                start()
                while let result = done.removeValue(forKey: next) {
                    next += 1
                    guard report(result) else { return group.cancelAll() }
                }
            }
        }
    }
}

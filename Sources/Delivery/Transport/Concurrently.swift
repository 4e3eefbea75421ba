/// Computes the values for `0..<count` with at most `width` concurrent tasks, and returns them in order. With a width of 1 they are
/// computed one after the other, without new tasks.
func concurrently<Value: Sendable>(
    _ count: Int, width: Int, _ value: @escaping @Sendable (Int) async -> Value
) async -> [Value] {
    guard width > 1, count > 1 else {
        var values: [Value] = []
        values.reserveCapacity(count)
        for index in 0..<count { values.append(await value(index)) }
        return values
    }
    return await withTaskGroup(of: (Int, Value).self) { group in
        var values = [Value?](repeating: nil, count: count)
        for index in 0..<min(width, count) { group.addTask { (index, await value(index)) } }
        var next = width
        for await (index, made) in group {
            values[index] = made
            guard next < count else { continue }
            group.addTask { [next] in (next, await value(next)) }
            next += 1
        }
        return values.compactMap { $0 }
    }
}

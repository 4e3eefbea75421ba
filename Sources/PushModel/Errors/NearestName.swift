/// The candidate that `name` most likely stands for, for a "did you mean" message.
///
/// Compares without regard to case by edit distance, where swapping two neighbours counts once (optimal string
/// alignment, after Damerau). A candidate may differ by a third of the name, at least 1 and at most 3 edits.
/// Among equally close candidates, the alphabetically first is returned, so that the result does not depend on their order.
///
/// - Returns: the candidate as spelled in `candidates`; `nil` if none is near, or if the name is longer than 128 characters, which bounds
///   the work.
package func nearest(_ name: String, in candidates: some Sequence<String>) -> String? {
    let wanted = Array(name.lowercased())
    guard !wanted.isEmpty, wanted.count <= 128 else { return nil }
    let limit = min(max(wanted.count / 3, 1), 3, wanted.count - 1)
    let wantedBytes = foldedASCII(name)
    var best: (distance: Int, name: String)?
    for candidate in candidates {
        let distance: Int?
        // A character has at least one byte, so a candidate with too few bytes has too few characters.
        if candidate.utf8.count < wanted.count - limit { continue }
        // Most names are ASCII, where bytes are characters.
        if let wantedBytes, let bytes = foldedASCII(candidate) {
            distance = editDistance(wantedBytes, bytes, limit: limit)
        } else {
            distance = editDistance(wanted, Array(candidate.lowercased()), limit: limit)
        }
        guard let distance else { continue }
        if let found = best, (found.distance, found.name) <= (distance, candidate) { continue }
        best = (distance, candidate)
    }
    return best?.name
}

/// The bytes of a text in lower case; nil if it contains non-ASCII characters or a carriage return, which joins a line feed into one
/// character.
private func foldedASCII(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
        guard byte < 0x80, byte != 0x0d else { return nil }
        bytes.append((0x41...0x5a).contains(byte) ? byte | 0x20 : byte)
    }
    return bytes
}

/// Optimal string alignment distance; nil above `limit`. Keeps three rows of the table.
private func editDistance<Letter: Equatable>(_ first: [Letter], _ second: [Letter], limit: Int) -> Int? {
    guard abs(first.count - second.count) <= limit else { return nil }
    var left = first[...]
    var right = second[...]
    while let letter = left.first, letter == right.first {
        left.removeFirst()
        right.removeFirst()
    }
    while let letter = left.last, letter == right.last {
        left.removeLast()
        right.removeLast()
    }
    return alignment(Array(left), Array(right), limit: limit)
}

private func alignment<Letter: Equatable>(_ left: [Letter], _ right: [Letter], limit: Int) -> Int? {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
        var current = [row + 1]
        current.reserveCapacity(right.count + 1)
        for column in right.indices {
            let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
            var cost = min(last[column + 1] + 1, current[column] + 1, replaced)
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                cost = min(cost, beforeLast[column - 1] + 1)
            }
            current.append(cost)
        }
        // A swap looks back two rows, so the search ends when two rows exceed the limit.
        if let low = current.min(), let lowBefore = last.min(), low > limit, lowBefore > limit { return nil }
        beforeLast = last
        last = current
    }
    return last[right.count] <= limit ? last[right.count] : nil
}

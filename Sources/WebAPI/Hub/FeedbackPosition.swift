import PushModel

/// The position of a removed device in the feedback, as `sequence.ordinal` in the address of the next page.
struct FeedbackPosition {
    let position: RemovedDevice.Position

    init(_ position: RemovedDevice.Position) { self.position = position }

    init?(token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 2, let sequence = parts[0], let ordinal = parts[1] else { return nil }
        position = RemovedDevice.Position(sequence: sequence, ordinal: ordinal)
    }

    var token: String { "\(position.sequence).\(position.ordinal)" }
}

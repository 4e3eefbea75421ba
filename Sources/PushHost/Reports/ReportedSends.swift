import Bindings

/// The sends of a run in a report: those in steps, and those outside. A scheduled send is replaced by its result in constant time, however
/// many there are.
struct ReportedSends<ID: Hashable & Sendable>: Sendable {
    private struct Position: Sendable {
        /// Index of the step; nil outside of steps.
        let step: Int?
        let index: Int
    }

    private(set) var steps: [FlowStep] = []
    private(set) var outside: [FlowSend] = []
    private var positions: [ID: Position] = [:]
    /// The id of a send.
    private let id: @Sendable (FlowSend) -> ID

    init(id: @escaping @Sendable (FlowSend) -> ID) { self.id = id }

    mutating func append(_ send: FlowSend) {
        positions[id(send)] = Position(step: nil, index: outside.count)
        outside.append(send)
    }

    mutating func append(_ step: FlowStep) {
        for (index, send) in step.sends.enumerated() { positions[id(send)] = Position(step: steps.count, index: index) }
        steps.append(step)
    }

    /// Replaces a scheduled send by its result. Ignores a send that is not in the report.
    mutating func complete(_ send: FlowSend) {
        guard let position = positions[id(send)] else { return }
        if let step = position.step { steps[step].sends[position.index] = send } else { outside[position.index] = send }
    }
}

import PushModel

/// The steps of a run: how many there were, and which are open in each task.
struct StepLog: Sendable {
    private(set) var count = 0
    /// The open steps of each task, innermost last.
    private var open: [Int: [FlowStep]] = [:]
    /// The step in which each task was started.
    private var joined: [Int: Int] = [:]

    mutating func begin(_ name: String, task: Int, now: Timestamp) -> FlowStep {
        count += 1
        let step = FlowStep(
            id: count, depth: open[task, default: []].count, name: name, status: .passed, began: now, ended: now)
        open[task, default: []].append(step)
        return step
    }

    /// Ends an open step. Returns nil if it is not open.
    mutating func end(_ id: Int, task: Int, passed: Bool, shown: [ShownItem], now: Timestamp) -> FlowStep? {
        guard let index = open[task]?.lastIndex(where: { $0.id == id }), var step = open[task]?.remove(at: index) else { return nil }
        step.status = passed && step.failedExpectations == 0 && !step.containsFailure ? .passed : .failed
        step.ended = now
        step.shown = shown
        // A failed expectation also fails the enclosing steps, even if the script caught the error.
        if step.failedExpectations > 0 || step.containsFailure, let outer = open[task]?.indices.last {
            open[task]?[outer].containsFailure = true
        }
        if open[task]?.isEmpty == true { open[task] = nil }
        return step
    }

    mutating func skip(_ name: String, task: Int, reason: String, now: Timestamp) -> FlowStep {
        count += 1
        return FlowStep(
            id: count, depth: open[task]?.count ?? 0, name: name, status: .skipped, began: now, ended: now, reason: reason)
    }

    /// The innermost step of a task, its own or the one in which it was started; 0 for none.
    func current(of task: Int) -> Int { open[task]?.last?.id ?? joined[task] ?? 0 }

    /// Number of open steps around a task.
    func depth(of task: Int) -> Int {
        if let own = open[task]?.count, own > 0 { return own }
        guard let step = joined[task] else { return 0 }
        return open.values.lazy.compactMap { $0.first { $0.id == step }?.depth }.first.map { $0 + 1 } ?? 0
    }

    mutating func join(_ step: Int, task: Int) { joined[task] = step }

    /// Changes the current step of a task. Returns false if the task is in no step or the step has ended.
    mutating func change(task: Int, _ body: (inout FlowStep) -> Void) -> Bool {
        if let index = open[task]?.indices.last {
            body(&open[task, default: []][index])
            return true
        }
        guard let step = joined[task], let owner = open.first(where: { $0.value.contains { $0.id == step } })?.key,
            let index = open[owner]?.firstIndex(where: { $0.id == step })
        else { return false }
        body(&open[owner, default: []][index])
        return true
    }
}

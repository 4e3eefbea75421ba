import PushCore
import Synchronization

// Tests, flows inside of a flow, and lines at a prompt.
extension FlowRun {
    /// Notes a test of the script, and answers whether it is the one to run now.
    func declare(_ test: TestCase) -> Bool {
        state.withLock { state in
            state.tests.append(test)
            guard case .test(_, let name) = purpose else { return false }
            return test.fullName == name && !test.isPending
        }
    }

    var tests: [TestCase] { state.withLock { $0.tests } }

    /// The run of a flow inside this one: it knows the same phones by name, and shows what is new from here on.
    func child(_ script: FlowScript, parameters: FlowParameters, sink: @escaping @Sendable (FlowEvent) -> Void) -> FlowRun {
        let (number, devices) = state.withLock { state in
            state.children += 1
            return (state.children, state.devices)
        }
        let identity = Identity(run: "\(identity.run).\(number)", version: script.version)
        let child = FlowRun(
            script, runner: runner, identity: identity, parameters: parameters, origin: origin, seen: seen,
            withheld: withheld, sink: sink)
        child.state.withLock { $0.devices = devices }
        return child
    }

    /// Takes over what the run inside has learnt and shown.
    func absorb(_ child: FlowRun) {
        let inner = child.state.withLock { $0 }
        state.withLock { state in
            state.devices.merge(inner.devices) { $1 }
            state.delivered += inner.delivered
            state.noTargets += inner.noTargets
            state.expectations += inner.expectations - inner.failedCount
            state.planned += inner.planned
        }
    }

    /// Begins a line of an interactive flow: it may write as much as a whole run.
    func beginLine() { state.withLock { $0.logBytes = 0 } }

    /// The expectations that have failed since the last line. One without a matcher is no failure at a prompt.
    func takeFailedExpectations() -> [FailedExpectation] {
        state.withLock { state in
            defer { (state.failed, state.unsettled) = ([], [:]) }
            return state.failed
        }
    }
}

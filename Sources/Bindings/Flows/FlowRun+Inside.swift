import Lua
import PushModel
import Synchronization

// Tests, nested flows, and lines of an interactive session.
extension FlowRun {
    /// Records a test that the script declares. Returns whether it is the one to run now.
    func declare(_ test: TestCase) -> Bool {
        state.withLock { state in
            state.tests.append(test)
            guard case .test(_, let name) = purpose else { return false }
            return test.fullName == name && !test.isPending
        }
    }

    var tests: [TestCase] { state.withLock { $0.tests } }

    /// Allows sends of this test to reach no device.
    func allowNoTarget() { state.withLock { $0.allowsNoTarget = true } }

    /// The error for a test whose sends reached no device without the test allowing it.
    var unreachedTest: LuaError? {
        guard case .test = purpose else { return nil }
        guard let (audience, location) = state.withLock({ $0.allowsNoTarget ? nil : $0.firstNoTarget }) else { return nil }
        var error = LuaError(
            kind: .failure, code: "test.no_target", message: "the send to \"\(audience)\" reached no device",
            hint: "register a matching device, or call push.test.allow_no_target() in the test if this is expected")
        error.location = location
        error.annotations = ["run": identity.run, "script": identity.version]
        return error.masked(by: withheld)
    }

    /// Creates the run of a nested flow. It knows the same devices by name, and shows only what is new.
    func child(_ script: FlowScript, parameters: FlowParameters, sink: @escaping @Sendable (FlowEvent) -> Void) -> FlowRun {
        let (number, devices, registrations) = state.withLock { state in
            state.children += 1
            return (state.children, state.devices, state.registrations)
        }
        let identity = Identity(run: "\(identity.run).\(number)", version: script.version)
        let child = FlowRun(
            script, runner: runner, identity: identity, parameters: parameters, origin: origin, seen: seen,
            withheld: withheld, account: account, sink: sink)
        child.state.withLock { ($0.devices, $0.registrations) = (devices, registrations) }
        return child
    }

    /// Adds the state and counts of a nested run to this one.
    func absorb(_ child: FlowRun) {
        let inner = child.state.withLock { $0 }
        state.withLock { state in
            state.devices.merge(inner.devices) { $1 }
            state.delivered += inner.delivered
            state.registrations.merge(inner.registrations) { $1 }
            state.noTargets += inner.noTargets
            state.firstNoTarget = state.firstNoTarget ?? inner.firstNoTarget
            state.expectations += inner.expectations - inner.failedCount
            state.planned.append(contentsOf: inner.planned)
        }
    }

    /// Begins a line of an interactive flow. Each line has the budgets of a whole run.
    func beginLine() { account.renew() }

    /// Returns and clears the failed expectations of the last line. An expectation without a matcher does not fail in a session.
    func takeFailedExpectations() -> [FailedExpectation] {
        state.withLock { state in
            defer { (state.failed, state.unsettled) = ([], [:]) }
            return state.failed
        }
    }
}

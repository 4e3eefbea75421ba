import Lua
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

    /// Sends of this test may reach no device.
    func allowNoTarget() { state.withLock { $0.allowsNoTarget = true } }

    /// Why a test fails whose sends reached no device and that does not say that this is right.
    var unreachedTest: LuaError? {
        guard case .test = purpose else { return nil }
        guard let (audience, location) = state.withLock({ $0.allowsNoTarget ? nil : $0.firstNoTarget }) else { return nil }
        var error = LuaError(
            kind: .failure, code: "test.no_target", message: "the send to \"\(audience)\" reached no device",
            hint: "register a device that matches, or write push.test.allow_no_target() into the test if that is right")
        error.location = location
        error.annotations = ["run": identity.run, "script": identity.version]
        return error.masked(by: withheld)
    }

    /// The run of a flow inside this one: it knows the same phones by name, and shows what is new from here on.
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

    /// Takes over what the run inside has learnt and shown.
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

    /// Begins a line of an interactive flow: it may use as much as a whole run.
    func beginLine() { account.renew() }

    /// The expectations that have failed since the last line. One without a matcher is no failure at a prompt.
    func takeFailedExpectations() -> [FailedExpectation] {
        state.withLock { state in
            defer { (state.failed, state.unsettled) = ([], [:]) }
            return state.failed
        }
    }
}

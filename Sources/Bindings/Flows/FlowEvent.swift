import Lua
import PushCore

/// What a run tells while it goes, in order; the printed report and the JSON are made of these.
package enum FlowEvent: Sendable {
    case stepBegan(id: Int, depth: Int, name: String)
    case stepEnded(FlowStep)
    /// A send outside any step.
    case sent(FlowSend)
    /// How a send that was scheduled stands when the run is over.
    case settled(FlowSend)
    case shown([ShownItem])
    case log(level: String, text: String, location: SourceLocation?)
    case warning(FlowWarning)
    case core(CoreEvent)
    case crossed(WireExchange)
}

package struct FlowStep: Sendable {
    package enum Status: String, Sendable { case passed, failed, skipped }

    package var id: Int
    package var depth: Int
    package var name: String
    package var status: Status
    package var began: Timestamp
    package var ended: Timestamp
    /// The ids of registrations and installations that it made or changed.
    var registered: Set<String> = []
    package var registrations: Int { registered.count }
    package var expectations = 0
    package var failedExpectations = 0
    var containsFailure = false
    package var sends: [FlowSend] = []
    package var shown: [ShownItem] = []
    /// Why it was skipped.
    package var reason: String?
}

package struct FlowSend: Sendable {
    package var id: String
    package var audience: String
    package var state: String
    package var sent: Int
    package var failed: Int
    package var total: Int
    /// One line per device that did not get it: name or handle, outcome, reason, explanation.
    package var faults: [String]
    /// Devices that were left out, which are no failures.
    package var skips: [FlowSkip] = []
    /// What somebody should know of it: devices that wait for their moment.
    package var notices: [String] = []
    /// When it will be sent, if that is later.
    package var scheduledFor: Timestamp?
}

/// Devices that a notification left out, for one reason.
package struct FlowSkip: Sendable, Equatable {
    package var count: Int
    /// What a hook says; nil of duplicates: another registration with the same handle stood for them.
    package var reason: String?
}

/// What a simulated phone shows.
package struct ShownItem: Sendable, Equatable {
    package var device: String
    package var platform: Platform
    package var locale: String
    package var text: String
    package var time: Timestamp
}

package struct FlowWarning: Sendable {
    package var code: String
    package var message: String
    package var near: [String]
    package var location: SourceLocation?

    package init(code: String, message: String, near: [String], location: SourceLocation?) {
        self.code = code
        self.message = message
        self.near = near
        self.location = location
    }

    /// Of a backend that is not safe.
    package static let tutorialMode = FlowWarning(
        code: "auth.tutorial_mode", message: "tutorial mode is on: every user's name is a password of theirs", near: [],
        location: nil)
}

/// How a run ended.
package struct FlowReport: Sendable {
    package enum Verdict: Sendable {
        case passed
        /// An expectation or check failed, and the script went on to its end.
        case failed
        case raised(LuaError)
    }

    package var verdict: Verdict
    var hasRaised: Bool { if case .raised = verdict { true } else { false } }
    package var result: JSON?
    /// The same without what secure payloads hold that the run has read, and without its secret arguments.
    package var recordableResult: JSON?
    package var steps: Int
    package var expectations: Int
    package var failedExpectationCount: Int
    /// The first hundred.
    package var failedExpectations: [FailedExpectation]
    package var delivered: Int
    package var noTargets: Int
    package var began: Timestamp
    package var ended: Timestamp
}

package struct FailedExpectation: Sendable {
    package var message: String
    package var location: SourceLocation?
    package var expected: String? = nil
    package var actual: String? = nil
}

extension FlowEvent {
    /// As the flow outside tells it: below its own steps.
    func deeper(by depth: Int) -> FlowEvent {
        switch self {
        case .stepBegan(let id, let own, let name): return .stepBegan(id: id, depth: own + depth, name: name)
        case .stepEnded(var step):
            step.depth += depth
            return .stepEnded(step)
        default: return self
        }
    }
}

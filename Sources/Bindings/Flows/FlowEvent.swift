package import Lua
package import PushModel

/// An event of a run. The printed report and the JSON report are made from the events, in order.
package enum FlowEvent: Sendable {
    case stepStarted(id: Int, depth: Int, name: String)
    case stepEnded(FlowStep)
    /// A send outside of any step.
    case sent(FlowSend)
    /// The state of a scheduled send at the end of the run.
    case completed(FlowSend)
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
    /// Ids of registrations and installations that the step created or changed.
    var registered: Set<String> = []
    package var registrations: Int { registered.count }
    package var expectations = 0
    package var failedExpectations = 0
    var containsFailure = false
    package var sends: [FlowSend] = []
    package var shown: [ShownItem] = []
    /// Why the step was skipped.
    package var reason: String?
}

package struct FlowSend: Sendable {
    /// Numbers of devices.
    package struct Counts: Sendable {
        package var sent: Int
        package var failed: Int
        package var total: Int
    }

    package var id: String
    package var audience: String
    package var state: String
    package var counts: Counts
    /// One line per device that was not reached: name or handle, outcome, reason, explanation.
    package var faults: [String]
    /// Devices that were skipped, which is not a failure.
    package var skips: [FlowSkip] = []
    /// Notices for the operator, for example about devices that are deferred.
    package var notices: [String] = []
    /// When the notification is due, if it is scheduled.
    package var scheduledFor: Timestamp?
}

/// The level of detail of a report about sends and shown notifications.
package enum ReportDetail: Sendable {
    /// Only the ids of sends: for the record of a run on a server.
    case ids
    /// A few lines for each step, and for each send outside of steps.
    case summary
    /// Everything, for JSON.
    case full

    /// Maximum number of lines of one kind in a summary.
    package static let maximumLines = 12
}

/// Devices that a notification skipped for one reason.
package struct FlowSkip: Sendable, Equatable {
    package var count: Int
    /// The reason given by a hook. Nil for duplicates, whose handle another registration covers.
    package var reason: String?
}

/// A notification that a simulated device shows.
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

    /// The warning for a backend in tutorial mode, which is not secure.
    package static let tutorialMode = FlowWarning(
        code: "auth.tutorial_mode", message: "tutorial mode is on: each user's name is accepted as their password", near: [],
        location: nil)
}

/// The result of a run.
package struct FlowReport: Sendable {
    package enum Verdict: Sendable {
        case passed
        /// An expectation or check failed, but the script ran to its end.
        case failed
        case raised(LuaError)

        var hasRaised: Bool { if case .raised = self { true } else { false } }
    }

    package struct Expectations: Sendable {
        package var count: Int
        package var failedCount: Int
        /// The first hundred failures.
        package var failures: [FailedExpectation]
    }

    package struct Sends: Sendable {
        /// Pushes that reached a device.
        package var delivered: Int
        /// Sends that reached no device.
        package var noTargets: Int
    }

    package var verdict: Verdict
    var hasRaised: Bool { verdict.hasRaised }
    package var result: JSON?
    /// The result without the contents of secure payloads that the run has read, and without its secret arguments.
    package var recordableResult: JSON?
    package var steps: Int
    package var expectations: Expectations
    package var sends: Sends
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
    /// Approximate number of bytes that a trace prints for the event.
    package var traceSize: Int {
        switch self {
        case .core(let event): 40 + event.text.utf8.count
        case .crossed(let exchange):
            (exchange.request.headers + exchange.response.headers).reduce(
                100 + exchange.request.path.utf8.count + exchange.request.body.count + exchange.response.body.count
            ) { $0 + 12 + $1.name.utf8.count + $1.value.utf8.count }
        default: 0
        }
    }

    /// The event as the outer flow reports it: nested below its own steps.
    func deeper(by depth: Int) -> FlowEvent {
        switch self {
        case .stepStarted(let id, let own, let name): return .stepStarted(id: id, depth: own + depth, name: name)
        case .stepEnded(var step):
            step.depth += depth
            return .stepEnded(step)
        default: return self
        }
    }
}

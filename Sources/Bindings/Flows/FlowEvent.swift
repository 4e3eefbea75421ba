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

/// How much of sends and of what phones show a report has.
package enum ReportDetail: Sendable {
    /// The ids of sends: the record of a server's run.
    case ids
    /// A few lines for each step, and for each send outside of steps.
    case summary
    /// Everything: JSON.
    case full

    /// Lines of one kind that a summary has.
    package static let linesAtOnce = 12

    func size(of send: FlowSend) -> Int {
        switch self {
        case .ids: return send.id.utf8.count
        case .summary, .full:
            let lines = self == .full ? Int.max : Self.linesAtOnce
            let texts = [send.faults, send.notices, send.skips.map { $0.reason ?? "" }]
            return texts.reduce(160 + send.audience.utf8.count) { $1.prefix(lines).reduce($0) { $0 + 40 + $1.utf8.count } }
        }
    }

    /// A send in a step, which a summary counts and does not list.
    func sizeInStep(of send: FlowSend) -> Int { self == .full ? size(of: send) : 8 }

    func size(of items: [ShownItem]) -> Int {
        switch self {
        case .ids: 0
        case .summary, .full:
            items.prefix(self == .full ? .max : Self.linesAtOnce).reduce(items.isEmpty ? 0 : 40) {
                $0 + 60 + $1.device.utf8.count + $1.text.utf8.count
            }
        }
    }
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

        var hasRaised: Bool { if case .raised = self { true } else { false } }
    }

    package var verdict: Verdict
    var hasRaised: Bool { verdict.hasRaised }
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
    /// About as many bytes as a report prints of it. Texts of the log and names of steps are charged when the script gives them.
    ///
    func outputSize(in detail: ReportDetail) -> Int {
        switch self {
        case .stepBegan, .log, .core, .crossed: 0
        case .stepEnded(let step): 80 + detail.size(of: step.shown) + (step.reason?.utf8.count ?? 0)
        case .sent(let send), .settled(let send): detail.size(of: send)
        case .shown(let items): detail.size(of: items)
        case .warning(let warning): 80 + warning.message.utf8.count + warning.near.reduce(0) { $0 + 10 + $1.utf8.count }
        }
    }

    /// About as many bytes as a trace prints of it.
    package var traceSize: Int {
        switch self {
        case .core(let event): 40 + event.text.utf8.count
        case .crossed(let exchange):
            (exchange.requestHeaders + exchange.responseHeaders).reduce(
                100 + exchange.path.utf8.count + exchange.requestBody.count + exchange.responseBody.count
            ) { $0 + 12 + $1.name.utf8.count + $1.value.utf8.count }
        default: 0
        }
    }

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

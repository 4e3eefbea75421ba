import PushModel

/// Writes entries about flows and runs to the operator's log.
struct FlowLog: Sendable {
    let write: @Sendable (FlowLogEntry) -> Void

    func note(_ level: FlowLogEntry.Level, _ run: RunRecord, _ text: String, at location: String? = nil) {
        write(
            FlowLogEntry(
                level: level, flow: run.flow, run: run.number == 0 ? nil : run.id, version: run.version, location: location, text: text))
    }

    /// - Parameter flow: empty for an entry about no particular flow.
    func note(_ level: FlowLogEntry.Level, flow: String, _ text: String) { write(FlowLogEntry(level: level, flow: flow, text: text)) }
}

/// An entry for the operator's log about flows.
package struct FlowLogEntry: Sendable, Equatable {
    package enum Level: Sendable { case info, warning, error }

    package var level: Level
    package var flow: String
    package var run: String?
    package var version: String?
    /// Script position, such as `scripts/greet.lua:12`.
    package var location: String?
    package var text: String
}

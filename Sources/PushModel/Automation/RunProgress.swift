/// Progress of an active run.
package enum RunProgress: Sendable {
    /// The script has been loaded.
    case began(version: String)
    case step(RunReport.Step)
    case line(RunReport.Line)
    /// A notification was sent outside of any step; its id.
    case notification(String)
}

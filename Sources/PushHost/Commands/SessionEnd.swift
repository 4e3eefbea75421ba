/// How a session ended.
struct SessionEnd: Sendable {
    enum Reason: Sendable {
        case done
        /// The command line is wrong, whatever the files become.
        case badCommandLine
        /// What it printed could not be written, or nobody reads it any more.
        case unwritable
        /// It was to end early.
        case cancelled
    }

    var status: Int32
    var reason = Reason.done
}

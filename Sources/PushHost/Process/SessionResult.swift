/// The end of a run or of a test session.
struct SessionResult: Sendable {
    enum Reason: Sendable {
        case done
        /// The command line is wrong, and no change of a file can make it right.
        case badCommandLine
        /// The output could not be written, or its reader closed it.
        case unwritable
        /// The task was cancelled.
        case cancelled
    }

    var status: Int32
    var reason = Reason.done
}

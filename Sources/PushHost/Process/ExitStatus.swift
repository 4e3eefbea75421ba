/// Exit codes of the program.
enum ExitStatus {
    static let pass: Int32 = 0
    static let failed: Int32 = 1
    static let usage: Int32 = 2
    static let script: Int32 = 3
    static let target: Int32 = 4
    static let policy: Int32 = 5
    static let noTarget: Int32 = 6
    /// Some devices were reached and others failed, or the send was stopped.
    static let partial: Int32 = 7
    static let interrupted: Int32 = 130
    /// The reader of the output closed it before the work was done. As if SIGPIPE had ended the program.
    static let outputClosed: Int32 = 141
}

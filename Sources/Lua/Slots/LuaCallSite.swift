/// The location and the task of a script's call. As a parameter it consumes no argument of the script.
public struct LuaCallSite: Sendable, LuaReadable {
    /// The calling line of the script. Frames of the host's own preludes are skipped.
    public let location: SourceLocation?
    /// The run that made the call.
    public let run: LuaRunID
    /// The number of the calling task: 0 is the script's body; spawned tasks are numbered in creation order.
    public let task: Int
    /// The object that the host attached to the run.
    public let attachment: (any AnyObject & Sendable)?

    public static var luaShape: LuaShape { .nothing }

    /// Makes a call site, to call a host function without a script.
    public init(location: SourceLocation? = nil, run: LuaRunID, task: Int = 0, attachment: (any AnyObject & Sendable)? = nil) {
        self.location = location
        self.run = run
        self.task = task
        self.attachment = attachment
    }

    public static func read(from reader: inout LuaReader) -> LuaCallSite { reader.site }
}

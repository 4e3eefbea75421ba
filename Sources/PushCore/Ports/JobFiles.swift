/// Where jobs read and write: files outside the server, by URI, of the places that its operator allows.
///
/// Errors: `job.uri` (400) for a URI of another form, `job.forbidden` (403) for a place that is not allowed, `job.files` (502) where
/// reading or writing fails.
package protocol JobFiles: Sendable {
    /// Refuses what a job may not use, before it is made. Does not look whether anything is there.
    func check(_ uri: String) throws(PushError)
    func read(_ uri: String) async throws(PushError) -> any JobInput
    /// A file below a container that is there under its name when it is finished, and not before.
    /// - Parameter path: folders and a name, joined by slashes.
    func write(_ path: String, in container: String) async throws(PushError) -> any JobOutput
}

package protocol JobInput: Sendable {
    /// Bytes of the whole.
    var size: Int64 { get }
    /// The next piece, of at most 64 KiB; nil at the end.
    func next() async throws(PushError) -> [UInt8]?
}

/// Either `finish` or `discard` is called, once, as the last.
package protocol JobOutput: Sendable {
    func write(_ bytes: [UInt8]) async throws(PushError)
    func finish() async throws(PushError)
    func discard() async
}

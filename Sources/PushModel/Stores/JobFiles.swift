/// Files that jobs read and write, outside the server. They are addressed by URI, within the locations that the operator allows.
///
/// Errors: `job.uri` (400) for an unsupported URI, `job.forbidden` (403) for a location that is not allowed, `job.files` (502) if reading
/// or writing fails.
package protocol JobFiles: Sendable {
    /// Checks that a job may use a URI, before the job is created. Does not check that the file exists.
    func check(_ uri: String) throws(PushError)
    func read(_ uri: String) async throws(PushError) -> any JobInput
    /// Creates a file in a container. The file becomes visible under its name only when it is finished.
    /// - Parameter path: folders and a name, joined by slashes.
    func write(_ path: String, in container: String) async throws(PushError) -> any JobOutput
}

package protocol JobInput: Sendable {
    /// Total size in bytes.
    var size: Int64 { get }
    /// The next chunk, of at most 64 KiB; nil at the end.
    func next() async throws(PushError) -> [UInt8]?
}

/// Output of a job. The last call is either `finish` or `discard`, exactly once.
package protocol JobOutput: Sendable {
    func write(_ bytes: [UInt8]) async throws(PushError)
    func finish() async throws(PushError)
    func discard() async
}

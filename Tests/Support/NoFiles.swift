package import PushModel

/// Accepts all output and stores none.
package struct NoFiles: JobFiles {
    package struct Output: JobOutput {
        package func write(_ bytes: [UInt8]) {}
        package func finish() {}
        package func discard() {}
    }

    package init() {}

    package func check(_ uri: String) {}
    package func read(_ uri: String) throws(PushError) -> any JobInput { throw PushError("job.files", "there is no \(uri)", hint: nil) }
    package func write(_ path: String, in container: String) -> any JobOutput { Output() }
}

import Glibc

/// A file whose real path is known before it is read, so that neither names nor links lead out of the folders that may be read.
///
/// `close` must be called.
package struct ConfinedFile: Sendable {
    /// The reason why a file cannot be opened.
    package struct OpenError: Error {
        let number: Int32

        /// Whether there is no such file.
        package var isMissing: Bool { number == ENOENT || number == ENOTDIR }

        /// The reason as text: `Permission denied`.
        package var text: String { String(cString: strerror(number)) }
    }

    private let descriptor: Int32

    /// Opens a file of any kind without side effects on devices and pipes. Its content is read through `descriptorPath`.
    package init(_ path: String) throws(OpenError) {
        descriptor = open(path, Self.pathOnly | O_CLOEXEC)
        guard descriptor >= 0 else { throw OpenError(number: errno) }
    }

    package func close() { _ = Glibc.close(descriptor) }

    /// A path of this open file. Reading through it ensures that the file checked is the file read.
    package var descriptorPath: String { "/proc/self/fd/\(descriptor)" }

    /// The absolute path of the file without links; nil if it is unknown.
    package var realPath: String? {
        var buffer = [CChar](repeating: 0, count: 4_097)
        let count = readlink(descriptorPath, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The absolute path of a file or folder without links; nil if there is none.
    package static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    /// Whether a path lies below a folder. Both are absolute and without links.
    package static func isPath(_ path: String, below folder: String) -> Bool { path.hasPrefix(folder == "/" ? folder : "\(folder)/") }

    /// `O_PATH`, which the Glibc module does not define.
    private static let pathOnly: Int32 = 0o10000000
}

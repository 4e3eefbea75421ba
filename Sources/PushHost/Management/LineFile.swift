import Glibc
import PushModel

/// Reads a file or standard input line by line.
final class LineFile {
    private let file: UnsafeMutablePointer<FILE>
    private var buffer: UnsafeMutablePointer<CChar>?
    private var capacity = 0
    private var isAtStart = true
    /// Number of bytes read.
    private(set) var position = 0
    /// The size of the file in bytes; nil if unknown, as for a pipe.
    let size: Int?

    /// - Parameter path: `-` for standard input. Throws `usage.value` if the file cannot be read.
    init(_ path: String) throws(PushError) {
        guard path == "-" || access("\(path)/.", F_OK) != 0 else {
            throw PushError("usage.value", "\(path) is a directory", hint: "name a file")
        }
        guard let file = path == "-" ? fdopen(dup(STDIN_FILENO), "r") : fopen(path, "re") else {
            let reason = String(cString: strerror(errno))
            throw PushError("usage.value", "\(path) cannot be read: \(reason)", hint: "check the path of the file")
        }
        self.file = file
        let end = path != "-" && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1
        if end >= 0 { rewind(file) }
        size = end > 0 ? end : nil
    }

    deinit {
        free(buffer)
        fclose(file)
    }

    /// The next line without its end; nil at the end of the file.
    func next() -> [UInt8]? {
        let count = getline(&buffer, &capacity, file)
        guard count > 0, let buffer else { return nil }
        position += count
        var line = buffer.withMemoryRebound(to: UInt8.self, capacity: count) { Array(UnsafeBufferPointer(start: $0, count: count)) }
        if line.last == 0x0A { line.removeLast() }
        if line.last == 0x0D { line.removeLast() }
        // A byte order mark.
        if isAtStart, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isAtStart = false
        return line
    }
}

import Glibc

/// The arguments of the process, read from the kernel.
///
/// `CommandLine.arguments` searches for them on the stack, next to the environment. If a library loaded with `LD_PRELOAD` sets a variable,
/// the environment moves; the arguments are then not found, or the program crashes.
enum ProgramArguments {
    private static let largest = 16 << 20

    /// The arguments without the program's name.
    static var current: [String] {
        guard !isUnderLoader, let bytes = read("/proc/self/cmdline"), !bytes.isEmpty else {
            return Array(CommandLine.arguments.dropFirst())
        }
        return Array(split(bytes).dropFirst())
    }

    /// Splits the content of `/proc/self/cmdline`. Each argument ends with a zero byte and may be empty.
    static func split(_ bytes: [UInt8]) -> [String] {
        guard !bytes.isEmpty else { return [] }
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        return (bytes.last == 0 ? parts.dropLast() : parts[...]).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the program was started through the dynamic loader, in which case the process's arguments are the loader's.
    private static var isUnderLoader: Bool {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, let name = buffer.prefix(count).map({ UInt8(bitPattern: $0) }).split(separator: UInt8(ascii: "/")).last else {
            return false
        }
        return name.starts(with: "ld-".utf8) || name.starts(with: "ld.so".utf8)
    }

    /// The file's bytes; nil if it cannot be read, for example without /proc.
    private static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while bytes.count < largest {
            let count = part.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += part.prefix(count)
        }
        return nil
    }
}

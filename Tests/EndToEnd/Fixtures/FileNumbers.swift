import Foundation

/// The open file descriptors of a process.
enum FileNumbers {
    /// The highest descriptor number.
    static func highest(of process: pid_t) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap { Int($0) }.max() ?? 0
    }
}

import Foundation

/// The files that a process has open.
enum FileNumbers {
    /// The highest number of one.
    static func highest(of process: pid_t) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap { Int($0) }.max() ?? 0
    }
}

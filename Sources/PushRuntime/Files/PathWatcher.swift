import Glibc
import PushModel

/// Resolves a path as the system does and watches every folder on the way for the next name, because a changed folder or symbolic link
/// makes the path lead elsewhere.
struct PathWatcher {
    private(set) var watched: [Int32: FolderNames] = [:]
    /// `false` if a folder cannot be watched for lack of permission.
    private(set) var isComplete = true
    private let descriptor: Int32
    /// Watch descriptors by folder; nil for folders that cannot be watched.
    private var numbers: [String: Int32?] = [:]

    /// Maximum number of symbolic links, as in Linux (path_resolution(7)).
    private static let maximumLinks = 40

    /// - Parameter descriptor: an inotify descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Watches all folders on the way to `path`. Throws `watch.failed`.
    mutating func follow(_ path: String) throws(PushError) {
        var folder = path.hasPrefix("/") ? "/" : "."
        var rest = Self.parts(path)
        var links = 0
        while let name = rest.popLast() {
            // Watch before reading the link, so that no change is missed.
            try watch(folder, .some([name]))
            let current = folder == "." ? name : folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            guard let target = Self.target(of: current) else {
                guard access(current, F_OK) == 0 else { return }
                folder = current
                continue
            }
            links += 1
            guard links <= Self.maximumLinks else { return }
            if target.hasPrefix("/") { folder = "/" }
            rest += Self.parts(target)
        }
    }

    /// Watches a folder for the names. Throws `watch.failed`.
    mutating func watch(_ folder: String, _ names: FolderNames) throws(PushError) {
        guard let number = try number(of: folder) else { return }
        watched[number] = watched[number]?.union(names) ?? names
    }

    private mutating func number(of folder: String) throws(PushError) -> Int32? {
        if let known = numbers[folder] { return known }
        let mask = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
        let number = inotify_add_watch(descriptor, folder, UInt32(mask) | UInt32(IN_ONLYDIR))
        if number < 0 {
            switch errno {
            // The folder was removed or replaced meanwhile; the watch on its parent reports that.
            case ENOENT, ENOTDIR: break
            case EACCES, EPERM, ELOOP, ENAMETOOLONG: isComplete = false
            default: throw FolderWatch.failure(errno, folder)
            }
        }
        numbers[folder] = .some(number < 0 ? nil : number)
        return number < 0 ? nil : number
    }

    /// The components of a path in reverse order.
    private static func parts(_ path: String) -> [String] { path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed() }

    private static func target(of link: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}

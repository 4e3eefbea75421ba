import Glibc
import PushCore

/// The socket in a data folder over which commands reach the server that uses it. Whoever may read the folder may do everything.
final class ControlSocket: Sendable {
    static let name = "pushhost.sock"

    private let folder: FolderDescriptor

    /// Throws `data.unusable`.
    init(folder path: String) throws(PushError) {
        do {
            folder = try FolderDescriptor(path)
        } catch {
            throw DataFolder.unusable(path, errno)
        }
    }

    /// Where to bind it or to connect to. The system takes 107 bytes at most; a longer path goes by way of the folder, which is
    /// open as long as this lives.
    var address: String {
        let path = "\(folder.path)/\(Self.name)"
        return path.utf8.count <= 107 ? path : "/proc/self/fd/\(folder.number)/\(Self.name)"
    }

    /// The folder may be open to others.
    func keepToOwner() { fchmodat(folder.number, Self.name, 0o600, 0) }
}

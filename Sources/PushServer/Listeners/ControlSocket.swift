import Glibc
package import PushModel

/// The Unix socket in the data folder through which commands reach the running server. Access to the folder grants full rights.
package final class ControlSocket: Sendable {
    package static let name = "pushhost.sock"

    private let folder: FolderDescriptor

    /// Throws `data.unusable`.
    package init(folder path: String) throws(PushError) {
        do {
            folder = try FolderDescriptor(path)
        } catch {
            throw DataFolder.unusable(path, errno)
        }
    }

    /// The path to bind or connect to. Linux limits it to 107 bytes; a longer path is reached through the folder's descriptor, which is
    /// open as long as this object lives.
    package var address: String {
        let path = "\(folder.path)/\(Self.name)"
        return path.utf8.count <= 107 ? path : "/proc/self/fd/\(folder.number)/\(Self.name)"
    }

    /// Restricts the socket to its owner, because the folder may be accessible to others.
    func restrictToOwner() { fchmodat(folder.number, Self.name, 0o600, 0) }
}

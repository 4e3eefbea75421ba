import FoundationEssentials
import Glibc

/// A file system of two megabytes that can be full. Mounting it needs root.
final class SmallDisk: Sendable {
    let folder: Folder
    private var filler: String { folder.file("filler") }

    /// Nil if mounting is not allowed.
    init?() throws {
        folder = try Folder()
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=2m") == 0 else { return nil }
    }

    deinit { umount2(folder.path, Int32(MNT_DETACH)) }

    func file(_ name: String) -> String { folder.file(name) }

    /// Whether the bytes fitted.
    func put(_ bytes: [UInt8], at name: String) -> Bool { (try? folder.write(bytes, to: name)) != nil }

    /// Fills the disk.
    func fill() throws {
        let descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw Folder.Failure() }
        defer { close(descriptor) }
        let block = [UInt8](repeating: 0, count: 4096)
        while write(descriptor, block, block.count) > 0 {}
    }

    func makeRoom() { unlink(filler) }
}

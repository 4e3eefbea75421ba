import Crypto
import Glibc
import PushCore
import Storage

/// The file of the data folder with the key that seals secure payloads. It is in no backup: who has one has not yet the payloads.
struct PayloadKeyFile {
    static let name = "payload.key"
    private static let length = 32

    let folder: DataFolder

    /// Makes the file where there is none. Throws `data.payload_key` for one that is no key, and changes it never.
    func key() throws(PushError) -> SymmetricKey {
        let path = folder.file(Self.name)
        let key = SymmetricKey(size: .bits256)
        // In its place only when it is whole: a key of which half is on the disk would be lost.
        let partial = folder.file(".\(Self.name)")
        unlink(partial)
        if access(path, F_OK) != 0 {
            let file = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw DataFolder.unusable(folder.path, errno, file: path) }
            FileOwner.give(file, toOwnerOf: folder.path)
            let isWritten = key.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == Self.length && fsync(file) == 0
            let number = errno
            close(file)
            guard isWritten, link(partial, path) == 0 || errno == EEXIST else {
                throw DataFolder.unusable(folder.path, isWritten ? errno : number, file: path)
            }
            unlink(partial)
        }
        return try Self.read(in: folder.path)
    }

    /// That so many do not open. - Parameter folder: the data folder.
    static func warning(_ count: Int, in folder: String) -> String {
        "\(payloads(count)) cannot be opened: \(folder)/\(name) is not the key that sealed \(count == 1 ? "it" : "them")"
    }

    /// That nobody knows it of so many. - Parameter folder: the data folder.
    static func doubt(_ count: Int, in folder: String) -> String {
        "whether \(folder)/\(name) opens \(payloads(count)) is not known: an older version did not note which key sealed "
            + (count == 1 ? "it" : "them")
    }

    static let trial = "start the server: it tries to open them, and its log tells how many it cannot"

    static func payloads(_ count: Int) -> String { "\(count) secure payload\(count == 1 ? "" : "s")" }

    static let remedy = "put the old \(name) back and start the server again, or have them sent again"

    /// Throws `data.payload_key` for a file that is no key, and `data.unusable` for none. - Parameter folder: the data folder.
    static func read(in folder: String) throws(PushError) -> SymmetricKey {
        let path = "\(folder)/\(name)"
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw DataFolder.unusable(folder, errno, file: path) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: length + 1)
        let count = Glibc.read(file, &bytes, bytes.count)
        guard count == length else {
            throw PushError(
                "data.payload_key",
                "\(path) holds no key: it has \(count > length ? "more than" : "\(max(count, 0)) bytes, not") 32 bytes",
                hint: "put the right file back; without it the secure payloads that are kept cannot be read, so that it may be removed")
        }
        return SymmetricKey(data: bytes.prefix(length))
    }
}

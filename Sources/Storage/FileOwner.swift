import FoundationEssentials
import Glibc

/// Ownership of created files.
package enum FileOwner {
    /// Gives a file that root created to the owner of the folder, so that a server of that user can use it. Uses the descriptor, because
    /// the folder's owner could replace the file under its name.
    package static func give(_ file: Int32, toOwnerOf folder: String) {
        guard geteuid() == 0, let owner = try? FileManager.default.attributesOfItem(atPath: folder),
            let user = owner[.ownerAccountID] as? UInt, let group = owner[.groupOwnerAccountID] as? UInt
        else { return }
        _ = fchown(file, uid_t(user), gid_t(group))
    }
}

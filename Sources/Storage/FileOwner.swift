import FoundationEssentials
import Glibc

/// Whose the files of a folder are.
package enum FileOwner {
    /// A server of another user could not use what root puts into its folder. By its descriptor: the owner of the folder could put
    /// something else under its name.
    package static func give(_ file: Int32, toOwnerOf folder: String) {
        guard geteuid() == 0, let owner = try? FileManager.default.attributesOfItem(atPath: folder),
            let user = owner[.ownerAccountID] as? UInt, let group = owner[.groupOwnerAccountID] as? UInt
        else { return }
        _ = fchown(file, uid_t(user), gid_t(group))
    }
}

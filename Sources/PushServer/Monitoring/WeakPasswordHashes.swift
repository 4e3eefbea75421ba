/// The warning about accounts whose passwords were hashed at a lab's low cost and are used outside a lab.
package enum WeakPasswordHashes {
    package static func finding(_ count: Int) -> String {
        "the password\(count == 1 ? " of 1 account is" : "s of \(count) accounts are") hashed at a lab's low cost: "
            + "with a copy of the database \(count == 1 ? "it is" : "they are") easy to guess"
    }

    package static let remedy = "set new passwords with pushhost user passwd, or remove the accounts with pushhost user remove"
}

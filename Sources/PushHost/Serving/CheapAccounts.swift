/// Accounts that a lab made, where there is none: their passwords are soon guessed by whoever gets hold of the database.
enum CheapAccounts {
    static func finding(_ count: Int) -> String {
        "\(count) account\(count == 1 ? " is" : "s are") hashed as cheaply as in a lab: "
            + "whoever gets hold of the database guesses \(count == 1 ? "its password" : "their passwords") soon"
    }

    static let remedy = "give each a new password with pushhost user passwd, or take it away with pushhost user remove"
}

/// The completions of the name before the cursor.
struct Completion: Equatable {
    /// The part of the name before the cursor.
    var typed: String
    /// The candidates, which all begin with `typed`: in alphabetical order, or parameters in the order of their binding.
    var names: [String]

    /// The longest common prefix of the names.
    var common: String {
        guard var common = names.first else { return typed }
        for name in names { common = common.commonPrefix(with: name) }
        return common
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}

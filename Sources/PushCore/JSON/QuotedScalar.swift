extension Unicode.Scalar {
    /// The scalar as a message shows it: in quotes, or by its number when it cannot be seen on its own.
    var quoted: String {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .nonspacingMark, .enclosingMark:
            let digits = String(value, radix: 16, uppercase: true)
            return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        default: return "\"\(self)\""
        }
    }
}

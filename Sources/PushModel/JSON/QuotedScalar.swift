extension Unicode.Scalar {
    /// The scalar for use in messages: in quotes, or as its code point if it is not visible on its own.
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

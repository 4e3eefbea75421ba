import PushModel

// Schemas that several routes use.
extension JSONSchema {
    /// Lists connector punctuation explicitly, because not every regex engine knows that class.
    static let tagCharacters = #"\p{L}\p{M}\p{Nd}_‿⁀⁔︳︴﹍﹎﹏＿@#.:\-"#

    static let hubName = text(
        "Letters, digits and - . _, with slashes between parts that begin with a letter or digit; names such as messages "
            + "and api are reserved",
        length: 1...260, pattern: #"[A-Za-z0-9][A-Za-z0-9._\-]*(?:/[A-Za-z0-9][A-Za-z0-9._\-]*)*"#)
    static let ruleName = text("Letters, digits and - . _", length: 1...256, pattern: #"[A-Za-z0-9._\-]+"#)
    static let user = text(
        "A user id: letters, digits and _ - @ # . : =", length: 1...108, pattern: "[\(tagCharacters)=]+")
    static let tag = text(
        "A tag: letters, digits and _ - @ # . :, or $InstallationId:{…} or $UserId:{…}", length: 1...120,
        pattern: #"[\#(tagCharacters)]+|\$(?:InstallationId|UserId):\{[\#(tagCharacters)=]+\}"#)
    static let platform = choice("A push service", Platform.allCases.map(\.shortName))
    static let outcome = choice("The result of a delivery, in the terms of Azure's telemetry", OutcomeName.allCases.map(\.rawValue))
    static let right = choice("Manage includes the others", AuthorizationRule.Right.allCases.map(\.rawValue))

    static func timestamp(_ note: String? = nil) -> JSONSchema { text(note, format: "date-time") }

    /// A page of a list.
    static func page(of item: JSONSchema) -> JSONSchema {
        object(
            item.name.map { "\($0)Page" },
            [
                "items": list(of: item), "continuation?": text("Token for the next page; absent on the last page"),
            ])
    }
}

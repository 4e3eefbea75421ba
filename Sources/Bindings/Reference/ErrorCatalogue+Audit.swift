// Who did what.
extension ErrorCatalogue {
    static let auditAreas: [ErrorArea] = [audit]

    private static let audit = ErrorArea(
        "audit", "the audit log",
        [
            ErrorDescription(
                "audit.too_large", .failure, means: "An entry of the audit trail is too large.", when: "It has more than 64 KiB.",
                cure: "Give fewer details."),
            ErrorDescription(
                "audit.noted", .refusal, .answer, means: "The end that the log is held against is none.",
                when: "pushhost audit verify --expect, or the parameter expect of the JSON interface, is not a number, a colon and 64 "
                    + "hexadecimal digits. Status 400.",
                cure: "Give the end as pushhost audit verify has printed it: SEQUENCE:HASH."),
            ErrorDescription(
                "audit.file", .refusal, means: "The file of an exported audit log cannot be used.",
                when: "pushhost audit verify FILE cannot read it or it is none; or pushhost audit export would replace a file, or cannot "
                    + "write it.",
                cure: "Name a file that pushhost audit export has made; for a new one another name, or --force."),
        ])
}

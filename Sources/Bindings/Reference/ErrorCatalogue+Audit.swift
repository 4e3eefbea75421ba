// Who did what.
extension ErrorCatalogue {
    static let auditAreas: [ErrorArea] = [approval, audit]

    private static let approval = ErrorArea(
        "approval", "sends that wait for somebody else's leave",
        [
            ErrorDescription(
                "approval.required", .failure, .answer, means: "The send reaches more devices than its sender may reach by himself.",
                when: "Its audience is larger than guard.ceiling of the server's settings, the ceiling of the key or that of the flow, or "
                    + "it goes to a broadcast channel, of which nobody knows how many it reaches. "
                    + "Nothing is sent; it is kept under the id that the message names, and asking again gives the same one. Status 403.",
                cure: "Somebody else allows it, with another key that may manage the server: pushhost approvals approve ID. Or send to "
                    + "fewer."),
            ErrorDescription(
                "approval.denied", .failure, .answer, means: "Somebody has denied the send.",
                when: "It is asked for again under the idempotency key of one that was denied. Status 403.",
                cure: "Send something else, or to fewer, under another idempotency key."),
            ErrorDescription(
                "approval.own", .answer, means: "Who asked for a send cannot approve it.",
                when: "It is approved with the key that asked for it, or by the owner who did. Status 403.",
                cure: "Somebody else approves it, with a key of his own; who asked may deny it, to take it back."),
            ErrorDescription(
                "approval.decided", .answer, means: "The send does not wait any more.",
                when: "It was approved or denied before, or nobody decided in time (guard.expires). Status 409.",
                cure: "pushhost approvals show ID tells what became of it; ask for it again where it has expired."),
            ErrorDescription(
                "approval.grown", .answer, means: "The send reaches more devices than its leave would be for.",
                when:
                    "Its audience has more than a tenth, and more than five devices, beyond what is shown; or a plugin makes it a send to "
                    + "so many more when it is about to leave. Nothing is sent; it still waits, with the new size. Status 409.",
                cure: "Look at it again, then approve it with the new size, or deny it."),
            ErrorDescription(
                "approval.not_found", .answer, means: "There is no such approval.", when: "The id is none, or mistyped. Status 404.",
                cure: "pushhost approvals list shows those that wait."),
            ErrorDescription(
                "approval.too_many", .failure, .answer, means: "Too many sends wait for somebody's leave.",
                when: "200 wait already, or 50 that the same sender has asked for. Status 429.", cure: "Decide about them first."),
        ])

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

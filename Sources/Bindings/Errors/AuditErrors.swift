/// Error codes of the audit log and of approvals.
enum AuditErrors {
    static let all: [ErrorArea] = [approval, audit]

    private static let approval = ErrorArea(
        "approval", "approval of large sends",
        [
            ErrorDescription(
                "approval.required", .failure, .answer, means: "The send reaches more devices than its sender may reach without approval.",
                when: "The number of recipients exceeds guard.ceiling of the server's settings, or the ceiling of the key or the flow; or "
                    + "the send goes to a broadcast channel, whose number of recipients is unknown. Nothing is sent. The request is stored "
                    + "under the id in the message; repeating it returns the same id. Status 403.",
                fix: "Ask someone with another key that has Manage to run pushhost approvals approve ID, or send to fewer devices."),
            ErrorDescription(
                "approval.denied", .failure, .answer, means: "The request for approval was denied.",
                when: "The send is repeated with the idempotency key of a denied request. Status 403.",
                fix: "Send something else, or to fewer devices, with another idempotency key."),
            ErrorDescription(
                "approval.own", .answer, means: "A requester cannot approve their own request.",
                when: "The approval uses the key that made the request, or the owner approves a request of the owner. Status 403.",
                fix: "Let someone with another key approve it. The requester can withdraw it with pushhost approvals deny ID."),
            ErrorDescription(
                "approval.decided", .answer, means: "The request is no longer pending.",
                when: "It was approved or denied before, or it expired (guard.expires). Status 409.",
                fix: "pushhost approvals show ID shows the result. If it has expired, make the request again."),
            ErrorDescription(
                "approval.grown", .answer, means: "The audience has outgrown the number of devices shown for approval.",
                when: "It now exceeds the number shown by more than a tenth and by more than five devices, or a plugin has enlarged it. "
                    + "Nothing is sent; the request stays pending with the new number. Status 409.",
                fix: "Review the request, then approve it with the new number or deny it."),
            ErrorDescription(
                "approval.not_found", .answer, means: "There is no approval request with this id.",
                when: "The id is invalid or mistyped. Status 404.", fix: "pushhost approvals list shows the pending requests."),
            ErrorDescription(
                "approval.too_many", .failure, .answer, means: "Too many approval requests are pending.",
                when: "200 requests are pending in all, or 50 of this requester. Status 429.", fix: "Approve or deny some of them first."),
        ])

    private static let audit = ErrorArea(
        "audit", "the audit log",
        [
            ErrorDescription(
                "audit.too_large", .answer, means: "An entry of the audit log is too large.",
                when: "It exceeds 64 KiB.", fix: "Give fewer details."),
            ErrorDescription(
                "audit.noted", .refusal, .answer,
                means: "The expected head of the audit log is invalid.",
                when: "The value of pushhost audit verify --expect, or of the parameter expect of the JSON API, is not a number, a "
                    + "colon and 64 hexadecimal digits. Status 400.",
                fix: "Give the head as printed by pushhost audit verify: SEQUENCE:HASH."),
            ErrorDescription(
                "audit.file", .refusal, means: "The file of an exported audit log cannot be used.",
                when: "pushhost audit verify FILE cannot read the file, or it is not an exported log; or pushhost audit export would "
                    + "overwrite a file or cannot write it.",
                fix: "Name a file made by pushhost audit export. To export, choose another name or use --force."),
        ])
}

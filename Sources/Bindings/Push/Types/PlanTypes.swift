// Types that `push.plan` returns.
extension TypeDescription {
    static let plan = TypeDescription(
        "push.Plan", "The devices that a notification would reach, and its content. Nothing was sent.",
        fields: [
            Field("id", "string", "for push.send{ plan = … }; absent if the plan is not stored", isOptional: true),
            Field("to", "string", "the audience as text"),
            Field("planned_at", "string", "when it was created, ISO 8601"),
            Field("expires_at", "string", "when it expires, ISO 8601", isOptional: true),
            Field("total", "integer", "devices that would be sent to, each handle once; without content, registrations"),
            Field("matched", "integer", "registrations that match the audience, whatever they can receive"),
            Field("duplicates", "integer", "registrations omitted because another one has the same handle"),
            Field("refused", "integer", "devices that would be rejected before a request to the push service"),
            Field("by_platform", "table<push.Platform, integer>", "devices by platform"),
            Field("by_tag", "table<string, integer>", "devices by tag, for the twenty most frequent tags"),
            Field("by_locale", "table<string, integer>", "devices by locale, if known"),
            Field("templates", "push.PlanTemplate[]", "devices by the name of their template"),
            Field("groups", "push.PlanGroup[]", "devices that would get the same content, at most 100 groups; none without content"),
            Field("near_misses", "string[]", "if it would reach no device: similar tags and expressions"),
            Field(
                "failed_terms", "push.FailedTerm[]",
                "if it would reach no or few devices: the parts of the expression that exclude devices"),
            Field("difference", "push.PlanDifference", "changes since the previous plan of the same audience", isOptional: true),
        ])

    static let planGroup = TypeDescription(
        "push.PlanGroup", "Devices that would get the same content.",
        fields: [
            Field("platform", "push.Platform", "the push service of the devices"),
            Field("template", "string", "the template's name, if it has one", isOptional: true),
            Field("devices", "integer", "the number of devices"),
            Field("payload", "string", "the body for the push service"),
            Field("bytes", "integer", "the size of the body"),
            Field("limit", "integer", "the platform's maximum size"),
            Field("too_large", "boolean", "whether the size exceeds the limit"),
            Field("refused", "string", "why these devices would be rejected", isOptional: true),
        ])

    static let planTemplate = TypeDescription(
        "push.PlanTemplate", "Devices of a platform with templates of one name, or with none.",
        fields: [
            Field("platform", "push.Platform", "the push service of the devices"),
            Field("template", "string", "the template's name, if it has one", isOptional: true),
            Field("is_template", "boolean", "whether the registrations have a template"),
            Field("devices", "integer", "the number of devices"),
            Field("smallest", "integer", "bytes of the smallest body; absent without content", isOptional: true),
            Field("largest", "integer", "bytes of the largest body; absent without content", isOptional: true),
            Field("refused", "integer", "devices that would be rejected"),
        ])

    static let failedTerm = TypeDescription(
        "push.FailedTerm", "A part of a tag expression that excludes devices.",
        fields: [
            Field("term", "string", "the part"),
            Field("matches", "integer", "registrations that match this part alone"),
            Field("without", "integer", "registrations that the expression would match without it", isOptional: true),
        ])

    static let planDifference = TypeDescription(
        "push.PlanDifference", "The difference between the audience of a plan and that of the previous one.",
        fields: [
            Field("plan", "string", "the id of the previous plan"),
            Field("joined", "integer", "new devices"),
            Field("left", "integer", "removed devices"),
            Field("changed", "integer", "devices that would get different content"),
        ])
}

// What push.plan returns.
extension TypeDescription {
    static let plan = TypeDescription(
        "push.Plan", "Who would get a notification, and what: nothing was sent.",
        fields: [
            Field("id", "string", "for push.send{ plan = … }; absent where it is not kept", isOptional: true),
            Field("to", "string", "the audience, as people write it"),
            Field("planned_at", "string", "when it was made, ISO 8601"),
            Field("expires_at", "string", "when it is forgotten, ISO 8601", isOptional: true),
            Field("total", "integer", "devices that would be sent to, each handle once; without a content, registrations"),
            Field("matched", "integer", "registrations that the audience names, whatever they can receive"),
            Field("duplicates", "integer", "registrations that another one with their handle stands for"),
            Field("refused", "integer", "of the devices, those whose push service would not be asked"),
            Field("by_platform", "table<push.Platform, integer>", "devices by platform"),
            Field("by_tag", "table<string, integer>", "devices by tag, of the twenty that most have"),
            Field("by_locale", "table<string, integer>", "devices by locale, as far as one is known"),
            Field("templates", "push.PlanTemplate[]", "devices by the name of their template"),
            Field("groups", "push.PlanGroup[]", "devices that would get the same bytes, at most 100 groups; none without a content"),
            Field("near_misses", "string[]", "where nobody would get it: what comes close, in words"),
            Field("failed_terms", "push.FailedTerm[]", "where nobody or few would get it: what of the expression keeps devices out"),
            Field("difference", "push.PlanDifference", "since the plan of the same audience before", isOptional: true),
        ])

    static let planGroup = TypeDescription(
        "push.PlanGroup", "Devices that would get the same bytes.",
        fields: [
            Field("platform", "push.Platform", "the push service that would be asked"),
            Field("template", "string", "the template's name, if it has one", isOptional: true),
            Field("devices", "integer", "how many they are"),
            Field("payload", "string", "the body that the push service would get"),
            Field("bytes", "integer", "its size"),
            Field("limit", "integer", "the most that the platform takes"),
            Field("too_large", "boolean", "whether it is beyond the limit"),
            Field("refused", "string", "why these devices would get nothing, in words", isOptional: true),
        ])

    static let planTemplate = TypeDescription(
        "push.PlanTemplate", "Devices of a platform with templates of one name, or with none.",
        fields: [
            Field("platform", "push.Platform", "the push service that would be asked"),
            Field("template", "string", "the template's name, if it has one", isOptional: true),
            Field("is_template", "boolean", "whether their registrations have a template"),
            Field("devices", "integer", "how many they are"),
            Field("smallest", "integer", "bytes of the smallest body; absent without a content", isOptional: true),
            Field("largest", "integer", "bytes of the largest body; absent without a content", isOptional: true),
            Field("refused", "integer", "of these, those that would get nothing"),
        ])

    static let failedTerm = TypeDescription(
        "push.FailedTerm", "A part of a tag expression that keeps devices out.",
        fields: [
            Field("term", "string", "the part"),
            Field("matches", "integer", "registrations that satisfy it, whatever else is asked for"),
            Field("without", "integer", "registrations that the expression around it would name without it", isOptional: true),
        ])

    static let planDifference = TypeDescription(
        "push.PlanDifference", "How the audience of a plan differs from that of the plan before.",
        fields: [
            Field("plan", "string", "the id of the plan before"),
            Field("joined", "integer", "devices that are new"),
            Field("left", "integer", "devices that are in it no longer"),
            Field("changed", "integer", "devices that would get other bytes now"),
        ])
}

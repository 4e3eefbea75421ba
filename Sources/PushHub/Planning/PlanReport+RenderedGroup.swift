import PushModel

extension PlanReport.Group {
    /// The group as it would be sent, without what may be wrong with it.
    init(_ group: RenderedGroup) {
        self.init(
            platform: group.platform, templateName: group.templateName, isTemplate: group.isTemplate, devices: group.members.count,
            payload: String(decoding: group.body, as: UTF8.self), headers: group.headers, bytes: group.body.count,
            limit: PayloadRules.limit(for: group.platform, headers: group.headers))
    }
}

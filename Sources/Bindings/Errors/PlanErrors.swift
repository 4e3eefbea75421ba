/// Error codes of plans and of sends of a plan.
enum PlanErrors {
    static let plan = ErrorArea(
        "plan", "plans of sends",
        [
            ErrorDescription(
                "plan.not_found", .failure, .answer, means: "The hub has no plan with this id.",
                when: "A send or query names an unknown plan. Status 404.",
                fix: "Use the id that push.plan or pushhost plan returned. pushhost plan list shows all plans.",
                example: .lua(
                    "push.send { plan = \"p-0042\" }",
                    fix: """
                        local plan = push.plan { to = push.everyone, alert = "Hello" }
                        push.send { plan = plan }
                        """)),
            ErrorDescription(
                "plan.expired", .failure, .answer, means: "The plan has been deleted.",
                when: "Plans are stored for seven days, at most fifty for each hub. A plan that a notification uses is stored until the "
                    + "notification has ended. Status 410.",
                fix: "Make a new plan, review it, and send with it."),
            ErrorDescription(
                "plan.drifted", .failure, .answer, means: "The audience has changed by more than the tolerance since the plan.",
                when: "The number of devices that joined, left, or would get other content exceeds the tolerance, which is 0 by default. "
                    + "The message gives the number of changes and names the first devices that differ. Nothing was sent. Status 409.",
                fix: "Make a new plan and review the changes. Or send with a tolerance, such as 25 or 2%: the send then reaches the "
                    + "remaining devices of the plan, but none that joined.",
                example: .lua(
                    """
                    local plan = push.plan { to = "Sports" }
                    push.install("pad-1", { platform = "apns", push_channel = ("ab"):rep(32), tags = { "Sports" } })
                    push.send { plan = plan, alert = "Goal" }
                    """,
                    fix: """
                        local plan = push.plan { to = "Sports" }
                        push.install("pad-1", { platform = "apns", push_channel = ("ab"):rep(32), tags = { "Sports" } })
                        push.send { plan = plan, alert = "Goal", tolerance = 1 }
                        """)),
            ErrorDescription(
                "plan.content", .failure, .answer, means: "The plan and the send have different content, or none.",
                when: "The send's content differs from that of its plan, or neither has content. Status 409.",
                fix: "Omit the content to send that of the plan. A plan without content uses that of the send.",
                example: .lua(
                    """
                    local plan = push.plan { to = push.everyone, alert = "Hello" }
                    push.send { plan = plan, alert = "Good bye" }
                    """,
                    fix: """
                        local plan = push.plan { to = push.everyone, alert = "Hello" }
                        push.send { plan = plan }
                        """)),
            ErrorDescription(
                "plan.tolerance", .failure, .answer, means: "The tolerance is invalid.",
                when: "The tolerance is neither a whole number of devices nor a percentage up to 100%. Status 400.",
                fix: "Give how many devices may have joined, left or changed, such as 250, 2% or 0.5%.",
                example: .lua(
                    """
                    local plan = push.plan { to = push.everyone, alert = "Hello" }
                    push.send { plan = plan, tolerance = "some" }
                    """,
                    fix: """
                        local plan = push.plan { to = push.everyone, alert = "Hello" }
                        push.send { plan = plan, tolerance = "2%" }
                        """)),
        ])
}

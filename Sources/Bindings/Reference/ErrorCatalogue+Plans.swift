// Plans, and sends that are bound to one.
extension ErrorCatalogue {
    static let plan = ErrorArea(
        "plan", "plans of who would get a notification",
        [
            ErrorDescription(
                "plan.not_found", .failure, .answer, means: "The hub has no plan with this id.",
                when: "A send, or a question, names a plan that the hub has never made. Status 404.",
                cure: "Take the id that push.plan or pushhost plan returned; pushhost plan list shows those that there are.",
                example: .lua(
                    "push.send { plan = \"p-0042\" }",
                    cure: """
                        local plan = push.plan { to = push.everyone, alert = "Hello" }
                        push.send { plan = plan }
                        """)),
            ErrorDescription(
                "plan.expired", .failure, .answer, means: "The plan was there once, and its devices are not known any more.",
                when: "Plans are kept for seven days, and the newest fifty of each hub; one that a notification is bound to stays until "
                    + "that has ended. Status 410.",
                cure: "Plan once more, look at it, and send to the new one."),
            ErrorDescription(
                "plan.drifted", .failure, .answer, means: "The audience has changed since the plan, by more than is tolerated.",
                when: "More devices have joined, left, or would get other bytes now than the tolerance says, which is none where it says "
                    + "nothing. The message tells how many, with the first of them. Nothing was sent. Status 409.",
                cure:
                    "Plan once more and look at what has changed. Or send with a tolerance, such as 25 or 2%: then those of the plan that "
                    + "are there still get it, and nobody who has joined.",
                example: .lua(
                    """
                    local plan = push.plan { to = "Sports" }
                    push.install("pad-1", { platform = "apns", push_channel = ("ab"):rep(32), tags = { "Sports" } })
                    push.send { plan = plan, alert = "Goal" }
                    """,
                    cure: """
                        local plan = push.plan { to = "Sports" }
                        push.install("pad-1", { platform = "apns", push_channel = ("ab"):rep(32), tags = { "Sports" } })
                        push.send { plan = plan, alert = "Goal", tolerance = 1 }
                        """)),
            ErrorDescription(
                "plan.content", .failure, .answer, means: "The plan and the send do not have one content.",
                when: "A send gives a content that is not that of its plan, or neither has one. Status 409.",
                cure: "Leave the content out: that of the plan is sent. A plan without one takes that of the send.",
                example: .lua(
                    """
                    local plan = push.plan { to = push.everyone, alert = "Hello" }
                    push.send { plan = plan, alert = "Good bye" }
                    """,
                    cure: """
                        local plan = push.plan { to = push.everyone, alert = "Hello" }
                        push.send { plan = plan }
                        """)),
            ErrorDescription(
                "plan.tolerance", .failure, .answer, means: "That is no tolerance.",
                when: "A tolerance is neither a whole number of devices nor a share of the plan of at most 100%. Status 400.",
                cure: "Write how many devices may have joined, left or changed, such as 250, or 2%, or 0.5%.",
                example: .lua(
                    """
                    local plan = push.plan { to = push.everyone, alert = "Hello" }
                    push.send { plan = plan, tolerance = "some" }
                    """,
                    cure: """
                        local plan = push.plan { to = push.everyone, alert = "Hello" }
                        push.send { plan = plan, tolerance = "2%" }
                        """)),
        ])
}

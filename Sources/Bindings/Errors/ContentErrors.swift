/// Error codes of the content and audiences of notifications.
enum ContentErrors {
    static let all: [ErrorArea] = [send, schedule, payload, localization, tag, tags, tagExpression, template, azure]

    private static let send = ErrorArea(
        "send", "arguments of push.send",
        [
            ErrorDescription(
                "send.no_audience", .misuse, means: "A send has no recipients.",
                when: "\"to\" is absent or empty. There is no default audience, and an empty text never means all devices.",
                fix: "Give a tag, an expression, or push.everyone for all devices.",
                example: .lua("push.send { alert = \"Hello\" }", fix: "push.send { to = push.tag.user \"alice\", alert = \"Hello\" }")),
            ErrorDescription(
                "send.audience", .misuse, means: "A send has two audiences.",
                when: "\"to\" and \"device\" are both given.",
                fix: "Use \"to\" to reach registrations, or \"device\" to send to one handle.",
                example: .lua(
                    "push.send { to = \"Sports\", device = phone, alert = \"Hello\" }",
                    fix: "push.send { device = phone, alert = \"Hello\" }")),
            ErrorDescription(
                "send.no_content", .misuse, means: "A send has no content, or more than one kind of content.",
                when: "None or more than one of \"alert\", \"properties\" and \"payload\" is given, or \"title\" or \"headers\" are "
                    + "combined with a content that does not support them.",
                fix: "Use one of them: alert shows a text on every platform, properties fill templates, payload is written per platform.",
                example: .lua("push.send { to = \"Sports\" }", fix: "push.send { to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "send.pace", .failure, means: "The pace is invalid.",
                when: "A pace is not a number from 1 to 1,000,000,000, followed by a slash and s, m or h. Status 400.",
                fix: "Give a number of devices per second, minute or hour: 200/s, 1000/m, 5000/h.",
                example: .lua(
                    "push.send { to = push.everyone, alert = \"1:0\", pace = \"fast\" }",
                    fix: "push.send { to = push.everyone, alert = \"1:0\", pace = \"200/s\" }")),
            ErrorDescription(
                "send.header", .misuse, means: "The push service does not accept this header from senders.",
                when: "The header is not one of the platform, or its value has characters that are not allowed in headers. Credentials and "
                    + "ids are set by the server.",
                fix: "Use apns-… for APNs, X-WNS-… for WNS, and TTL, Urgency and Topic for browsers. FCM has no headers; its options are "
                    + "part of the payload's message.",
                example: .lua(
                    "push.send { to = \"Sports\", payload = { apns = { aps = { alert = \"Goal\" } } }, headers = { apns = { priority = \"5\" } } }",
                    fix: """
                        push.send {
                          to = "Sports",
                          payload = { apns = { aps = { alert = "Goal" } } },
                          headers = { apns = { ["apns-priority"] = "5" } },
                        }
                        """)),
        ])

    private static let payload = ErrorArea(
        "payload", "bodies for push services",
        [
            ErrorDescription(
                "payload.too_large", .failure, means: "The body exceeds the limit of its push service.",
                when: "APNs and FCM accept 4,096 bytes (APNs 5,120 for VoIP), WNS 5,000, browsers 3,993; template properties may have "
                    + "65,536. A served hub accepts up to 65,536 bytes; devices whose service accepts less get the outcome "
                    + "InvalidNotificationSize. Headers may have 65,536 bytes for all platforms together. Characters beyond ASCII take "
                    + "more than one byte. Status 413.",
                fix: "Shorten the text, or send an id and let the app fetch the rest.",
                example: .lua(
                    "push.send { to = \"Sports\", alert = (\"Goal! \"):rep(1000) }",
                    fix: "push.send { to = \"Sports\", alert = \"Goal!\" }")),
            ErrorDescription(
                "payload.invalid", .failure, .misuse, means: "The body is not in the format of its push service.",
                when: "The payload for APNs or FCM is not a JSON object; that for WNS is not XML with the root element given by "
                    + "X-WNS-Type, or toast, tile or badge; or a table mixes names and list indices, or contains functions. Status 400.",
                fix: "Pass a table; pushhost writes the JSON. For WNS write a toast, or set X-WNS-Type to wns/raw.",
                example: .lua(
                    "push.send { to = \"Sports\", payload = { apns = \"Goal\" } }",
                    fix: "push.send { to = \"Sports\", payload = { apns = { aps = { alert = \"Goal\" } } } }")),
            ErrorDescription(
                "payload.empty_list", .warning, .finding,
                means: "An empty table is written as an object where push services expect a list.",
                when: "loc-args, title-loc-args or another list of a payload is {}. An empty Lua table is written as the object {}, which "
                    + "phones ignore or reject.",
                fix: "Write push.json.array {}, or leave the member out.",
                example: .lua(
                    """
                    push.send {
                      device = phone,
                      payload = { apns = { aps = { alert = { ["loc-key"] = "GOAL", ["loc-args"] = {} } } } },
                    }
                    """,
                    fix: """
                        push.send {
                          device = phone,
                          payload = { apns = { aps = { alert = { ["loc-key"] = "GOAL", ["loc-args"] = push.json.array {} } } } },
                        }
                        """)),
            ErrorDescription(
                "payload.empty", .failure, means: "There is no content to send.",
                when: "The body for a platform is empty, or no platform has a body. Status 400.", fix: "Add a body.",
                example: .lua(
                    "push.send { to = \"Sports\", payload = { fcm = \"\" } }",
                    fix: "push.send { to = \"Sports\", payload = { fcm = { message = { notification = { body = \"Goal\" } } } } }")),
            ErrorDescription(
                "payload.no_platform", .failure, means: "There is no body for the device's platform.",
                when: "A send to a single device has payloads, but none for its push service. Status 400.",
                fix: "Add a payload for the platform, or use alert, which covers all platforms.",
                example: .lua(
                    "push.send { device = phone, payload = { wns = \"<toast/>\" } }",
                    fix: "push.send { device = phone, payload = { apns = { aps = { alert = \"Goal\" } } } }")),
            ErrorDescription(
                "payload.template_direct", .failure, means: "Template properties cannot be sent directly to a device.",
                when: "push.send has \"device\" and \"properties\". Templates belong to registrations, which a direct send does not use. "
                    + "Status 400.",
                fix: "Use alert or payload, or address the registration with \"to\".",
                example: .lua(
                    "push.send { device = phone, properties = { headline = \"Goal\" } }",
                    fix: "push.send { device = phone, alert = \"Goal\" }")),
            ErrorDescription(
                "payload.property_name", .failure, means: "The name of a template property is invalid.",
                when: "A name has characters other than letters, digits and _, or more than 120 of them. Status 400.",
                fix: "Rename the property, here and in the template.",
                example: .lua(
                    "push.send { to = \"Sports\", properties = { [\"head-line\"] = \"Goal\" } }",
                    fix: "push.send { to = \"Sports\", properties = { headline = \"Goal\" } }")),
            ErrorDescription(
                "payload.collapse_id", .failure, means: "The collapse id is invalid.",
                when: "It exceeds 64 bytes, or has characters that are not allowed in headers. Status 400.",
                fix: "Use a short ASCII name, such as score-17.",
                example: .lua(
                    "push.send { to = \"Sports\", alert = \"1:0\", collapse_id = (\"score\"):rep(20) }",
                    fix: "push.send { to = \"Sports\", alert = \"1:0\", collapse_id = \"score-17\" }")),
        ])

    private static let schedule = ErrorArea(
        "schedule", "scheduled sends and schedules",
        AutomationErrors.schedules + [
            ErrorDescription(
                "schedule.when", .misuse, means: "A scheduled notification has no due time, or two.",
                when: "push.schedule got neither or both of \"at\" and \"after\".", fix: "Use one of them.",
                example: .lua(
                    "push.schedule { to = \"Sports\", alert = \"Goal\" }",
                    fix: "push.schedule { after = \"2h\", to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "schedule.past", .warning, means: "The due time of a notification is in the past, so it is sent at once.",
                when: "\"at\" of push.schedule is before the current time of the run. In a rehearsal the clock starts on 5 January 2026.",
                fix: "Check year, month and time zone. Use push.send to send at once.",
                example: .lua(
                    "push.schedule { at = \"2020-01-01T00:00:00Z\", to = \"Sports\", alert = \"Goal\" }",
                    fix: "push.send { to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "schedule.unsent", .warning, means: "A scheduled notification was never sent.",
                when: "The run ended before the due time. The clock of a rehearsal advances only while the flow waits.",
                fix: "Wait with push.sleep, or cancel the notification.",
                example: .lua(
                    "push.schedule { after = \"2h\", to = \"Sports\", alert = \"Goal\" }",
                    fix: """
                        push.schedule { after = "2h", to = "Sports", alert = "Goal" }
                        push.sleep "2h"
                        """)),
            ErrorDescription(
                "schedule.left", .warning, means: "A scheduled notification remains in the hub of a server's lab.",
                when: "The run ended before the due time. The server continues, and sends it to the devices that are registered then; the "
                    + "devices of the run no longer exist.",
                fix: "Wait with push.sleep, or cancel it with push.cancel at the end of the flow. To cancel it on the server: pushhost "
                    + "notification cancel ID."),
            ErrorDescription(
                "schedule.unsettled", .warning, means: "The report omits scheduled notifications.",
                when: "The run had more than 1,000 of them when it was cancelled or exceeded a budget.",
                fix: "Look at the error that ended the run. push.outcome and pushhost notification show the state of each notification."),
        ])

    private static let localization = ErrorArea(
        "localization", "texts in the device's language",
        [
            ErrorDescription(
                "localization.language", .failure, means: "The language tag is invalid.",
                when: "A language is not written as in BCP 47, often with an underscore instead of a hyphen. Status 400.",
                fix: "Write en, pt-BR or zh-Hant.",
                example: .lua(
                    "print(push.locale.choose(\"pt_BR\", { \"en\", \"pt\" }, \"en\"))",
                    fix: "print(push.locale.choose(\"pt-BR\", { \"en\", \"pt\" }, \"en\"))")),
            ErrorDescription(
                "localization.fallback", .failure, means: "The fallback language has no text.",
                when: "Without it, devices whose language has no text would get none. Status 400.",
                fix: "Add a text for the fallback language, or choose a language that has one.",
                example: .lua(
                    "push.locale.properties { name = \"News\", texts = { pt = \"Golo\" }, fallback = \"en\" }",
                    fix: "push.locale.properties { name = \"News\", texts = { pt = \"Golo\", en = \"Goal\" }, fallback = \"en\" }")),
            ErrorDescription(
                "localization.duplicate", .failure, means: "Two texts have the same property name.",
                when: "Two language names differ only in case, or in characters that are not allowed in properties. Status 400.",
                fix: "Remove one of the texts.",
                example: .lua(
                    "push.locale.properties { name = \"News\", texts = { pt = \"Golo\", PT = \"Gol\" }, fallback = \"pt\" }",
                    fix: "push.locale.properties { name = \"News\", texts = { pt = \"Golo\" }, fallback = \"pt\" }")),
            ErrorDescription(
                "localization.name", .failure, means: "The name of a localised property is invalid.",
                when: "The name has characters other than letters, digits and _, or exceeds 120 characters together with its language. "
                    + "Status 400.",
                fix: "Rename the property, here and in the templates.",
                example: .lua(
                    "print(push.locale.property(\"head-line\", \"pt-BR\"))", fix: "print(push.locale.property(\"headline\", \"pt-BR\"))")),
        ])

    private static let tag = ErrorArea(
        "tag", "tags",
        [
            ErrorDescription(
                "tag.invalid", .failure, means: "The tag is invalid.",
                when: "It is empty, exceeds 120 characters, or has characters other than letters, digits and _ - @ # . : (often a space). "
                    + "Status 400.",
                fix: "Replace the character that the caret marks.",
                example: .lua(
                    "session:register { device = phone, tags = { \"breaking news\" } }",
                    fix: "session:register { device = phone, tags = { \"breaking_news\" } }")),
            ErrorDescription(
                "tag.too_many", .failure, means: "The registration has too many tags.",
                when: "It would have more than 1,000. Azure allows 60. Status 400.",
                fix: "Use tags only for addressing sends, and store other data elsewhere.",
                example: .lua(
                    """
                    local tags = {}
                    for i = 1, 1001 do tags[i] = "item-" .. i end
                    session:register { device = phone, tags = tags }
                    """,
                    fix: "session:register { device = phone, tags = { \"items\" } }")),
            ErrorDescription(
                "tag.reserved", .failure, means: "The tag is reserved for the hub.",
                when: "The tag starts with $, as in $InstallationId:{…} and $UserId:{…}. With it the device would receive notifications "
                    + "for another device or user. This applies to registrations, installations and their templates, import jobs, scripts "
                    + "and plugins. Status 400.",
                fix: "Remove the tag. The hub assigns $InstallationId:{…} to every installation, and $UserId:{…} to those with a userId; "
                    + "both can be used in tag expressions of sends.",
                example: .lua(
                    "push.install(\"f81d4fae\", { device = phone, tags = { \"$UserId:{ana}\" } })",
                    fix: "push.install(\"f81d4fae\", { device = phone, user = \"ana\" })")),
        ])

    private static let tags = ErrorArea(
        "tags", "tags of sends, and comparison of tag expressions",
        [
            ErrorDescription(
                "tags.empty", .answer, means: "A send has an empty list of tags.",
                when: "The header ServiceBusNotification-Tags is empty or blank, often because of a variable without a value. Nothing was "
                    + "sent. Status 400.",
                fix: "Give tags, or omit the header to send to everyone. With the setting hub.empty_tags: everyone, an empty header means "
                    + "everyone."),
            ErrorDescription(
                "tags.too_complex", .refusal, .answer, means: "The two expressions are too complex to compare.",
                when: "Together they have more than 2,000 different tags, or related tags are so far apart that the comparison would take "
                    + "too long. Status 422.",
                fix: "Compare the parts one by one, or write tags of one condition next to each other."),
        ])

    private static let tagExpression = ErrorArea(
        "tag_expression", "tag expressions",
        [
            ErrorDescription(
                "tag_expression.invalid", .failure, means: "The tag expression is invalid.",
                when: "A parenthesis or tag is missing, operators stand where a tag is expected, or \"*\" is used for everyone: the caret "
                    + "marks the position. Or the expression of a notification has more than 65,536 bytes. Status 400.",
                fix: "Write tags with ! && || and parentheses. push.tag.any, all and none build expressions.",
                example: .lua(
                    "push.send { to = \"Sports and not muted\", alert = \"Goal\" }",
                    fix: "push.send { to = \"Sports && !muted\", alert = \"Goal\" }")),
            ErrorDescription(
                "tag_expression.too_long", .failure, means: "The tag expression has too many tags.",
                when: "A served hub gets more than 20 tags that are joined only by ||, or more than 6 otherwise. Status 400.",
                fix: "Split the send into several, each with fewer tags."),
        ])

    private static let template = ErrorArea(
        "template", "templates of registrations",
        [
            ErrorDescription(
                "template.syntax", .failure, means: "An expression in the template is invalid.",
                when: "$(name), $(name, 20), .(name, 20), %(name), #(name) or {'text' + $(name)} is not closed or has other content. The "
                    + "message gives line and column. Status 400.",
                fix: "Correct the expression at the caret.",
                example: .lua(
                    "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline\"}}' }",
                    fix: "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline)\"}}' }")),
            ErrorDescription(
                "template.text", .warning, .finding, means: "The template has an expression inside a text, where it is not replaced.",
                when:
                    "$(name) is replaced only as a whole value of the body or of a header, as in Azure. In \"Hi $(name)\" devices show it "
                    + "unreplaced. A hub logs it once for each stored template, and plans mention it.",
                fix: "Join text and expression in braces, as shown in the warning.",
                example: .lua(
                    "session:register { device = phone, template = '{\"aps\":{\"alert\":\"Hi $(name)\"}}' }",
                    fix: "session:register { device = phone, template = [[{\"aps\":{\"alert\":\"{'Hi ' + $(name)}\"}}]] }")),
            ErrorDescription(
                "template.document", .failure, means: "The JSON or XML of the template is malformed.",
                when: "A quote, bracket or end tag is missing. The message gives line and column. Status 400.",
                fix: "Correct the template. It must be a complete document with expressions inside its values.",
                example: .lua(
                    "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline)\"}' }",
                    fix: "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline)\"}}' }")),
            ErrorDescription(
                "template.format", .failure, means: "The template is not in the format of its platform.",
                when: "It is neither JSON nor XML, is not an object for APNs or FCM, or has a root element other than toast, tile or badge "
                    + "for WNS. Status 400.",
                fix: "Use { \"aps\": … } for APNs, { \"message\": … } for FCM, and <toast>, <tile> or <badge> for WNS.",
                example: .lua(
                    "session:register { device = phone, template = \"$(headline)\" }",
                    fix: "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline)\"}}' }")),
            ErrorDescription(
                "template.name", .failure, means: "The name of the template is too long.",
                when: "It exceeds 200 characters. Status 400.", fix: "Shorten the name.",
                example: .lua(
                    "session:register { device = phone, template = { name = (\"n\"):rep(201), body = '{\"aps\":{}}' } }",
                    fix: "session:register { device = phone, template = { name = \"news\", body = '{\"aps\":{}}' } }")),
            ErrorDescription(
                "template.header", .failure, means: "A header of the template is invalid for its platform.",
                when: "A template for APNs has a header that does not begin with apns-, or one for WNS has an unknown X-WNS-Type. Status "
                    + "400.",
                fix: "Use apns-priority, apns-push-type and so on for APNs; wns/toast, wns/tile, wns/badge or wns/raw for WNS.",
                example: .lua(
                    "session:register { device = phone, template = { body = '{\"aps\":{}}', headers = { priority = \"5\" } } }",
                    fix:
                        "session:register { device = phone, template = { body = '{\"aps\":{}}', headers = { [\"apns-priority\"] = \"5\" } } }"
                )),
            ErrorDescription(
                "template.priority", .failure, means: "The priority of the template is invalid.",
                when: "apns-priority is neither a number from 0 to 255 nor an expression. Status 400.", fix: "Use 10, 5 or 1.",
                example: .lua(
                    "session:register { device = phone, template = { body = '{\"aps\":{}}', headers = { [\"apns-priority\"] = \"high\" } } }",
                    fix:
                        "session:register { device = phone, template = { body = '{\"aps\":{}}', headers = { [\"apns-priority\"] = \"10\" } } }"
                )),
            ErrorDescription(
                "template.expiry", .failure, means: "The expiry of the template is invalid.",
                when: "expiry is neither a time, nor 0, nor an expression. Status 400.",
                fix: "Use 2026-01-31T12:00:00Z, 0 for delivery at once or not at all, or $(expiry).",
                example: .lua(
                    "session:register { device = phone, template = { body = '{\"aps\":{}}', expiry = \"tomorrow\" } }",
                    fix: "session:register { device = phone, template = { body = '{\"aps\":{}}', expiry = \"2026-01-31T12:00:00Z\" } }")),
            ErrorDescription(
                "template.platform", .failure, means: "The template is for another platform than the handle.",
                when: "A template of one platform is registered with a handle of another. Status 400.",
                fix: "Use a template for the platform of the device."),
            ErrorDescription(
                "template.invalid", .failure,
                means: "The template cannot be read.",
                when: "Reading it failed for a reason that has no code of its own, unlike template.syntax or template.document. Status "
                    + "400.",
                fix: "Check that the body is a complete JSON or XML document, with expressions only as values. If it is, report a bug "
                    + "with the template."),
        ])

    private static let azure = ErrorArea(
        "azure", "limits of Azure Notification Hubs",
        [
            ErrorDescription(
                "azure.limits", .warning, .finding, means: "The flow exceeds a limit of Azure.",
                when: "A tag expression exceeds Azure's limits: 20 tags with || alone, 6 with && or !. A rehearsal sends it nevertheless. "
                    + "pushhost check --target azure reports it as an error before a run, and also more than 60 tags on a registration.",
                fix: "Combine tags that belong together into one, or split the send.",
                example: .lua(
                    "push.send { to = \"a && b && c && d && e && f && g\", alert = \"Goal\" }",
                    fix: "push.send { to = \"a && b && c && d && e && f\", alert = \"Goal\" }"))
        ])
}

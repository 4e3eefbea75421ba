// What is sent, and to whom.
extension ErrorCatalogue {
    static let contentAreas: [ErrorArea] = [send, schedule, payload, localization, tag, tags, tagExpression, template, azure]

    private static let send = ErrorArea(
        "send", "the arguments of push.send",
        [
            ErrorDescription(
                "send.no_audience", .misuse, means: "A send names nobody.",
                when: "\"to\" is absent or empty. There is no default audience, and an empty text never means everybody.",
                cure: "Name a tag, an expression, or push.everyone if everybody is meant.",
                example: .lua("push.send { alert = \"Hello\" }", cure: "push.send { to = push.tag.user \"alice\", alert = \"Hello\" }")),
            ErrorDescription(
                "send.audience", .misuse, means: "A send names two audiences.",
                when: "\"to\" and \"device\" are both given.",
                cure: "Keep \"to\" to reach registrations, or \"device\" to go straight to one handle.",
                example: .lua(
                    "push.send { to = \"Sports\", device = phone, alert = \"Hello\" }",
                    cure: "push.send { device = phone, alert = \"Hello\" }")),
            ErrorDescription(
                "send.no_content", .misuse, means: "A send has no content, or two.",
                when: "None or more than one of \"alert\", \"properties\" and \"payload\" is given; or \"title\" and \"headers\" "
                    + "stand beside what they do not go with.",
                cure: "alert shows a text on every platform, properties fill templates, payload is written per platform: keep one.",
                example: .lua("push.send { to = \"Sports\" }", cure: "push.send { to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "send.pace", .failure, means: "That is no pace.",
                when: "A pace is not a number from 1 to 1,000,000,000, a slash, and s, m or h. Status 400.",
                cure: "Say how many devices in a second, a minute or an hour: 200/s, 1000/m, 5000/h.",
                example: .lua(
                    "push.send { to = push.everyone, alert = \"1:0\", pace = \"fast\" }",
                    cure: "push.send { to = push.everyone, alert = \"1:0\", pace = \"200/s\" }")),
            ErrorDescription(
                "send.header", .misuse, means: "The push service takes no such header from a sender.",
                when: "A header is not one of the platform's, or has characters that no header can carry. Credentials and ids "
                    + "are the connector's to set.",
                cure: "APNs takes apns-…, WNS X-WNS-…, browsers TTL, Urgency and Topic; FCM has none: its options stand in the "
                    + "payload's message.",
                example: .lua(
                    "push.send { to = \"Sports\", payload = { apns = { aps = { alert = \"Goal\" } } }, headers = { apns = { priority = \"5\" } } }",
                    cure: """
                        push.send {
                          to = "Sports",
                          payload = { apns = { aps = { alert = "Goal" } } },
                          headers = { apns = { ["apns-priority"] = "5" } },
                        }
                        """)),
        ])

    private static let payload = ErrorArea(
        "payload", "the bodies that go to the push services",
        [
            ErrorDescription(
                "payload.too_large", .failure, means: "The body is larger than its push service takes.",
                when:
                    "APNs and FCM take 4,096 bytes (APNs 5,120 for VoIP), WNS 5,000, browsers 3,993; template properties may have 65,536. "
                    + "A served hub takes what has 65,536 bytes, and devices whose service takes less have the outcome "
                    + "InvalidNotificationSize. Letters beyond ASCII have more than one byte. Status 413.",
                cure: "Shorten the text, or send an id and let the app fetch the rest.",
                example: .lua(
                    "push.send { to = \"Sports\", alert = (\"Goal! \"):rep(1000) }",
                    cure: "push.send { to = \"Sports\", alert = \"Goal!\" }")),
            ErrorDescription(
                "payload.invalid", .failure, .misuse, means: "The body is not what its push service takes.",
                when:
                    "The payload of APNs or FCM is not a JSON object; that of WNS is not XML whose root element is what X-WNS-Type says, "
                    + "or toast, tile or badge; or a table has both names and places, or functions in it. Status 400.",
                cure: "Pass a table; pushhost writes the JSON. For WNS write a toast, or give X-WNS-Type the value wns/raw.",
                example: .lua(
                    "push.send { to = \"Sports\", payload = { apns = \"Goal\" } }",
                    cure: "push.send { to = \"Sports\", payload = { apns = { aps = { alert = \"Goal\" } } } }")),
            ErrorDescription(
                "payload.empty", .failure, means: "There is nothing to send.",
                when: "The body of a platform is an empty text, or no platform has one. Status 400.", cure: "Give it a body.",
                example: .lua(
                    "push.send { to = \"Sports\", payload = { fcm = \"\" } }",
                    cure: "push.send { to = \"Sports\", payload = { fcm = { message = { notification = { body = \"Goal\" } } } } }")),
            ErrorDescription(
                "payload.no_platform", .failure, means: "There is no body for the device's platform.",
                when: "A send straight to a device has payloads, but none for its push service. Status 400.",
                cure: "Add a payload for the platform, or send alert, which has one for each.",
                example: .lua(
                    "push.send { device = phone, payload = { wns = \"<toast/>\" } }",
                    cure: "push.send { device = phone, payload = { apns = { aps = { alert = \"Goal\" } } } }")),
            ErrorDescription(
                "payload.template_direct", .failure, means: "Template properties cannot go straight to a device.",
                when: "push.send has \"device\" and \"properties\": the template belongs to a registration, and there is none. Status 400.",
                cure: "Send alert or payload, or address the registration with \"to\".",
                example: .lua(
                    "push.send { device = phone, properties = { headline = \"Goal\" } }",
                    cure: "push.send { device = phone, alert = \"Goal\" }")),
            ErrorDescription(
                "payload.property_name", .failure, means: "That cannot be the name of a template property.",
                when: "A name has other characters than letters, digits and _, or more than 120. Status 400.",
                cure: "Rename the property, here and in the template.",
                example: .lua(
                    "push.send { to = \"Sports\", properties = { [\"head-line\"] = \"Goal\" } }",
                    cure: "push.send { to = \"Sports\", properties = { headline = \"Goal\" } }")),
            ErrorDescription(
                "payload.collapse_id", .failure, means: "The collapse id cannot be used.",
                when: "It has more than 64 bytes, or characters that no header can carry. Status 400.",
                cure: "Choose a short name in ASCII, such as score-17.",
                example: .lua(
                    "push.send { to = \"Sports\", alert = \"1:0\", collapse_id = (\"score\"):rep(20) }",
                    cure: "push.send { to = \"Sports\", alert = \"1:0\", collapse_id = \"score-17\" }")),
        ])

    private static let schedule = ErrorArea(
        "schedule", "what is sent or done later",
        automationSchedules + [
            ErrorDescription(
                "schedule.when", .misuse, means: "A scheduled notification has no moment, or two.",
                when: "push.schedule got none of \"at\" and \"after\", or both.", cure: "Give one of them.",
                example: .lua(
                    "push.schedule { to = \"Sports\", alert = \"Goal\" }",
                    cure: "push.schedule { after = \"2h\", to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "schedule.past", .warning, means: "A notification was scheduled for a moment that has passed, and goes out at once.",
                when: "\"at\" of push.schedule lies before the present time of the run, which begins on 5 January 2026 in a rehearsal.",
                cure: "Look at the year, the month and the time zone; write push.send where at once is meant.",
                example: .lua(
                    "push.schedule { at = \"2020-01-01T00:00:00Z\", to = \"Sports\", alert = \"Goal\" }",
                    cure: "push.send { to = \"Sports\", alert = \"Goal\" }")),
            ErrorDescription(
                "schedule.unsent", .warning, means: "A scheduled notification was never sent.",
                when: "The run ended before its time. The clock of a rehearsal moves only while the flow waits.",
                cure: "Wait for it with push.sleep, or cancel it if it was only an example.",
                example: .lua(
                    "push.schedule { after = \"2h\", to = \"Sports\", alert = \"Goal\" }",
                    cure: """
                        push.schedule { after = "2h", to = "Sports", alert = "Goal" }
                        push.sleep "2h"
                        """)),
            ErrorDescription(
                "schedule.left", .warning, means: "A scheduled notification stays in the hub of a server's lab.",
                when: "The run ended before its time. The server goes on, and sends it to whoever is registered then; the phones of the "
                    + "run are gone.",
                cure: "Wait for it with push.sleep, or cancel it at the end of the flow with push.cancel. One that was left is taken back "
                    + "at the server: pushhost notification cancel ID."),
            ErrorDescription(
                "schedule.unsettled", .warning, means: "The report leaves scheduled notifications out.",
                when: "The run had more than 1,000 of them when it was cancelled or had spent a budget.",
                cure:
                    "Look at the error that ended the run. push.outcome and pushhost notification show how one of them stands at a server."),
        ])

    private static let localization = ErrorArea(
        "localization", "texts in the language of the device",
        [
            ErrorDescription(
                "localization.language", .failure, means: "The text is no language tag.",
                when: "A language is not written as in BCP 47; mostly an underscore stands for a hyphen. Status 400.",
                cure: "Write en, pt-BR or zh-Hant.",
                example: .lua(
                    "print(push.locale.choose(\"pt_BR\", { \"en\", \"pt\" }, \"en\"))",
                    cure: "print(push.locale.choose(\"pt-BR\", { \"en\", \"pt\" }, \"en\"))")),
            ErrorDescription(
                "localization.fallback", .failure, means: "The fallback language has no text.",
                when: "A device whose language has no text would get none. Status 400.",
                cure: "Give a text for the fallback, or name a language that has one.",
                example: .lua(
                    "push.locale.properties { name = \"News\", texts = { pt = \"Golo\" }, fallback = \"en\" }",
                    cure: "push.locale.properties { name = \"News\", texts = { pt = \"Golo\", en = \"Goal\" }, fallback = \"en\" }")),
            ErrorDescription(
                "localization.duplicate", .failure, means: "Two texts give the same property.",
                when: "The names of two languages differ only in case or in signs that a property cannot have. Status 400.",
                cure: "Keep one of the texts.",
                example: .lua(
                    "push.locale.properties { name = \"News\", texts = { pt = \"Golo\", PT = \"Gol\" }, fallback = \"pt\" }",
                    cure: "push.locale.properties { name = \"News\", texts = { pt = \"Golo\" }, fallback = \"pt\" }")),
            ErrorDescription(
                "localization.name", .failure, means: "That cannot be the name of a localised property.",
                when: "The name has other characters than letters, digits and _, or is longer than 120 with its language. Status 400.",
                cure: "Rename the property, here and in the templates.",
                example: .lua(
                    "print(push.locale.property(\"head-line\", \"pt-BR\"))", cure: "print(push.locale.property(\"headline\", \"pt-BR\"))")),
        ])

    private static let tag = ErrorArea(
        "tag", "tags",
        [
            ErrorDescription(
                "tag.invalid", .failure, means: "The text is no tag.",
                when: "It is empty, longer than 120 characters, or has others than letters, digits and _ - @ # . : in it; "
                    + "mostly a blank. Status 400.",
                cure: "Replace what does not fit, the caret shows where.",
                example: .lua(
                    "session:register { device = phone, tags = { \"breaking news\" } }",
                    cure: "session:register { device = phone, tags = { \"breaking_news\" } }")),
            ErrorDescription(
                "tag.too_many", .failure, means: "A registration has too many tags.",
                when: "It would have more than 1,000. Azure takes 60. Status 400.",
                cure: "Keep what sends are addressed to; everything else belongs into your own data.",
                example: .lua(
                    """
                    local tags = {}
                    for i = 1, 1001 do tags[i] = "item-" .. i end
                    session:register { device = phone, tags = tags }
                    """,
                    cure: "session:register { device = phone, tags = { \"items\" } }")),
            ErrorDescription(
                "tag.reserved", .failure, means: "A client gives a device a tag that only the hub gives.",
                when: "The tag starts with $, as $InstallationId:{…} and $UserId:{…} do: with it the device would receive what is sent to "
                    + "another device or user. Registrations, installations with their templates, import jobs, scripts and plugins are "
                    + "refused alike. Status 400.",
                cure: "Remove the tag. The hub gives $InstallationId:{…} to every installation, and $UserId:{…} to one with a userId; both "
                    + "can be used in the tag expression of a send.",
                example: .lua(
                    "push.install(\"f81d4fae\", { device = phone, tags = { \"$UserId:{ana}\" } })",
                    cure: "push.install(\"f81d4fae\", { device = phone, user = \"ana\" })")),
        ])

    private static let tags = ErrorArea(
        "tags", "tags of a send, and comparing tag expressions",
        [
            ErrorDescription(
                "tags.empty", .answer, means: "A send names no tags, and does not say that everyone is meant.",
                when: "A served hub gets a send whose header ServiceBusNotification-Tags is empty or blank: mostly a variable without a "
                    + "value. Nothing was sent. Status 400.",
                cure: "Name tags, or leave the header out to send to everyone. The setting hub.empty_tags: everyone accepts an empty "
                    + "header as one to everyone."),
            ErrorDescription(
                "tags.too_complex", .refusal, .answer, means: "The two expressions cannot be compared.",
                when: "They have more than 2,000 different tags together, or tags that belong together stand so far apart that the "
                    + "comparison would take too long. Status 422.",
                cure: "Compare their parts one by one, or write tags that stand in one condition next to each other."),
        ])

    private static let tagExpression = ErrorArea(
        "tag_expression", "tag expressions",
        [
            ErrorDescription(
                "tag_expression.invalid", .failure, means: "The tag expression cannot be read.",
                when: "A bracket or a tag is missing, signs stand where a tag should, or \"*\" is written for everybody. The "
                    + "caret shows the place. Status 400.",
                cure: "Write tags with ! && || and brackets; push.tag.any, all and none build expressions for you.",
                example: .lua(
                    "push.send { to = \"Sports and not muted\", alert = \"Goal\" }",
                    cure: "push.send { to = \"Sports && !muted\", alert = \"Goal\" }")),
            ErrorDescription(
                "tag_expression.too_long", .failure, means: "The tag expression has too many tags.",
                when: "A served hub gets more than 20 tags that are joined by || alone, or more than 6 otherwise. Status 400.",
                cure: "Send more than once, with fewer tags each."),
        ])

    private static let template = ErrorArea(
        "template", "templates of registrations",
        [
            ErrorDescription(
                "template.syntax", .failure, means: "An expression in the template cannot be read.",
                when: "$(name), $(name, 20), .(name, 20), %(name), #(name) or {'text' + $(name)} is not closed or has something "
                    + "else in it. The message names line and column. Status 400.",
                cure: "Correct the expression at the caret.",
                example: .lua(
                    "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline\"}}' }",
                    cure: "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline)\"}}' }")),
            ErrorDescription(
                "template.text", .warning, .finding, means: "A template has an expression inside text, where it is not replaced.",
                when:
                    "$(name) is replaced only where it is the whole value, as in Azure; in \"Hi $(name)\" phones show it as it is written. "
                    + "A hub logs it once for each template that is stored, and plans name it.",
                cure: "Join text and expression in braces, as the warning shows.",
                example: .lua(
                    "session:register { device = phone, template = '{\"aps\":{\"alert\":\"Hi $(name)\"}}' }",
                    cure: "session:register { device = phone, template = [[{\"aps\":{\"alert\":\"{'Hi ' + $(name)}\"}}]] }")),
            ErrorDescription(
                "template.document", .failure, means: "The JSON or XML of the template is malformed.",
                when: "A quote, a bracket or an end tag is missing. The message names line and column. Status 400.",
                cure: "Correct the place; a template must be a whole document with the expressions inside its values.",
                example: .lua(
                    "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline)\"}' }",
                    cure: "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline)\"}}' }")),
            ErrorDescription(
                "template.format", .failure, means: "The template is not of the kind that its platform takes.",
                when: "It is neither JSON nor XML, or not an object for APNs and FCM, or its root is not toast, tile or badge "
                    + "for WNS. Status 400.",
                cure: "APNs: { \"aps\": … }. FCM: { \"message\": … }. WNS: <toast>, <tile> or <badge>.",
                example: .lua(
                    "session:register { device = phone, template = \"$(headline)\" }",
                    cure: "session:register { device = phone, template = '{\"aps\":{\"alert\":\"$(headline)\"}}' }")),
            ErrorDescription(
                "template.name", .failure, means: "The template's name is too long.",
                when: "It has more than 200 characters. Status 400.", cure: "Shorten the name.",
                example: .lua(
                    "session:register { device = phone, template = { name = (\"n\"):rep(201), body = '{\"aps\":{}}' } }",
                    cure: "session:register { device = phone, template = { name = \"news\", body = '{\"aps\":{}}' } }")),
            ErrorDescription(
                "template.header", .failure, means: "A header of the template does not fit its platform.",
                when: "A template for APNs has a header that does not begin with apns-, or one for WNS an X-WNS-Type that does "
                    + "not exist. Status 400.",
                cure: "APNs: apns-priority, apns-push-type and so on. WNS: wns/toast, wns/tile, wns/badge or wns/raw.",
                example: .lua(
                    "session:register { device = phone, template = { body = '{\"aps\":{}}', headers = { priority = \"5\" } } }",
                    cure:
                        "session:register { device = phone, template = { body = '{\"aps\":{}}', headers = { [\"apns-priority\"] = \"5\" } } }"
                )),
            ErrorDescription(
                "template.priority", .failure, means: "The template's priority is no priority of APNs.",
                when: "apns-priority is neither a number from 0 to 255 nor an expression. Status 400.", cure: "Write 10, 5 or 1.",
                example: .lua(
                    "session:register { device = phone, template = { body = '{\"aps\":{}}', headers = { [\"apns-priority\"] = \"high\" } } }",
                    cure:
                        "session:register { device = phone, template = { body = '{\"aps\":{}}', headers = { [\"apns-priority\"] = \"10\" } } }"
                )),
            ErrorDescription(
                "template.expiry", .failure, means: "The template's expiry is no moment.",
                when: "expiry is neither a date, nor 0, nor an expression. Status 400.",
                cure: "Write 2026-01-31T12:00:00Z, 0 for \"now or never\", or $(expiry).",
                example: .lua(
                    "session:register { device = phone, template = { body = '{\"aps\":{}}', expiry = \"tomorrow\" } }",
                    cure: "session:register { device = phone, template = { body = '{\"aps\":{}}', expiry = \"2026-01-31T12:00:00Z\" } }")),
            ErrorDescription(
                "template.platform", .failure, means: "The template is for another push service than the handle.",
                when: "A template that was made for one platform is registered with a handle of another. Status 400.",
                cure: "Make the template for the platform of the device."),
            ErrorDescription(
                "template.invalid", .failure, means: "The template cannot be read.",
                when: "It is refused without a reason of its own. Status 400.", cure: "Compare it with an example that works."),
        ])

    private static let azure = ErrorArea(
        "azure", "what Azure Notification Hubs would refuse",
        [
            ErrorDescription(
                "azure.limits", .warning, .finding, means: "The flow uses something that Azure would refuse.",
                when: "A tag expression is beyond Azure's limits: 20 tags with || alone, 6 when it has && or !. "
                    + "The rehearsal sends it all the same. pushhost check --target azure reports it as an error before any run, and "
                    + "more than 60 tags on a registration as well.",
                cure: "Give devices one tag for what belongs together, and send to that; or send twice.",
                example: .lua(
                    "push.send { to = \"a && b && c && d && e && f && g\", alert = \"Goal\" }",
                    cure: "push.send { to = \"a && b && c && d && e && f\", alert = \"Goal\" }"))
        ])
}

/// The fields of `messages:send` (Google, "Method: projects.messages.send").
enum FCMRequestShape {
    static let body: FCMShape = .message(["validate_only": .flag, "message": message])

    private static let message: FCMShape = .message([
        "name": .text, "data": .texts, "notification": .message(["title": .text, "body": .text, "image": .text]), "android": android,
        "webpush": webpush, "apns": apns, "fcm_options": .message(["analytics_label": .text]), "token": .text, "fid": .text,
        "topic": .text, "condition": .text,
    ])

    private static let android: FCMShape = .message([
        "collapse_key": .text, "priority": .word(type: "AndroidMessagePriority", ["NORMAL", "HIGH"]), "ttl": .duration,
        "restricted_package_name": .text, "data": .texts, "notification": androidNotification,
        "fcm_options": .message(["analytics_label": .text]), "direct_boot_ok": .flag, "bandwidth_constrained_ok": .flag,
        "restricted_satellite_ok": .flag,
    ])

    private static let androidNotification: FCMShape = .message([
        "title": .text, "body": .text, "icon": .text, "color": .text, "sound": .text, "tag": .text, "click_action": .text,
        "body_loc_key": .text, "body_loc_args": .list(.text), "title_loc_key": .text, "title_loc_args": .list(.text),
        "channel_id": .text, "ticker": .text, "sticky": .flag, "event_time": .time, "local_only": .flag,
        "notification_priority": .word(
            type: "NotificationPriority",
            ["PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX"]),
        "default_sound": .flag, "default_vibrate_timings": .flag, "default_light_settings": .flag, "vibrate_timings": .list(.duration),
        "visibility": .word(type: "Visibility", ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "notification_count": .integer, "light_settings": lightSettings, "image": .text, "bypass_proxy_notification": .flag,
        "proxy": .word(type: "Proxy", ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    ])

    private static let lightSettings: FCMShape = .message([
        "color": .message(["red": .number, "green": .number, "blue": .number, "alpha": .number]), "light_on_duration": .duration,
        "light_off_duration": .duration,
    ])

    private static let apns: FCMShape = .message([
        "headers": .texts, "payload": .object, "fcm_options": .message(["analytics_label": .text, "image": .text]),
        "live_activity_token": .text,
    ])

    private static let webpush: FCMShape = .message([
        "headers": .texts, "data": .texts, "notification": .object, "fcm_options": .message(["link": .text, "analytics_label": .text]),
    ])
}

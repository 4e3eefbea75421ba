import HTTPTypes

/// The paths of the control plane for phones: adds, shows and uninstalls them.
struct PhoneControl {
    let site: SimulatedSite

    /// Returns `nil` for an unknown path or method.
    func respond(_ method: HTTPRequest.Method, _ path: [String], body: [UInt8]) throws(ControlRefusal) -> Answer? {
        switch (method, path.count) {
        case (.post, 1): try addPhone(JSONObject(body))
        case (.get, 1): answer(200, json: JSONValue(members: ["phones": .array(site.phones.phones.map { summary(of: $0) })]))
        case (.get, 2): answer(200, json: details(of: try phone(named: path[1])))
        case (.delete, 2): try uninstall(phone(named: path[1]))
        case (.post, 3) where path[2] == "actions": try act(phone(named: path[1]), JSONObject(body))
        case (.post, 3) where path[2] == "channels": try subscribe(phone(named: path[1]), JSONObject(body))
        default: nil
        }
    }

    private func addPhone(_ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["name", "platform", "user", "locale", "environment", "handle"])
        let name = try fields.text("name")
        let word = try fields.text("platform")
        guard let platform = PhonePlatform(service: word) else {
            throw .request("unknown platform \"\(word)\"", hint: "use one of \(PhonePlatform.names)")
        }
        let environment = try fields.optionalEnvironment("environment") ?? .production
        let description = PhoneDescription(
            name: name, platform: platform, user: try fields.optionalText("user") ?? "",
            locale: try fields.optionalText("locale") ?? "en-US",
            app: PhoneApp(
                SimulatorCredentials.app, environment: environment,
                applicationServerKey: platform == .browser ? site.credentials.applicationServerPublicKey : nil))
        let phone: PhoneID?
        if let handle = try fields.optionalText("handle")?.lowercased() {
            guard platform == .apns, handle.utf8.count % 2 == 0, (64...200).contains(handle.utf8.count), handle.utf8.allSatisfy(Hex.isDigit)
            else {
                throw .request(
                    "\"handle\" is not an APNs device token", hint: "give 64 to 200 hexadecimal digits; omit it for other platforms")
            }
            phone = site.phones.deviceTokens.meet(token: handle, name: name, app: SimulatorCredentials.app, environment: environment)
        } else {
            phone = site.phones.addPhone(uniquelyNamed: description)
        }
        guard let phone else {
            throw ControlRefusal(
                409, "device.exists", "a phone named \"\(name)\", or with this handle, already exists", hint: "choose another name")
        }
        return answer(201, json: summary(of: phone))
    }

    /// Finds a phone by its name, or a counted phone by its token, which then becomes a full phone.
    private func phone(named name: String) throws(ControlRefusal) -> PhoneID {
        guard let phone = site.phones.phone(named: name) ?? site.phones.deviceTokens.meet(member: name.lowercased()) else {
            throw ControlRefusal(
                404, "device.not_found", "unknown phone \"\(name)\"", hint: "GET /phones lists them; POST /phones adds one")
        }
        return phone
    }

    private func details(of phone: PhoneID) -> JSONValue {
        let more: [JSONValue.Member] = [
            .init(name: "is_online", value: .bool(site.phones.isOnline(phone))),
            .init(name: "is_in_low_power", value: .bool(site.phones.isInLowPower(phone))),
            .init(name: "badge", value: .init(site.phones.badge(of: phone))),
            .init(name: "inbox", value: .array(site.phones.inbox(of: phone).map(\.json))),
        ]
        return .object((summary(of: phone).members ?? []) + more)
    }

    private func summary(of phone: PhoneID) -> JSONValue {
        let description = site.phones.description(of: phone)
        let subscription = site.phones.subscription(of: phone).map { [JSONValue.Member(name: "subscription", value: $0.json)] } ?? []
        let summary = JSONValue(members: [
            "name": .init(description?.name), "platform": .init(description?.platform.rawValue),
            "user": .init(description?.user), "locale": .init(description?.locale),
            "handle": .init(site.phones.pushHandle(of: phone)),
        ])
        return .object((summary.members ?? []) + subscription)
    }

    /// Uninstalls the app: its handle is invalid from now on.
    private func uninstall(_ phone: PhoneID) -> Answer {
        site.phones.uninstall(phone)
        return answer(200, json: summary(of: phone))
    }

    /// Applies an action of the user or the network to the phone.
    private func act(_ phone: PhoneID, _ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["action"])
        let word = try fields.text("action")
        guard let action = Self.actions.first(where: { $0.word == word }) else {
            throw .request("unknown action \"\(word)\"", hint: "use one of \(Self.actions.map(\.word).joined(separator: ", "))")
        }
        action.act(site.phones, phone)
        return answer(200, json: details(of: phone))
    }

    private static let actions: [(word: String, act: @Sendable (PhoneLab, PhoneID) -> Void)] = [
        ("offline", { $0.setOffline($1) }), ("online", { $0.setOnline($1) }), ("low_power", { $0.setLowPower($1) }),
        ("full_power", { $0.setFullPower($1) }), ("force_quit", { $0.forceQuit($1) }), ("launch", { $0.launch($1) }),
    ]

    /// Subscribes the app to a broadcast channel, as ActivityKit does when it starts an activity with one.
    private func subscribe(_ phone: PhoneID, _ fields: JSONObject) throws(ControlRefusal) -> Answer {
        try fields.check(allowing: ["channel"])
        let channel = try fields.text("channel")
        guard site.phones.description(of: phone)?.platform == .apns, APNsChannel.isID(channel) else {
            throw .request(
                "invalid broadcast channel \"\(channel)\", or the phone is not an iPhone", hint: "give the id returned at its creation")
        }
        site.phones.join(topic: channel, on: phone)
        return answer(200, json: JSONValue(members: ["channel": .string(channel)]))
    }

    /// `{"phones", "pushes", "by_pushes"}` of the iPhones that are only counted.
    var statistics: JSONValue {
        let statistics = site.phones.deviceTokens.statistics
        return JSONValue(members: [
            "phones": .init(number: statistics.members), "pushes": .init(number: statistics.pushes),
            "by_pushes": .array(statistics.byPushes.map { JSONValue(number: $0) }),
        ])
    }
}

extension InboxItem {
    fileprivate var json: JSONValue {
        JSONValue(members: [
            "id": .string(id), "received_at": .number(String(receivedAt)), "text": .string(text), "title": .string(banner.title),
            "body": .string(banner.body), "is_shown": .bool(isShown), "is_background": .bool(isBackground),
            "reason_not_shown": .init(reasonNotShown), "payload": .string(String(decoding: data, as: UTF8.self)),
        ])
    }
}

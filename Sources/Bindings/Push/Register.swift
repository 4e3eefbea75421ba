import Lua
import PushModel
import Synchronization

/// Registering devices.
enum RegistrationBindings {
    private static let registerParameters: [Parameter] = [
        .required("device", .object("device"), "the device to register: push.device{…}"),
        .optional("tags", .list(.tag), "tags of this device, besides username:<user>, which the backend adds"),
        .optional(
            "template", .template,
            "a template's body, or { name=, body=, headers=, expiry= }; without it the device gets native notifications"),
        .optional("push_variables", .map(.string), "further properties for the template"),
    ]

    private static let registerErrors = [
        "auth.session_expired", "backend.reserved_tag", "device.uninstalled", "hub.gone", "tag.invalid", "template.document",
        "template.format", "template.name", "template.syntax",
    ]

    static let register = Binding(
        "push.register",
        "Registers a device through the app backend: requests an id for the handle, then writes the registration. On 410 it repeats this "
            + "with a new id.",
        takes: .table([.required("session", .object("session"), "the user's session: push.login{…}")] + registerParameters),
        returns: "push.Registration", errors: registerErrors,
        example: "push.register { session = session, device = phone, tags = { \"phone\" } }",
        body: .async { arguments, run in
            let session = try arguments.handle("session", as: SessionObject.self)
            return try await register(session.session, arguments, run)
        })

    static let sessionRegister = Binding(
        "session:register", "Registers a device with this session, like push.register.",
        takes: .table(registerParameters),
        returns: "push.Registration", errors: registerErrors,
        example: "session:register { device = phone, tags = { \"phone\" } }",
        body: .async { arguments, run in
            try await register(arguments.receiver(as: SessionObject.self).session, arguments, run)
        })

    /// The app stores the registration's id under this key, as the apps of the tutorials do.
    private static let rememberedKey = "registrationId"

    private static func register(_ session: Session, _ arguments: Arguments, _ run: FlowRun) async throws -> RegistrationRecord {
        let device = try arguments.handle("device", as: DeviceObject.self)
        let lab = try run.lab
        try run.store(HostCost.storedRegistration, arguments)
        let handle = try await lab.handle(of: device.id)
        let description = RegistrationDescription(
            handle: handle, tags: try arguments.tags("tags"),
            template: try arguments.template("template", platform: handle.platform),
            pushVariables: arguments.table("push_variables")?.texts ?? [:])
        let remembered = try await lab.storage(of: device.id)[rememberedKey].flatMap(RegistrationID.init)
        let registration = try await DeviceRegistrar(backend: run.world.backend)
            .register(session, description, rememberedID: remembered)
        try await lab.store(registration.id.text, for: rememberedKey, on: device.id)
        run.noteRegistration(registration, device: device.name, site: arguments.site)
        run.warn(of: description.template?.embeddedExpressions ?? [], site: arguments.site)
        return RegistrationRecord(registration)
    }
}

extension FlowRun {
    /// Warns of template expressions that are sent unreplaced, once for each.
    func warn(of expressions: [EmbeddedExpression], site: LuaCallSite) {
        for warning in expressions.map(\.warning)
        where state.withLock({ $0.contentWarnings.insert(warning).inserted }) {
            emit(.warning(FlowWarning(code: EmbeddedExpression.code, message: warning, near: [], location: site.location)))
        }
    }
}

extension Arguments {
    /// Reads a template given as its body or as a table.
    func template(_ name: String, platform: Platform) throws -> RegistrationTemplate? {
        switch value(name) {
        case .string(let body)?:
            return try RegistrationTemplate(body: body, platform: platform)
        case .table(let table)?:
            let keys = ["name", "body", "headers", "expiry"]
            for key in table.fields.keys.sorted() where !keys.contains(key) {
                let near = nearest(key, in: keys)
                throw LuaError.misuse(
                    "args.unknown_key", "a template has no key \"\(key)\"\(near.map { "; did you mean \"\($0)\"?" } ?? "")",
                    hint: "its keys are \(keys.joined(separator: ", "))", details: ["key": .string(key)])
            }
            guard case .string(let body)? = table.fields["body"] else {
                throw LuaError.misuse("args.missing", "the template needs a \"body\"", hint: "give it as text")
            }
            for key in ["name", "expiry"] {
                guard let given = table.fields[key] else { continue }
                guard case .string = given else {
                    throw LuaError.misuse("args.wrong_type", "the template's \"\(key)\" must be a string, got \(given.phrase)")
                }
            }
            var headers: [PushHeader] = []
            if let given = table.fields["headers"] {
                guard case .table(let named) = given, named.array.isEmpty else {
                    throw LuaError.misuse(
                        "args.wrong_type", "the template's \"headers\" must be a table of strings, got \(given.phrase)")
                }
                headers = named.texts.sorted { $0.key < $1.key }.map { PushHeader($0.key, $0.value) }
            }
            return try RegistrationTemplate(
                name: table.fields["name"]?.text, body: body, headers: headers, expiry: table.fields["expiry"]?.text,
                platform: platform)
        default:
            return nil
        }
    }
}

extension LuaValue {
    /// The text of a string, number or boolean; nil for other types.
    var text: String? {
        switch self {
        case .string(let text): text
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .boolean(let value): String(value)
        default: nil
        }
    }
}

/// A registration, as scripts see it: `push.Registration`.
struct RegistrationRecord: LuaWritableRecord, Sendable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("id", .text), ("etag", .integer), ("platform", .text), ("tags", [String].luaShape), ("expires", .text),
        ("template", .text.optional), ("template_name", .text.optional),
    ]

    private let registration: Registration

    init(_ registration: Registration) { self.registration = registration }

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(registration.id.text)
        writer.write(registration.etag)
        writer.write(registration.platform.shortName)
        writer.write(registration.tags.map(\.text))
        writer.write(registration.expiration.iso8601(fraction: false))
        writer.write(registration.template?.body)
        writer.write(registration.template?.name)
    }
}

extension LuaTable {
    /// The named values that can be converted to text.
    var texts: [String: String] { fields.compactMapValues(\.text) }
}

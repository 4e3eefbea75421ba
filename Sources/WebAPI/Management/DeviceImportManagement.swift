import Crypto
import HTTPTypes
import HubWire
import PushHub
import PushModel

/// Routes that store and return many devices in one request, completely.
enum DeviceImportManagement {
    static let route = ManagementRoute(
        .post(
            "/api/v1/hubs/{hub}/devices/import", "importDevices",
            "Store many devices, without calling hooks and flows. Repeating the request changes the same devices"),
        .hub(.manage),
        body: .object(
            "DeviceImport",
            [
                "devices": .list(
                    "The devices; those with the same id in this order",
                    of: .object(
                        "ImportedDevice",
                        [
                            "installation?": .any("An installation, as in PUT /{hub}/installations/{id}, with its installationId"),
                            "registration?": .text(
                                "A registration as XML, as in import jobs; without RegistrationId its id follows from the text"),
                        ], alternatives: ["installation", "registration"]), least: 1),
                "dryRun?": .boolean("Whether only to check the devices, and store nothing"),
            ]),
        answer: .ok("The devices that are not stored", result), refusals: [403],
        audit: AuditRule(.deviceImport, isFrequent: true) { call, answer throws(PushError) in
            guard call.body["dryRun"]?.bool != true else { return nil }
            let stored = (try? JSON(parsing: answer.body))?["stored"]?.int ?? 0
            return ("\(stored) devices of the hub \(try call.hub.record.name)", [:])
        }
    ) { call async throws(PushError) in
        let items = call.body["devices"]?.array ?? []
        var errors: [Int: PushError] = [:]
        var devices: [(position: Int, device: DeviceImport.Device)] = []
        for (position, item) in items.enumerated() {
            do throws(PushError) {
                devices.append((position, try DeviceImport.Device(item)))
            } catch {
                errors[position] = error
            }
        }
        let importer = DeviceImport(hub: try call.hub.service)
        let failed = try await importer.store(devices, isDryRun: call.body["dryRun"]?.bool == true)
        errors.merge(failed) { $1 }
        let rejected = errors.sorted { $0.key < $1.key }.map { position, error in
            JSON.members([
                "position": .count(position), "code": .string(error.code), "message": .string(error.message),
                "hint": error.hint.map { .string($0) },
            ])
        }
        return call.answer(["stored": .count(items.count - rejected.count), "rejected": .array(rejected)])
    }

    /// Continuations are a letter for installations or registrations, and the hub's continuation in that list.
    static let export = ManagementRoute(
        .get(
            "/api/v1/hubs/{hub}/devices/export", "exportDevices",
            "Complete devices, with their handles: installations, then standalone registrations; a page may be shorter than requested"),
        .hub(.manage),
        [
            .query("top", .integer("Maximum number of devices per page; 100 by default", 1...1000)),
            .continuation("i[0-9]{1,9}|r[0-9]{0,9}"),
        ],
        answer: .ok(
            "A page of devices",
            .page(
                of: .object(
                    "ExportedDevice",
                    [
                        "installation?": .any("An installation, as in GET /{hub}/installations/{id}"),
                        "registration?": .text("A registration as XML, as in export jobs"),
                    ], alternatives: ["installation", "registration"]))), refusals: [403],
        audit: AuditRule(.deviceExport) { call, _ throws(PushError) in
            call.text("continuation") == nil ? ("devices of the hub \(try call.hub.record.name)", [:]) : nil
        }
    ) { call async throws(PushError) in
        let service = try call.hub.service
        let given = call.text("continuation")
        var position = given.map { String($0.dropFirst()) }?.nonEmpty
        var items: [JSON] = []
        if given?.hasPrefix("r") != true {
            repeat {
                let page = try await service.installations(.all, page: Page(top: min(call.top - items.count, 100), continuation: position))
                items += page.installations.map { ["installation": InstallationJSON.json($0)] }
                position = page.continuation
            } while position != nil && items.count < call.top
            guard position == nil, items.count < call.top else { return call.list(items, continuation: position.map { "i\($0)" } ?? "r") }
        }
        repeat {
            let page = try await service.searchRegistrations(
                DeviceSearch(), page: Page(top: min(call.top - items.count, 100), continuation: position))
            items += page.registrations.map { registration, _ in
                ["registration": .string(String(decoding: RegistrationLines().line(registration), as: UTF8.self))]
            }
            position = page.continuation
        } while position != nil && items.count < call.top
        return call.list(items, continuation: position.map { "r\($0)" })
    }

    private static let result = JSONSchema.object(
        "DeviceImportResult",
        [
            "stored": .integer("Number of devices that are stored or, in a dry run, valid"),
            "rejected": .list(
                of: .object(
                    "RejectedDevice",
                    [
                        "position": .integer("Position in the request, from 0"), "code": .text("The error's code"), "message": .text(),
                        "hint?": .text("What to do"),
                    ])),
        ])
}

extension DeviceImport.Device {
    /// - Parameter item: a validated member of the body's `devices`.
    fileprivate init(_ item: JSON) throws(PushError) {
        guard let text = item["registration"]?.string else {
            self = .installation(try InstallationJSONReader.installation(item["installation"] ?? .null))
            return
        }
        let line = Array(text.utf8)
        let (id, description) = try RegistrationLines().registration(of: line)
        self = .registration(id ?? RegistrationID(of: line), description)
    }
}

extension RegistrationID {
    /// An id in the hub's format that follows from a line of an import file.
    fileprivate init(of line: [UInt8]) {
        let digest = Array(SHA256.hash(data: line))
        let parts = [digest[0..<8], digest[8..<16]].map { bytes in
            bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 9_000_000_000_000_000_000 + 1_000_000_000_000_000_000
        }
        self.init(unchecked: "\(parts[0])-\(parts[1])-1")
    }
}

package import PushModel

extension ServiceFaults {
    package func reasons(of service: Platform) -> [String] { reasons(of: service, at: .send) }

    package func fail(_ service: Platform, reason: String, count: Int?, handle: DeviceHandle?) async throws(PushError) {
        try await fail(service, with: InjectedRefusal(reason, count: count, handle: handle))
    }
}

import Glibc
import NIOCore
import PushModel
package import ServiceLifecycle

/// Wraps a service that listens on a port; its errors name the port and the setting.
package struct PortService: Service {
    let base: any Service
    /// The name of the setting, for example `listen.port`.
    let setting: String
    let host: String
    let port: Int

    package init(base: any Service, setting: String, host: String, port: Int) {
        self.base = base
        self.setting = setting
        self.host = host
        self.port = port
    }

    /// Runs the service. Throws `serve.port` if it cannot listen.
    package func run() async throws {
        do {
            try await base.run()
        } catch {
            guard let (why, hint) = explanation(error) else { throw error }
            throw PushError("serve.port", "the server cannot listen on \(host):\(port) (\(setting)): \(why)", hint: hint)
        }
    }

    private func explanation(_ error: any Error) -> (why: String, hint: String)? {
        if error is SocketAddressError.UnknownHost { return ("unknown host", "check listen.host") }
        guard let number = (error as? IOError)?.errnoCode else { return nil }
        let hint =
            switch number {
            case EADDRINUSE: "stop the program that uses the port (ss -ltnp shows it), or choose another port; 0 picks a free one"
            case EADDRNOTAVAIL: "listen.host must be an address of this machine, or 0.0.0.0 for all its addresses"
            case EACCES: "choose a port from 1024, or give the server the permission to use this one"
            default: "see listen.host and \(setting)"
            }
        return (String(cString: strerror(number)), hint)
    }
}

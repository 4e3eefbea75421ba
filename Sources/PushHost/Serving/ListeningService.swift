import Glibc
import NIOCore
import PushCore
import ServiceLifecycle

/// A service that listens on a port, and says on which where it cannot.
struct ListeningService: Service {
    let base: any Service
    /// `listen.port`.
    let setting: String
    let host: String
    let port: Int

    /// Throws `serve.port`.
    func run() async throws {
        do {
            try await base.run()
        } catch {
            guard let (why, hint) = explanation(error) else { throw error }
            throw PushError("serve.port", "the server cannot listen on \(host):\(port) (\(setting)): \(why)", hint: hint)
        }
    }

    private func explanation(_ error: any Error) -> (why: String, hint: String)? {
        if error is SocketAddressError.UnknownHost { return ("no machine has this name", "check listen.host") }
        guard let number = (error as? IOError)?.errnoCode else { return nil }
        let hint =
            switch number {
            case EADDRINUSE: "end the program that has the port (ss -ltnp shows it), or choose another one; 0 takes a free one"
            case EADDRNOTAVAIL: "listen.host must be an address of this machine; 0.0.0.0 stands for all of them"
            case EACCES: "choose a port from 1024 on, or give the server the right to use this one"
            default: "see listen.host and \(setting)"
            }
        return (String(cString: strerror(number)), hint)
    }
}

import HTTPTypes
import PushModel

/// The subject of a request, found once from its method and path. It decides how the request is handled, counted and refused.
enum RouteMatch: Sendable {
    /// The format of the errors of a route, unless the client asks for problem details.
    enum ErrorFormat: Sendable {
        /// The protocol's XML, as Azure's clients expect.
        case xml
        /// Problem details in JSON (RFC 9457).
        case problem
    }

    /// The place where a request is handled.
    enum Executor: Sendable {
        /// The event loop of the connection.
        case loop
        /// The server's own executor; the event loop if it has none.
        case serverOrLoop
        /// The server's own executor; the global one if it has none. Long work on a loop would delay all its other connections.
        case serverOrGlobal
        /// The global executor, even if the server has one: that is the thread of the lab.
        case global
    }

    /// A health check, the metrics or the server's description.
    case system(SystemRoutes.Page)
    /// `*`: the server as a whole (RFC 9110, section 7.1).
    case asterisk
    /// A session of the lab.
    case lab
    /// An operation for the server's owner.
    case control(ControlRoutes.Operation)
    case plugin(PluginPath)
    /// Starts the flow of this name.
    case flow(String)
    /// The app backend.
    case backend(BackendPath)
    /// The JSON API.
    case management(ManagementMatch)
    /// The hub's own interface.
    case hub(HubPath)
    /// A path that no interface has.
    case invalid

    /// The name of the route in metrics: never text of the client.
    var label: String {
        switch self {
        // Their paths could be names of hubs, except that of the description.
        case .system(let page): page == .about ? "none" : "hub"
        case .asterisk: "hub"
        case .lab: "/lab"
        case .plugin: "/plugins"
        case .flow: "/flows"
        case .backend(let path): path.route
        case .management(let match): match.label
        case .hub(let path): path.route
        case .control, .invalid: "none"
        }
    }

    var errorFormat: ErrorFormat {
        switch self {
        case .system(let page): page == .about ? .problem : .xml
        case .lab, .control, .plugin, .flow, .backend, .management: .problem
        case .asterisk, .hub, .invalid: .xml
        }
    }

    func executor(for request: WebRequest) -> Executor {
        switch self {
        case .system, .asterisk: .loop
        case .lab: .global
        case .hub(let path): path.isQuick(request) ? .serverOrLoop : .serverOrGlobal
        case .control, .plugin, .flow, .backend, .management, .invalid: .serverOrGlobal
        }
    }

    /// Whether the request must name a valid host. Health checks may not know the server's name.
    var requiresHost: Bool { if case .system = self { false } else { true } }

    /// Whether HEAD is handled as GET without the body (RFC 9110, section 9.3.2). Not so in the app backend, where a GET of a payload
    /// counts as a read.
    var treatsHeadAsGet: Bool { !isPrivate }

    /// Whether no cache may store the response: it may contain tokens and payloads.
    var isPrivate: Bool { if case .backend = self { true } else { false } }

    /// Whether a body with a content coding is accepted. Plugins receive it with its header and may decode it.
    var acceptsCodedBody: Bool { plugin != nil }

    /// The plugin and its route, for its metrics and the log.
    var plugin: PluginPath? { if case .plugin(let path) = self { path } else { nil } }
}

/// The ports that a server listens on, whoever chose them; nil for none.
struct ListeningPorts: Sendable, Equatable {
    var http: Int?
    var tls: Int?
}

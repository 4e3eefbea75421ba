import PushModel
import Support
import Testing

@testable import Storage

@Suite struct PostgreSQLAddressTests {
    private func parameters(_ address: PostgreSQLAddress, _ key: String) -> [String?] {
        address.servers.map { server in server.first { $0.key == key }?.value }
    }

    @Test func `Each server of a URL gets its own parameters`() throws {
        let address = try PostgreSQLAddress("postgres://ann@a.example:5433,b.example:5434/push?sslmode=verify-full")
        #expect(parameters(address, "host") == ["a.example", "b.example"])
        #expect(parameters(address, "port") == ["5433", "5434"])
        #expect(parameters(address, "dbname") == ["push", "push"])
        #expect(parameters(address, "user") == ["ann", "ann"])
        #expect(parameters(address, "sslmode") == ["verify-full", "verify-full"])
        #expect(parameters(address, "target_session_attrs") == ["read-write", "read-write"])
        #expect(address.description == "a.example:5433,b.example:5434/push")
    }

    @Test func `One port counts for all servers, and the environment completes the rest`() throws {
        let address = try PostgreSQLAddress("postgresql:///push?host=a,b&port=6000&target_session_attrs=any")
        #expect(parameters(address, "port") == ["6000", "6000"])
        #expect(parameters(address, "password") == [nil, nil])
        #expect(parameters(address, "target_session_attrs") == ["any", "any"])
        let local = try PostgreSQLAddress("postgres:///push")
        #expect(parameters(local, "host") == [nil])
        #expect(local.description == "localhost/push")
    }

    @Test func `No message contains the password`() throws {
        let address = try PostgreSQLAddress("postgres://ann:p%40ss@a.example/push")
        #expect(parameters(address, "password") == ["p@ss"])
        #expect(!address.description.contains("p@ss"))
        for url in [
            "postgres://ann:s3@cr3t@a.example:1/push", "postgres://ann:s3/cr3t@a.example/push", "postgres://ann:s3cr3t@[a.example/push",
            "postgres://ann:s3cr3t@a/push?nothing=1",
        ] {
            let error = #expect(throws: PushError.self) { try PostgreSQLAddress(url) }
            #expect(error?.status == 400 && error?.description.contains("cr3t") == false, "\(url)")
            #expect(error?.hint?.contains("%40") == true, "\(url)")
        }
    }

    @Test func `A URL of something else is rejected with the right form`() {
        for url in ["", "mysql://a/b", "host=a dbname=b", "postgres:/a"] {
            let error = #expect(throws: PushError.self) { try PostgreSQLAddress(url) }
            #expect(error?.code == "storage.unavailable" && error?.hint?.contains("postgres://user@host") == true, "\(url)")
        }
    }

    @Test func `Ports must fit the servers`() {
        let error = #expect(throws: PushError.self) { try PostgreSQLAddress("postgres:///push?host=a,b,c&port=1,2") }
        #expect(error?.message.contains("2 ports for 3 servers") == true)
    }
}

import PushModel
import Testing

@testable import Storage

@Suite struct PostgreSQLErrorTests {
    private func error(_ state: String, isUnknown: Bool = false) -> PushError {
        PushError(PostgreSQLError(state: state, message: "The reason.", isUnknown: isUnknown), postgreSQL: "db.example/push")
    }

    @Test(arguments: ["", "08006", "57P01", "53100", "53300", "25006", "40001", "40P01", "55P03", "57014", "42601", "28P01", "3D000"])
    func `An error of the server names the database and can be retried`(state: String) {
        let error = error(state)
        #expect(error.code == "storage.unavailable" && error.status == 503 && error.isRetryable)
        #expect(error.message.contains("db.example/push") && error.hint != nil)
    }

    @Test(arguments: ["23505", "23503"])
    func `A row that cannot be stored is a conflict`(state: String) {
        #expect(error(state).code == "storage.conflict" && error(state).status == 500)
    }

    @Test func `A damaged page is reported as such`() { #expect(error("XX001").code == "storage.corrupt") }

    @Test func `An unknown result says that the change may have been stored`() {
        let error = error("", isUnknown: true)
        #expect(error.code == "storage.unavailable" && error.status == 503)
        #expect(error.message.contains("may have been stored") && error.details["outcome"] == "unknown")
    }

    @Test func `Errors of the stores are passed on unchanged`() {
        let known = PushError("kv.full", "full", status: 507)
        #expect(PushError(known, postgreSQL: "db") == known)
    }

    @Test func `A connection is given up after errors of the connection and of a standby`() {
        for state in ["", "08003", "57P01", "57P03", "25006", "25P03"] {
            #expect(PostgreSQLError(state: state, message: "").endsConnection, "\(state)")
        }
        for state in ["23505", "40001", "57014", "42P01", "53100"] {
            #expect(!PostgreSQLError(state: state, message: "").endsConnection, "\(state)")
        }
    }
}

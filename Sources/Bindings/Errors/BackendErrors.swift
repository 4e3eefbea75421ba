/// Error codes of the app backend: accounts, registration, subscriptions, secure payloads.
enum BackendErrors {
    static let all: [ErrorArea] = [auth, backend, subscription, secure]

    private static let auth = ErrorArea(
        "auth", "accounts and sessions of the app backend",
        [
            ErrorDescription(
                "auth.failed", .failure, means: "The user name or password is wrong.",
                when: "The account does not exist or has another password. The response is the same in both cases, so that it does not "
                    + "reveal which names exist. Status 401.",
                fix: "Create the account with push.account first, and read the password from the same secret.",
                example: .lua(
                    "local session = push.login { username = \"ana\", password = \"a guess\" }",
                    fix: """
                        push.account { username = "ana", password = push.secret "demo_password" }
                        local session = push.login { username = "ana", password = push.secret "demo_password" }
                        """)),
            ErrorDescription(
                "auth.session_expired", .failure, means: "The session has ended.",
                when: "It was logged out, or it is older than 12 hours. Status 401.", fix: "Log in again.",
                example: .lua(
                    """
                    session:logout()
                    session:register { device = phone }
                    """,
                    fix: """
                        session:register { device = phone }
                        session:logout()
                        """)),
            ErrorDescription(
                "auth.account_exists", .failure, means: "The account exists with another password.",
                when: "push.account names an existing user with another password, or pushhost user add names an existing user. User names "
                    + "are case-insensitive. Status 409.",
                fix: "Use the password of the account, or another name.",
                example: .lua(
                    """
                    push.account { username = "ana", password = "one" }
                    push.account { username = "Ana", password = "two" }
                    """,
                    fix: """
                        push.account { username = "ana", password = "one" }
                        push.account { username = "ben", password = "two" }
                        """)),
            ErrorDescription(
                "auth.username", .failure, means: "The user name is invalid.",
                when: "It is empty, has a colon, or has characters that are not allowed in tags. It becomes part of the tag username:NAME.",
                fix: "Use only letters, digits and - _ @ # . in user names.",
                example: .lua(
                    "push.account { username = \"ana maria\", password = push.secret \"demo_password\" }",
                    fix: "push.account { username = \"ana.maria\", password = push.secret \"demo_password\" }")),
            ErrorDescription(
                "auth.password", .failure, means: "The password is empty.",
                when: "push.account got an empty password.", fix: "Choose a password and store it as a secret.",
                example: .lua(
                    "push.account { username = \"ana\", password = \"\" }",
                    fix: "push.account { username = \"ana\", password = push.secret \"demo_password\" }")),
            ErrorDescription(
                "auth.throttled", .answer, means: "There were too many failed logins.",
                when: "Within a minute, 10 logins failed for one account from one address, 100 for one account, or 100 from one address. "
                    + "After the first of these limits, even correct credentials are rejected; after the other two, recently used ones "
                    + "still work. Status 429; Retry-After gives the waiting time.",
                fix: "Wait, and check the password. Behind a proxy all users share its address."),
            ErrorDescription(
                "auth.token", .answer, means: "A token of an external issuer is rejected.",
                when: "Its signature, issuer, audience or validity period is wrong, or it has no user. The message names the problem. "
                    + "Status 401.",
                fix: "Get a new token, and compare its claims with backend.jwt.* in the settings of the server."),
            ErrorDescription(
                "auth.issuer", .answer, means: "The keys of the token issuer are not available.",
                when: "The source in backend.jwt.keys does not respond, or returns something other than a key set. Status 503.",
                fix: "Check the address or the file. The server retries automatically."),
            ErrorDescription(
                "auth.unknown_user", .answer, means: "There is no account with this name.",
                when: "pushhost user passwd or remove names a user without an account. Status 404.",
                fix: "pushhost user list shows all users."),
            ErrorDescription(
                "auth.tutorial_mode", .warning, means: "Each user's name is accepted as their password.",
                when: "pushhost runs with --tutorial-mode, for the samples of the tutorials.",
                fix: "Do not use the option where real users log in."),
            ErrorDescription(
                "auth.cost", .program, means: "The cost of password hashing is too low for a server.",
                when: "A program configures scrypt with an N below 131072, or one that is not a power of two.",
                fix: "Use a power of two of at least 131072."),
            ErrorDescription(
                "auth.hash", .failure, .answer, means: "A password could not be hashed.",
                when: "The machine does not have enough memory for scrypt.", fix: "Free memory and try again."),
        ])

    private static let backend = ErrorArea(
        "backend", "registration through the app backend",
        [
            ErrorDescription(
                "backend.busy", .answer, means: "Too many logins are in progress.",
                when: "Two passwords are hashed at a time, and 32 more logins are waiting. Status 503; Retry-After gives the waiting time.",
                fix: "Try again. An app should log in once and keep its token, which needs no hashing."),
            ErrorDescription(
                "backend.reserved_tag", .failure, means: "A device requests a tag that only the backend or the hub may assign.",
                when: "The tags of a registration include username:… or $InstallationId:{…}. With it a device could receive notifications "
                    + "of others. Status 400.",
                fix: "Omit the tag. The backend adds username:NAME for the session's user.",
                example: .lua(
                    "session:register { device = phone, tags = { \"username:alice\", \"phone\" } }",
                    fix: "session:register { device = phone, tags = { \"phone\" } }")),
            ErrorDescription(
                "backend.forbidden", .failure, means: "The registration belongs to another user.",
                when: "A device updates or deletes a registration whose id was issued to another user's device. Status 403. push.register "
                    + "requests a new id automatically and tries once more.",
                fix: "Request an id for the handle of this device, and discard the id of the other user."),
            ErrorDescription(
                "backend.installation_id", .failure, means: "The installation id is not a UUID.",
                when: "The current user is registered with an installation id of another format. The backend uses the id to find the "
                    + "registrations of a device. Status 400.",
                fix: "Create a UUID when the app is installed, and keep it until the app is removed. Without the key, the simulated "
                    + "device does this.",
                example: .lua(
                    "session:register_current_user { device = phone, installation_id = \"my-phone\" }",
                    fix: "session:register_current_user { device = phone }")),
        ])

    private static let subscription = ErrorArea(
        "subscription", "subscriptions of devices at the hub",
        [
            ErrorDescription(
                "subscription.category", .failure, means: "A device subscribes to a user or a device instead of a topic.",
                when: "A category is username:… or $InstallationId:{…}. A subscriber could receive notifications of others. Status 400.",
                fix: "Subscribe to topics, such as Sports.",
                example: .lua(
                    "push.subscribe { device = phone, categories = { \"username:bob\" } }",
                    fix: "push.subscribe { device = phone, categories = { \"Sports\" } }")),
            ErrorDescription(
                "subscription.storage", .failure, means: "The stored categories of the device are unreadable.",
                when: "The list of categories in the app's storage was overwritten with something else.", fix: "Subscribe again.",
                example: .lua(
                    """
                    push.subscribe { device = phone, categories = { "Sports" } }
                    phone:storage().categories = "none"
                    print(#phone:categories())
                    """,
                    fix: """
                        push.subscribe { device = phone, categories = { "Sports" } }
                        push.unsubscribe { device = phone }
                        print(#phone:categories())
                        """)),
        ])

    private static let secure = ErrorArea(
        "secure", "secure payloads for a single user",
        [
            ErrorDescription(
                "secure.not_found", .failure, means: "There is no secure payload with this id.",
                when: "The id is wrong, or the payload expired longer ago than keep.secure_payloads, seven days by default. Status 404.",
                fix: "Use the id from the push that woke the app.",
                example: .lua(
                    "session:fetch_secure_payload \"12345\"",
                    fix: """
                        local receipt = session:send_secure { to = "alice", payload = { code = "4711" } }
                        session:fetch_secure_payload(receipt.id)
                        """)),
            ErrorDescription(
                "secure.forbidden", .failure, means: "The secure payload is for another user.",
                when: "The payload is fetched by someone other than its recipient, for example by the sender. The attempt is recorded. "
                    + "Status 403.",
                fix: "Log in as the recipient.",
                example: .lua(
                    """
                    local receipt = session:send_secure { to = "bob", payload = { code = "4711" } }
                    session:fetch_secure_payload(receipt.id)
                    """,
                    fix: """
                        local receipt = session:send_secure { to = session.username, payload = { code = "4711" } }
                        session:fetch_secure_payload(receipt.id)
                        """)),
            ErrorDescription(
                "secure.expired", .failure, means: "The secure payload is no longer available.",
                when: "It has expired: after an hour, or after expires_in. Or it was read and then removed in favour of a newer one. "
                    + "Status 410.",
                fix: "Fetch it when the push wakes the app, or send it again with a longer expires_in.",
                example: .lua(
                    """
                    local receipt = session:send_secure { to = "alice", payload = { code = "4711" }, expires_in = "10m" }
                    push.sleep "1h"
                    session:fetch_secure_payload(receipt.id)
                    """,
                    fix: """
                        local receipt = session:send_secure { to = "alice", payload = { code = "4711" }, expires_in = "2h" }
                        push.sleep "1h"
                        session:fetch_secure_payload(receipt.id)
                        """)),
            ErrorDescription(
                "secure.exhausted", .failure, means: "The secure payload has been read the maximum number of times.",
                when: "max_reads is reached. Status 410.",
                fix: "Keep the fetched payload. If several devices read it, send it again with a higher max_reads.",
                example: .lua(
                    """
                    local receipt = session:send_secure { to = "alice", payload = { code = "4711" }, max_reads = 1 }
                    session:fetch_secure_payload(receipt.id)
                    print(session:fetch_secure_payload(receipt.id).code)
                    """,
                    fix: """
                        local receipt = session:send_secure { to = "alice", payload = { code = "4711" }, max_reads = 1 }
                        local payload = session:fetch_secure_payload(receipt.id)
                        print(payload.code)
                        """)),
            ErrorDescription(
                "secure.revoked", .failure, means: "The secure payload was revoked.",
                when: "Its sender or recipient revoked it. Status 410.", fix: "Ask the sender to send it again.",
                example: .lua(
                    """
                    local receipt = session:send_secure { to = "alice", payload = { code = "4711" } }
                    session:revoke_secure_payload(receipt.id)
                    session:fetch_secure_payload(receipt.id)
                    """,
                    fix: """
                        local receipt = session:send_secure { to = "alice", payload = { code = "4711" } }
                        session:fetch_secure_payload(receipt.id)
                        session:revoke_secure_payload(receipt.id)
                        """)),
            ErrorDescription(
                "secure.too_large", .failure, means: "The secure payload is too large.",
                when: "It exceeds 65,536 bytes as JSON. Status 413.", fix: "Store large data elsewhere, and send its location.",
                example: .lua(
                    "session:send_secure { to = \"alice\", payload = { text = (\"x\"):rep(70000) } }",
                    fix: "session:send_secure { to = \"alice\", payload = { document = \"d-17\" } }")),
            ErrorDescription(
                "secure.lifetime", .failure, means: "The lifetime of a secure payload is out of range.",
                when: "expires_in is zero, or more than 30 days. Status 400.", fix: "Use up to \"30d\", or omit it for an hour.",
                example: .lua(
                    "session:send_secure { to = \"alice\", payload = { code = 1 }, expires_in = \"60d\" }",
                    fix: "session:send_secure { to = \"alice\", payload = { code = 1 }, expires_in = \"30d\" }")),
            ErrorDescription(
                "secure.maximum_reads", .failure, means: "A secure payload must allow at least one read.",
                when: "max_reads is below 1. Status 400.", fix: "Use 1 or more, or omit it for an unlimited number of reads.",
                example: .lua(
                    "session:send_secure { to = \"alice\", payload = { code = 1 }, max_reads = 0 }",
                    fix: "session:send_secure { to = \"alice\", payload = { code = 1 }, max_reads = 1 }")),
            ErrorDescription(
                "secure.too_many", .failure, means: "The recipient has too many secure payloads.",
                when: "The user has 100 unread ones, or 25 unread ones from the same sender. Payloads that have been read are removed in "
                    + "favour of new ones. Status 429; the same call may succeed later.",
                fix: "Fetch or revoke some payloads, or wait until some expire. The recipient sees them with GET /api/notifications.",
                example: .lua(
                    "for code = 1, 101 do session:send_secure { to = \"alice\", payload = { code = code } } end",
                    fix: """
                        for code = 1, 101 do
                          local receipt = session:send_secure { to = "alice", payload = { code = code }, max_reads = 1 }
                          session:fetch_secure_payload(receipt.id)
                        end
                        """)),
            ErrorDescription(
                "secure.payload", .misuse, .failure, means: "The payload cannot be written as JSON.",
                when: "The table contains devices or functions, mixes names and list indices, or exceeds 128 levels.",
                fix: "Send plain tables of strings, numbers and booleans.",
                example: .lua(
                    "session:send_secure { to = \"alice\", payload = { phone = phone } }",
                    fix: "session:send_secure { to = \"alice\", payload = { phone = phone.name } }")),
            ErrorDescription(
                "secure.sealed", .failure, means: "A stored payload cannot be decrypted.",
                when: "It was modified in storage, or encrypted with another key: payload.key of the data folder was lost or replaced. "
                    + "Status 410.",
                fix: "Restore the previous payload.key and restart the server, or send the payload again. pushhost doctor shows how many "
                    + "payloads cannot be decrypted."),
            ErrorDescription(
                "secure.key", .program, means: "The encryption key for secure payloads has the wrong length.",
                when: "A program configures a key that does not have 256 bits.", fix: "Use 32 random bytes."),
        ])
}

// The app backend: accounts, registration, subscriptions, secure payloads.
extension ErrorCatalogue {
    static let backendAreas: [ErrorArea] = [auth, backend, subscription, secure]

    private static let auth = ErrorArea(
        "auth", "accounts and sessions of the app backend",
        [
            ErrorDescription(
                "auth.failed", .failure, means: "The backend refused the user name or the password.",
                when: "The account does not exist or has another password; the answer is the same, so that nobody can find out "
                    + "which names exist. Status 401.",
                cure: "Make the account with push.account first, and take the password from the same secret.",
                example: .lua(
                    "local session = push.login { username = \"ana\", password = \"a guess\" }",
                    cure: """
                        push.account { username = "ana", password = push.secret "demo_password" }
                        local session = push.login { username = "ana", password = push.secret "demo_password" }
                        """)),
            ErrorDescription(
                "auth.session_expired", .failure, means: "The session is over.",
                when: "It was logged out, or is older than 12 hours. Status 401.", cure: "Log in again.",
                example: .lua(
                    """
                    session:logout()
                    session:register { device = phone }
                    """,
                    cure: """
                        session:register { device = phone }
                        session:logout()
                        """)),
            ErrorDescription(
                "auth.account_exists", .failure, means: "The account exists with another password.",
                when: "push.account names a user who is there already, with a password that is not theirs, or pushhost user add "
                    + "names one at all. User names that differ only in case are the same. Status 409.",
                cure: "Use the password of the account, or another name.",
                example: .lua(
                    """
                    push.account { username = "ana", password = "one" }
                    push.account { username = "Ana", password = "two" }
                    """,
                    cure: """
                        push.account { username = "ana", password = "one" }
                        push.account { username = "ben", password = "two" }
                        """)),
            ErrorDescription(
                "auth.username", .failure, means: "That cannot be a user name.",
                when: "It is empty, has a colon, or has characters that a tag cannot have: it becomes part of the tag username:NAME.",
                cure: "Use letters, digits and - _ @ # . only.",
                example: .lua(
                    "push.account { username = \"ana maria\", password = push.secret \"demo_password\" }",
                    cure: "push.account { username = \"ana.maria\", password = push.secret \"demo_password\" }")),
            ErrorDescription(
                "auth.password", .failure, means: "The password is empty.",
                when: "push.account got an empty text.", cure: "Choose one and keep it as a secret.",
                example: .lua(
                    "push.account { username = \"ana\", password = \"\" }",
                    cure: "push.account { username = \"ana\", password = push.secret \"demo_password\" }")),
            ErrorDescription(
                "auth.throttled", .answer, means: "Too many attempts to log in have failed.",
                when: "Within a minute 10 at one account from one address, or 100 at one account or from one address. What was right "
                    + "a moment ago goes on being right there, but for the first of these. Status 429; Retry-After says when to come back.",
                cure: "Wait, and check the password; behind a proxy all users have its address."),
            ErrorDescription(
                "auth.token", .answer, means: "A token of an issuer is refused.",
                when: "Its signature, its issuer, its audience or its time is wrong, or it names nobody; the message says which. "
                    + "Status 401.",
                cure: "Get a new token; compare what it says with backend.jwt.* of the server."),
            ErrorDescription(
                "auth.issuer", .answer, means: "The keys of the issuer of tokens are not to be had.",
                when: "What backend.jwt.keys names does not answer, or answers something else than a document of keys. Status 503.",
                cure: "Check the address or the file; the server tries again by itself."),
            ErrorDescription(
                "auth.unknown_user", .answer, means: "There is no such account.",
                when: "pushhost user passwd or remove names a user who has none. Status 404.",
                cure: "pushhost user list shows all users."),
            ErrorDescription(
                "auth.tutorial_mode", .warning, means: "Every user's name is a password of theirs.",
                when: "pushhost runs with --tutorial-mode, as the tutorials' samples want it.",
                cure: "Leave the option out where real users log in."),
            ErrorDescription(
                "auth.cost", .failure, means: "The cost of hashing passwords is too low for accounts that are served.",
                when: "The settings of a host ask for scrypt with an N below 131072 or one that is no power of two.",
                cure: "Give a power of two from 131072 on."),
            ErrorDescription(
                "auth.hash", .failure, means: "A password could not be hashed.",
                when: "The machine has not enough memory for scrypt.", cure: "Free memory and try again."),
        ])

    private static let backend = ErrorArea(
        "backend", "registration through the app backend",
        [
            ErrorDescription(
                "backend.busy", .answer, means: "Too many log in at this moment.",
                when: "Two passwords are hashed at a time, and 32 more wait. Status 503; Retry-After says when to come back.",
                cure: "Try again. An app that logs in once and keeps its token asks for no hash with every request."),
            ErrorDescription(
                "backend.reserved_tag", .failure, means: "A device asked for a tag that only the backend or the hub gives.",
                when: "The tags of a registration include username:… or $InstallationId:{…}. A device that could choose them "
                    + "could read what is meant for others. Status 400.",
                cure: "Leave the tag out: the backend adds username:NAME of the session.",
                example: .lua(
                    "session:register { device = phone, tags = { \"username:alice\", \"phone\" } }",
                    cure: "session:register { device = phone, tags = { \"phone\" } }")),
            ErrorDescription(
                "backend.forbidden", .failure, means: "The registration belongs to another user.",
                when: "A device puts or deletes a registration whose id was given to another user's device. Status 403. "
                    + "push.register asks for a new id by itself and tries once more.",
                cure: "Ask for the id of this device's handle; forget an id that was kept from another user."),
            ErrorDescription(
                "backend.installation_id", .failure, means: "The installation id is not a UUID.",
                when: "The current user is registered with an id of another form. The backend finds a device's registrations by "
                    + "it. Status 400.",
                cure: "Make a UUID when the app is installed, and keep it for the life of the installation; without the key the "
                    + "phone does.",
                example: .lua(
                    "session:register_current_user { device = phone, installation_id = \"my-phone\" }",
                    cure: "session:register_current_user { device = phone }")),
        ])

    private static let subscription = ErrorArea(
        "subscription", "devices that subscribe straight at the hub",
        [
            ErrorDescription(
                "subscription.category", .failure, means: "A device wants to subscribe to a user or a device, not to a topic.",
                when: "A category is username:… or $InstallationId:{…}: whoever could subscribe to it would read what is meant for "
                    + "others. Status 400.",
                cure: "Subscribe to topics, such as Sports.",
                example: .lua(
                    "push.subscribe { device = phone, categories = { \"username:bob\" } }",
                    cure: "push.subscribe { device = phone, categories = { \"Sports\" } }")),
            ErrorDescription(
                "subscription.storage", .failure, means: "The device no longer knows what it subscribes to.",
                when: "The list of categories in the app's storage was overwritten with something else.", cure: "Subscribe again.",
                example: .lua(
                    """
                    push.subscribe { device = phone, categories = { "Sports" } }
                    phone:storage().categories = "none"
                    print(#phone:categories())
                    """,
                    cure: """
                        push.subscribe { device = phone, categories = { "Sports" } }
                        push.unsubscribe { device = phone }
                        print(#phone:categories())
                        """)),
        ])

    private static let secure = ErrorArea(
        "secure", "payloads that only their addressee may fetch",
        [
            ErrorDescription(
                "secure.not_found", .failure, means: "There is no secure payload with this id.",
                when: "The id is wrong, or its payload expired longer ago than keep.secure_payloads, seven days. Status 404.",
                cure: "Take the id from the push that woke the app.",
                example: .lua(
                    "session:fetch_secure_payload \"12345\"",
                    cure: """
                        local receipt = session:send_secure { to = "alice", payload = { code = "4711" } }
                        session:fetch_secure_payload(receipt.id)
                        """)),
            ErrorDescription(
                "secure.forbidden", .failure, means: "The secure payload is for another user.",
                when: "Somebody else than the addressee fetches it; not even the sender gets it back. The attempt is written "
                    + "down. Status 403.",
                cure: "Log in as the user whom it was sent to.",
                example: .lua(
                    """
                    local receipt = session:send_secure { to = "bob", payload = { code = "4711" } }
                    session:fetch_secure_payload(receipt.id)
                    """,
                    cure: """
                        local receipt = session:send_secure { to = session.username, payload = { code = "4711" } }
                        session:fetch_secure_payload(receipt.id)
                        """)),
            ErrorDescription(
                "secure.expired", .failure, means: "The secure payload can no longer be read.",
                when:
                    "Its time is over: an hour, unless the sender gave expires_in; or it was read, and gave way to a newer one. Status 410.",
                cure: "Fetch it when the push wakes the app, or send it again with a longer expires_in.",
                example: .lua(
                    """
                    local receipt = session:send_secure { to = "alice", payload = { code = "4711" }, expires_in = "10m" }
                    push.sleep "1h"
                    session:fetch_secure_payload(receipt.id)
                    """,
                    cure: """
                        local receipt = session:send_secure { to = "alice", payload = { code = "4711" }, expires_in = "2h" }
                        push.sleep "1h"
                        session:fetch_secure_payload(receipt.id)
                        """)),
            ErrorDescription(
                "secure.exhausted", .failure, means: "The secure payload has been read as often as its sender allowed.",
                when: "max_reads is used up. Status 410.",
                cure: "Keep what was fetched; send it again, with a higher max_reads if several devices read it.",
                example: .lua(
                    """
                    local receipt = session:send_secure { to = "alice", payload = { code = "4711" }, max_reads = 1 }
                    session:fetch_secure_payload(receipt.id)
                    print(session:fetch_secure_payload(receipt.id).code)
                    """,
                    cure: """
                        local receipt = session:send_secure { to = "alice", payload = { code = "4711" }, max_reads = 1 }
                        local payload = session:fetch_secure_payload(receipt.id)
                        print(payload.code)
                        """)),
            ErrorDescription(
                "secure.revoked", .failure, means: "The secure payload was taken back.",
                when: "Its sender or addressee revoked it before it was read. Status 410.", cure: "Ask for it to be sent again.",
                example: .lua(
                    """
                    local receipt = session:send_secure { to = "alice", payload = { code = "4711" } }
                    session:revoke_secure_payload(receipt.id)
                    session:fetch_secure_payload(receipt.id)
                    """,
                    cure: """
                        local receipt = session:send_secure { to = "alice", payload = { code = "4711" } }
                        session:fetch_secure_payload(receipt.id)
                        session:revoke_secure_payload(receipt.id)
                        """)),
            ErrorDescription(
                "secure.too_large", .failure, means: "The payload is too large to be kept.",
                when: "It has more than 65,536 bytes as JSON. Status 413.",
                cure: "Keep what is large elsewhere, and send where it is.",
                example: .lua(
                    "session:send_secure { to = \"alice\", payload = { text = (\"x\"):rep(70000) } }",
                    cure: "session:send_secure { to = \"alice\", payload = { document = \"d-17\" } }")),
            ErrorDescription(
                "secure.lifetime", .failure, means: "A secure payload cannot be kept for so long.",
                when: "expires_in is nothing, or more than 30 days. Status 400.",
                cure: "Give a time up to \"30d\", or none for an hour.",
                example: .lua(
                    "session:send_secure { to = \"alice\", payload = { code = 1 }, expires_in = \"60d\" }",
                    cure: "session:send_secure { to = \"alice\", payload = { code = 1 }, expires_in = \"30d\" }")),
            ErrorDescription(
                "secure.maximum_reads", .failure, means: "A secure payload must allow at least one read.",
                when: "max_reads is below 1. Status 400.", cure: "Give 1 or more, or leave it out for any number of reads.",
                example: .lua(
                    "session:send_secure { to = \"alice\", payload = { code = 1 }, max_reads = 0 }",
                    cure: "session:send_secure { to = \"alice\", payload = { code = 1 }, max_reads = 1 }")),
            ErrorDescription(
                "secure.too_many", .failure, means: "The addressee has too many secure payloads.",
                when:
                    "The same user has 100 that were never read, or 25 of the same other user. What was read gives way to what is new. "
                    + "Status 429; the same call may succeed later.",
                cure:
                    "Have some fetched, wait until some expire, or revoke some. The addressee sees them with GET /api/notifications.",
                example: .lua(
                    "for code = 1, 101 do session:send_secure { to = \"alice\", payload = { code = code } } end",
                    cure: """
                        for code = 1, 101 do
                          local receipt = session:send_secure { to = "alice", payload = { code = code }, max_reads = 1 }
                          session:fetch_secure_payload(receipt.id)
                        end
                        """)),
            ErrorDescription(
                "secure.payload", .misuse, .failure, means: "The payload has no form that a device could read.",
                when: "The table has phones, functions, or both names and places in it, or more than 128 levels.",
                cure: "Send plain tables of strings, numbers and booleans.",
                example: .lua(
                    "session:send_secure { to = \"alice\", payload = { phone = phone } }",
                    cure: "session:send_secure { to = \"alice\", payload = { phone = phone.name } }")),
            ErrorDescription(
                "secure.sealed", .failure, means: "A stored payload does not open.",
                when:
                    "It was changed where it is stored, or sealed with another key: payload.key of the data folder was lost or exchanged. "
                    + "Status 410.",
                cure: "Put the old payload.key back and start the server again, or send the payload again; pushhost doctor tells how "
                    + "many do not open."),
            ErrorDescription(
                "secure.key", .failure, means: "The key that seals secure payloads has the wrong length.",
                when: "The settings of a host give a key that has not 256 bits.", cure: "Give 32 random bytes."),
        ])
}

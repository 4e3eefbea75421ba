--- What PLUGIN does, in a line or two.   docs/how-to/plugins.md
local push = require "push"

-- What a new user reads, with the name in the place of %s.
local function greeting(name) return push.config.greeting:format(name) end

return {
  name = "PLUGIN",
  version = "1.0",
  desc = "Greets new users, and marks test notifications",

  -- What the plugin asks for; the operator grants it.
  needs = { "hub.send", "kv" },

  -- What the operator can set in plugins.yaml.
  config = {
    greeting = { type = "string", default = "Welcome, %s", desc = "text for a new user" },
  },

  hooks = {
    -- Before an installation is kept: tags may be changed, and once it is kept it can be greeted.
    on_register = {
      on_failure = "fail_open", -- if this fails, the registration is stored nevertheless
      run = function(candidate)
        if candidate.user == nil or not candidate.is_new then return end
        return {
          add_tags = { "greeted" },
          once_kept = function()
            push.kv.add "greeted"
            push.send { to = push.tag.device(candidate.id), alert = greeting(candidate.user) }
          end,
        }
      end,
    },
  },

  routes = {
    -- GET /plugins/PLUGIN/greeted: how many there were.
    {
      path = "/greeted",
      auth = "open",
      run = function() return { json = { greeted = push.kv.get "greeted" or 0 } } end,
    },
  },
}

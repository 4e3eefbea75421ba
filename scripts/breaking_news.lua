--- Breaking news: phones subscribe to categories directly at the hub, and one template send reaches a category on every platform.
--- pushhost run scripts/breaking_news.lua --category Technology --text "Lua turns thirty-three"
local push = require "push"

local categories = { "World", "Politics", "Business", "Technology", "Science", "Sports" }
local languages = { "en", "fr", "pt", "zh" }

local args = push.args {
  category  = { type = "string", default = "Technology", choices = categories, desc = "category of the news" },
  text      = { type = "string", default = "Lua turns thirty-three", desc = "text of the news" },
  localized = { type = "boolean", desc = "send it in the language of each phone" },
}

-- Readers on the four platforms, with the categories that they follow.
local readers = {
  { name = "ana",  platform = "apns",    locale = "pt-PT", follows = { "Technology", "Science" } },
  { name = "wei",  platform = "fcm",     locale = "zh-TW", follows = { "Technology", "World" } },
  { name = "tom",  platform = "wns",     locale = "en-GB", follows = { "Sports", "Business" } },
  { name = "zoé",  platform = "browser", locale = "fr-FR", follows = { "Technology", "Politics", "Sports" } },
  { name = "eve",  platform = "apns",    locale = "en-US", follows = { "Sports", "World" } },
}

-- Translated headlines. A language without one gets English.
local headline = {
  en = "Breaking " .. args.category .. " News: ",
  fr = "Flash info " .. args.category .. " : ",
  pt = "Última hora, " .. args.category .. ": ",
}

push.step("phones subscribe to their categories", function()
  for _, reader in ipairs(readers) do
    reader.phone = push.device { name = reader.name, platform = reader.platform, locale = reader.locale }
    local language = push.locale.choose(reader.locale, languages, "en")
    push.subscribe {
      device = reader.phone, categories = reader.follows,
      property = args.localized and push.locale.property("News", language) or "messageParam",
    }
  end
end)

local outcome = push.step("send to those who follow " .. args.category, function()
  local texts = {}
  for language, words in pairs(headline) do texts[language] = words .. args.text end
  local properties = push.locale.properties { name = "News", texts = texts, fallback = "en", languages = languages }
  properties.messageParam = texts.en
  return push.send { to = args.category, properties = properties }
end)

local told = {}
push.rehearse("only these phones show it, after one send", function()
  local words = { ana = headline.pt, ["zoé"] = headline.fr } -- wei reads Chinese, which has no text: English
  for _, reader in ipairs(readers) do
    local follows = table.concat(reader.follows, " "):find(args.category, 1, true) ~= nil
    local inbox = reader.phone:inbox()
    push.expect(#inbox).to.equal(follows and 1 or 0)
    push.expect(reader.phone:categories()).to.equal(reader.follows)
    if follows then
      local begin = args.localized and words[reader.name] or headline.en
      push.expect(inbox[1].text).to.equal(begin .. args.text)
      told[#told + 1] = reader.name
    end
  end
  push.expect(outcome.sent).to.equal(#told)
end)

return { notification_id = outcome.id, sent = outcome.sent, told = told }

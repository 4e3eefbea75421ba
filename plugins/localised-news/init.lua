--- Fills in missing languages of a send: a phone whose language has no text gets the nearest one.
--- docs/reference/plugins/localised-news.md
local push = require "push"

-- The texts of a name by language: News_pt_BR is the text for pt-BR. News alone is in the first fallback language.
local function texts_of(name, properties)
  local texts = {}
  for property, text in pairs(properties) do
    local begin = property:sub(1, #name + 1):lower()
    local language = begin == name:lower() .. "_" and property:sub(#name + 2):gsub("_", "-")
    -- A suffix that is not a language tag belongs to another property of the sender, such as News_url_of_the_picture.
    if language and text ~= "" and push.try(push.locale.property, name, language) then texts[language] = text end
  end
  local first = push.config.fallback[1]
  local plain = properties[name]
  if plain and plain ~= "" and not texts[first] then texts[first] = plain end
  return texts
end

-- The first fallback language that has a text; nil if there is none.
local function fallback_of(texts)
  for _, wanted in ipairs(push.config.fallback) do
    for language in pairs(texts) do
      if language:lower() == wanted:lower() then return language end
    end
  end
end

local function localised(draft)
  if draft.content ~= "template" then return end
  local properties, is_changed = {}, false
  for name, value in pairs(draft.properties) do properties[name] = value end
  for _, name in ipairs(push.config.names) do
    local texts = texts_of(name, draft.properties)
    if next(texts) then
      local fallback = fallback_of(texts)
      if not fallback then
        return { veto = ("%s needs a text in %s"):format(name, table.concat(push.config.fallback, " or ")) }
      end
      local all = push.locale.properties { name = name, texts = texts, fallback = fallback, languages = push.config.languages }
      for property, text in pairs(all) do
        if properties[property] ~= text then properties[property], is_changed = text, true end
      end
    end
  end
  if is_changed then return { properties = properties } end
end

return {
  name = "localised-news",
  version = "1.0",
  desc = "Adds missing languages to a send, from the nearest language or a fallback",

  config = {
    names = { type = "list", of = "string", default = { "News" }, desc = "names of texts; templates show $(News_pt), $(News_fr)" },
    languages = { type = "list", of = "string", required = true, desc = "languages that devices choose from: [en, pt, pt-BR, fr]" },
    fallback = { type = "list", of = "string", default = { "en" }, desc = "languages in order of preference for those without a text" },
  },

  hooks = {
    before_send = { on_failure = "fail_open", run = localised },
  },
}

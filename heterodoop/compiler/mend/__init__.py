"""Small changes of a program's text that may mend a refusal. They are only drafts: `trials` keeps those that do."""

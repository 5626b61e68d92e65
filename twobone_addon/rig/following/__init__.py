"""A chain follows its targets: bones turned, scaled and measured again."""

"""The words of the pages."""
import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def pages():
    return [os.path.join(ROOT, "packaging", "README.md")] + sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))


def all_words():
    """Every block that is marked for the newcomer, by its name."""
    found = {}
    for page in pages():
        with open(page, encoding="utf-8") as f:
            for name, text in re.findall(r"<!-- tried: newcomer (\S+) -->\n```\w*\n(.*?)```", f.read(), re.S):
                assert name not in found, f"{name} is there twice"
                found[name] = text
    return found


WORDS, USED = all_words(), set()


def words(name, **mine):
    """A block, with what a reader puts in himself: what the page has, and what is meant by it."""
    USED.add(name)
    text = WORDS[name]
    for old, new in mine.get("mine", {}).items():
        assert old in text, f"{name} has no {old}"
        text = text.replace(old, new)
    return text


def inline(text):
    """Words in the middle of a sentence, which must be there."""
    for page in pages():
        with open(page, encoding="utf-8") as f:
            if f"`{text}`" in f.read():
                return text
    raise AssertionError(f"no page says `{text}`")

"""Turns a reading list into a page."""

import json


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def render(books):
    return "\n".join(f"- {book['title']} by {book['author']}" for book in books)


def unread(books):
    return [book for book in books if not book.get("read", False)]


def summary(books):
    total = len(books)
    left = len(unread(books))
    return f"{total} books, {left} to read"


def main():
    books = load("books.json")
    print(summary(books))
    print(render(unread(books)))


if __name__ == "__main__":
    main()

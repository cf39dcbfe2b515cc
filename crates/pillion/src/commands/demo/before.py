"""Turns a reading list into a page."""

import json
import os


def load(path):
    with open(path) as file:
        return json.load(file)


def render(books):
    lines = []
    for book in books:
        lines.append("- " + book["title"] + " by " + book["author"])
    return "\n".join(lines)


def unread(books):
    result = []
    for book in books:
        if book["read"] == False:
            result.append(book)
    return result


def summary(books):
    total = len(books)
    left = len(unread(books))
    return "%d books, %d to read" % (total, left)


def main():
    books = load("books.json")
    print(summary(books))
    print(render(unread(books)))


if __name__ == "__main__":
    main()

def total(items):
    return sum(item.price for item in items)


def label(item):
    return f"{item.name} {item.price:.2f}"


def discount(total, percent):
    if not 0 <= percent <= 100:
        raise ValueError(percent)
    return total - total * percent / 100

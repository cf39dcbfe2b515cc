def total(items):
    sum = 0
    for item in items:
        sum += item.price
    return sum


def label(item):
    return item.name + " " + str(item.price)


def discount(total, percent):
    return total - total * percent / 100

"""Plots as SVG, drawn by hand: two axes, lines, a legend."""

import math

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 70, 40, 170, 50
COLOURS = ["#1f5fbf", "#2a9d8f", "#c8553d", "#7a4fa3", "#8a8a2b", "#555555"]


def decades(values):
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def text(x, y, content, anchor="middle", extra=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" {extra}>{content}</text>'


def label(exponent):
    return f"{10 ** exponent:,}" if exponent >= 0 else f"{10.0 ** exponent:g}"


def log_log(file, title, x_name, y_name, series):
    r"""\param series  name → [(x, y)]"""
    series = {name: [(x, max(y, 0.001)) for x, y in points] for name, points in series.items()}
    points = [point for line in series.values() for point in line]
    x_low, x_high = decades([x for x, _ in points])
    y_low, y_high = decades([y for _, y in points])

    def across(x):
        return LEFT + (math.log10(x) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

    def down(y):
        return HEIGHT - BOTTOM - (math.log10(y) - y_low) / (y_high - y_low) * (
            HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           text(LEFT, 22, title, "start", 'font-size="15"')]
    for e in range(x_low, x_high + 1):
        x = across(10 ** e)
        out.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        out.append(text(x, HEIGHT - BOTTOM + 18, label(e)))
    for e in range(y_low, y_high + 1):
        y = down(10 ** e)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(text(LEFT - 8, y + 4, label(e), "end"))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_name))
    out.append(text(16, (TOP + HEIGHT - BOTTOM) / 2, y_name, "middle",
                    f'transform="rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2:.0f})"'))
    for number, (name, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = "L".join(f"{across(x):.1f} {down(y):.1f}" for x, y in sorted(line))
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="3" fill="{colour}"/>'
                for x, y in line]
        out.append(text(WIDTH - RIGHT + 12, TOP + 14 + 20 * number, name, "start",
                        f'fill="{colour}"'))
    out.append("</svg>\n")
    file.write_text("\n".join(out))


def bars(file, title, groups, unit):
    r"""Bars to the right, which grow with the logarithm of 1 + value.

    \param groups  name → {series → value}; one that is None is left out
    """
    series = list(dict.fromkeys(name for values in groups.values() for name in values))
    bar, left, top = 9, 170, 66
    groups = {group: {name: value for name, value in values.items() if value is not None}
              for group, values in groups.items()}
    height = top + sum(len(values) * bar + 12 for values in groups.values()) + 10
    longest = max(value for values in groups.values() for value in values.values())

    def length(value):
        return math.log1p(value) / math.log1p(longest) * (WIDTH - left - 70)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           text(12, 22, title, "start", 'font-size="15"')]
    for number, name in enumerate(series):
        out.append(text(12 + (WIDTH - 24) / len(series) * number, 46, name, "start",
                        f'fill="{COLOURS[number]}"'))
    y = top
    for group, values in groups.items():
        out.append(text(left - 8, y + len(values) * bar / 2 + 4, group, "end"))
        for number, name in enumerate(series):
            if name not in values:
                continue
            value = values[name]
            out.append(f'<rect x="{left}" y="{y}" width="{max(length(value), 1):.1f}" '
                       f'height="{bar - 1}" fill="{COLOURS[number]}"/>')
            out.append(text(left + length(value) + 5, y + 8, f"{value:.0f} {unit}", "start",
                            'font-size="9"'))
            y += bar
        y += 12
    out.append("</svg>\n")
    file.write_text("\n".join(out))

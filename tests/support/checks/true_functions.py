"""Functions and their derivatives by mpmath, right where its own formulas lose their digits."""

from __future__ import annotations

from functools import cache

import mpmath as mp
import scipy.special

ONE = mp.mpf(1)


def sigma(x):
    return 1 / (1 + mp.exp(-x))


def sigma2(x):
    """The second derivative of sigma."""
    return -sigma(x) * sigma(-x) * mp.tanh(x / 2)


def sech(x):
    return 1 / mp.cosh(x)


def sinc(x):
    return mp.sin(mp.pi * x) / (mp.pi * x)


def sinc1(x):
    with mp.workdps(2500 if abs(x) < 1e-100 else 200):
        return (mp.cos(mp.pi * x) - mp.sin(mp.pi * x) / (mp.pi * x)) / x


def sinc2(x):
    with mp.workdps(2500 if abs(x) < 1e-100 else 200):
        return -mp.pi * mp.sin(mp.pi * x) / x - 2 * sinc1(x) / x


# the error functions: far out, where mpmath's formulas lose all digits, their asymptotic series


def erfcx(x):
    if x < 1e6:
        with mp.workdps(100):
            return mp.exp(x * x) * mp.erfc(x)
    y = 1 / (2 * x * x)
    return (1 - y + 3 * y**2 - 15 * y**3) / (mp.sqrt(mp.pi) * x)


def erfcx1(x):
    if x < 1e6:
        with mp.workdps(100):
            return 2 * x * erfcx(x) - 2 / mp.sqrt(mp.pi)
    y = 1 / (2 * x * x)
    return -(1 - 3 * y + 15 * y**2 - 105 * y**3) / (mp.sqrt(mp.pi) * x * x)


def erfcx2(x):
    return 2 * erfcx(x) + 2 * x * erfcx1(x) if x < 1e6 else 2 / (mp.sqrt(mp.pi) * x**3)


def erfc(x):
    if abs(x) < 1e6:
        return mp.erfc(x)
    return mp.exp(-x * x) * erfcx(x) if x > 0 else mp.mpf(2)


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def ndtr(x):
    return erfc(-x / mp.sqrt(2)) / 2


def log_ndtr(x):
    if x > 0:
        return mp.log1p(-ndtr(-x))
    return mp.log(erfcx(-x / mp.sqrt(2)) / 2) - x * x / 2


def hazard(x):
    if x > 0:
        return density(x) / ndtr(x)
    return mp.sqrt(2 / mp.pi) / erfcx(-x / mp.sqrt(2))


def hazard1(x):
    return mp.mpf(-1) if x < -1e6 else -hazard(x) * (x + hazard(x))


def erfinv1(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(mp.erfinv(x) ** 2)


def ndtri(p):
    with mp.workdps(100):
        q = min(p, 1 - p)
        x = mp.mpf(scipy.special.ndtri(float(q)))
        for _ in range(3):
            x -= (ndtr(x) - q) / density(x)
        return x if q == p else -x


def ndtri1(p):
    return 1 / density(ndtri(p))


# the gamma functions


def lgamma(x):
    return mp.loggamma(x) if x > 0 else mp.log(abs(mp.gamma(x)))


# the Bessel functions, of which the scaled ones are means of w ** n e ** (-x w), w = 1 - cos(t)


@cache
def besseli(n, x, dps):
    with mp.workdps(dps):
        return mp.besseli(n, x)


def bessel(n, x):
    """I of order n, of which several operations and points on both sides ask."""
    found = besseli(n, abs(x), mp.mp.dps)
    return -found if n % 2 and x < 0 else found


def mean(n, x):
    if x < 1000:
        i = [mp.exp(-x) * bessel(k, x) for k in range(4)]
        return (
            i[0],
            i[0] - i[1],
            i[0] - 2 * i[1] + (i[0] + i[2]) / 2,
            i[0] - 3 * i[1] + 3 * (i[0] + i[2]) / 2 - (3 * i[1] + i[3]) / 4,
        )[n]
    terms = (mp.binomial(2 * k, k) / 8**k * mp.gamma(n + k + 0.5) / x ** (n + k) for k in range(12))
    return mp.fsum(terms) / (mp.pi * mp.sqrt(2 * x))


def i0e(x):
    return mean(0, abs(x))


def i0e1(x):
    return -mp.sign(x) * mean(1, abs(x))


def i0e2(x):
    return mean(2, abs(x))


def i1e(x):
    with mp.workdps(400 if abs(x) < 1 else 60):
        return mp.sign(x) * (mean(0, abs(x)) - mean(1, abs(x)))


def i1e1(x):
    return mean(2, abs(x)) - mean(1, abs(x))


def i1e2(x):
    return mp.sign(x) * (mean(2, abs(x)) - mean(3, abs(x)))

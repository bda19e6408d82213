"""Loops as people write them, and each with its gradient in C by hand."""

LORENZ = """\
param sigma = 10.0
param rho = 28.0
param beta = 2.6
x = 1.0
y = 1.0
z = 1.0
for i in range(200):
    dx = sigma * (y - x)
    dy = x * (rho - z) - y
    dz = x * y - beta * z
    x = x + 0.001 * dx
    y = y + 0.001 * dy
    z = z + 0.001 * dz
x + y * z
"""
KALMAN = """\
param a = 0.9
param log_q = -1.0
param log_r = 0.1
input y: float[n]
q = exp(log_q)
r = exp(log_r)
m = 0.0
p = 1.0
total = 0.0
for t in range(n):
    m = a * m
    p = a * a * p + q
    s = p + r
    e = y[t] - m
    total = total - 0.5 * (log(s) + e * e / s)
    k = p / s
    m = m + k * e
    p = (1 - k) * p
total
"""
MIXTURE = """\
param w = 0.3
param m1 = -1.0
param m2 = 1.5
input y: float[n]
p = 1 / (1 + exp(-w))
total = 0.0
for t in range(n):
    a = p * exp(-0.5 * (y[t] - m1) ** 2)
    b = (1 - p) * exp(-0.5 * (y[t] - m2) ** 2)
    total = total + log(a + b)
total
"""
SMOOTHING = """\
param alpha = 0.3
param beta = 0.1
param phi = 0.9
input y: float[n]
level = y[0]
trend = 0.0
total = 0.0
for t in range(1, n):
    f = level + phi * trend
    e = y[t] - f
    total = total + e * e
    level = f + alpha * e
    trend = phi * trend + beta * e
total
"""

HAND = """
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#ifdef __APPLE__
#define sincos __sincos
#endif
double growth(const double *x, const double *y, long n, double *g) {
    double *tape = malloc(2 * n * sizeof *tape), s = 0.5, of_s = 1.0, of_x = 0.0;
    (void) y;
    for (long i = 0; i < n; i++) {
        sincos(s, &tape[2 * i], &tape[2 * i + 1]);
        s = s + tape[2 * i] * x[0];
    }
    for (long i = n - 1; i >= 0; i--) {
        of_x = of_x + of_s * tape[2 * i];
        of_s = of_s + of_s * x[0] * tape[2 * i + 1];
    }
    free(tape);
    g[0] = of_x;
    return s;
}
double sines(const double *x, const double *y, long n, double *g) {
    double *tape = malloc(n * sizeof *tape), s = x[0], of_s = 1.0, of_x = 0.0;
    (void) y;
    for (long i = 0; i < n; i++) {
        double sine;
        sincos(s, &sine, &tape[i]);
        s = sine * 1.01 + x[0];
    }
    for (long i = n - 1; i >= 0; i--) {
        of_x += of_s;
        of_s *= 1.01 * tape[i];
    }
    free(tape);
    g[0] = of_x + of_s;
    return s;
}
double regression(const double *x, const double *y, long n, double *g) {
    double c = x[5], w = exp(-x[6]), total = 0.0;
    for (long k = 0; k < 7; k++) {
        g[k] = 0.0;
    }
    for (long t = 5; t < n; t++) {
        double m = c;
        for (long k = 0; k < 5; k++) {
            m += x[k] * y[t - 1 - k];
        }
        double r = (y[t] - m) * w;
        total = total - 0.5 * r * r - x[6];
        for (long k = 0; k < 5; k++) {
            g[k] += r * w * y[t - 1 - k];
        }
        g[5] += r * w;
        g[6] += r * r - 1.0;
    }
    return total;
}
double lorenz(const double *p, const double *data, long n, double *g) {
    double sigma = p[0], rho = p[1], beta = p[2], x = 1.0, y = 1.0, z = 1.0;
    double *kept = malloc(3 * n * sizeof *kept);
    for (long i = 0; i < n; i++) {
        double dx = sigma * (y - x), dy = x * (rho - z) - y, dz = x * y - beta * z;
        kept[3 * i] = x; kept[3 * i + 1] = y; kept[3 * i + 2] = z;
        x += 0.001 * dx; y += 0.001 * dy; z += 0.001 * dz;
    }
    double value = x + y * z, of_x = 1.0, of_y = z, of_z = y;
    double s = 0.0, r = 0.0, b = 0.0;
    (void) data;
    for (long i = n - 1; i >= 0; i--) {
        double x = kept[3 * i], y = kept[3 * i + 1], z = kept[3 * i + 2];
        double dx = 0.001 * of_x, dy = 0.001 * of_y, dz = 0.001 * of_z;
        s += dx * (y - x);
        r += dy * x;
        b -= dz * z;
        of_x += -dx * sigma + dy * (rho - z) + dz * y;
        of_y += dx * sigma - dy + dz * x;
        of_z += -dy * x - dz * beta;
    }
    g[0] = s; g[1] = r; g[2] = b;
    free(kept);
    return value;
}
double kalman(const double *x, const double *y, long n, double *g) {
    double a = x[0], q = exp(x[1]), r = exp(x[2]), m = 0.0, p = 1.0, total = 0.0;
    double *kept = malloc(2 * n * sizeof *kept);
    for (long t = 0; t < n; t++) {
        kept[2 * t] = m; kept[2 * t + 1] = p;
        m = a * m;
        p = a * a * p + q;
        double s = p + r, e = y[t] - m, k = p / s;
        total -= 0.5 * (log(s) + e * e / s);
        m += k * e;
        p *= 1 - k;
    }
    double of_m = 0.0, of_p = 0.0, of_a = 0.0, of_q = 0.0, of_r = 0.0;
    for (long t = n - 1; t >= 0; t--) {
        double m0 = kept[2 * t], p0 = kept[2 * t + 1];
        double m1 = a * m0, p1 = a * a * p0 + q, s = p1 + r, e = y[t] - m1, k = p1 / s;
        double of_k = of_m * e - of_p * p1;
        double of_e = of_m * k - e / s;
        double of_p1 = of_p * (1 - k) + of_k / s;
        double of_s = -0.5 / s + 0.5 * e * e / (s * s) - of_k * k / s;
        of_p1 += of_s;
        of_r += of_s;
        double of_m1 = of_m - of_e;
        of_a += of_m1 * m0 + 2 * a * of_p1 * p0;
        of_q += of_p1;
        of_m = of_m1 * a;
        of_p = of_p1 * a * a;
    }
    free(kept);
    g[0] = of_a; g[1] = of_q * q; g[2] = of_r * r;
    return total;
}
double mixture(const double *x, const double *y, long n, double *g) {
    double p = 1 / (1 + exp(-x[0])), total = 0.0, of_p = 0.0, g1 = 0.0, g2 = 0.0;
    for (long t = 0; t < n; t++) {
        double d1 = y[t] - x[1], d2 = y[t] - x[2];
        double e1 = exp(-0.5 * d1 * d1), e2 = exp(-0.5 * d2 * d2);
        double a = p * e1, b = (1 - p) * e2, s = a + b;
        total += log(s);
        double f = 1 / s;
        of_p += f * (e1 - e2);
        g1 += f * a * d1;
        g2 += f * b * d2;
    }
    g[0] = of_p * p * (1 - p); g[1] = g1; g[2] = g2;
    return total;
}
double smoothing(const double *x, const double *y, long n, double *g) {
    double alpha = x[0], beta = x[1], phi = x[2], level = y[0], trend = 0.0, total = 0.0;
    double *kept = malloc(2 * n * sizeof *kept);
    for (long t = 1; t < n; t++) {
        double f = level + phi * trend, e = y[t] - f;
        kept[2 * t] = e; kept[2 * t + 1] = trend;
        total += e * e;
        level = f + alpha * e;
        trend = phi * trend + beta * e;
    }
    double of_level = 0.0, of_trend = 0.0, of_alpha = 0.0, of_beta = 0.0, of_phi = 0.0;
    for (long t = n - 1; t >= 1; t--) {
        double e = kept[2 * t], before = kept[2 * t + 1];
        double of_e = 2 * e + of_level * alpha + of_trend * beta;
        of_alpha += of_level * e;
        of_beta += of_trend * e;
        double of_f = of_level - of_e;
        of_phi += (of_trend + of_f) * before;
        of_trend = (of_trend + of_f) * phi;
        of_level = of_f;
    }
    free(kept);
    g[0] = of_alpha; g[1] = of_beta; g[2] = of_phi;
    return total;
}
"""

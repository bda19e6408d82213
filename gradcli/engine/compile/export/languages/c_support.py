"""The words of C, and the functions on ints that C's operators do not have."""

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while _Bool _Complex _Imaginary bool true false main NULL NAN INFINITY asm errno stdin
stdout stderr int8_t int16_t int32_t int64_t uint64_t size_t
"""
_FUNCTIONS = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim
floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb
lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn
sin sinh sqrt tan tanh tgamma trunc fpclassify isfinite isinf isnan isnormal signbit isgreater
isgreaterequal isless islessequal islessgreater isunordered j0 j1 jn y0 y1 yn gamma drem
significand signgam memcpy memmove memset memcmp memchr strcpy strlen index abs labs llabs div ldiv
lldiv free malloc calloc realloc rand srand exit abort system time clock exp10 pow10 sincos finite
scalb at used
"""
_MACROS = "M_E M_PI M_PI_2 HUGE_VAL OVERFLOW UNDERFLOW DOMAIN SING PLOSS TLOSS EOF linux unix I"

SUPPORT = {
    "pairwise_sum": """\
/* The sum of n elements, each `step` behind the one before, added as NumPy does it: in eight
 * partial sums, and by halves if they are many. */
static double pairwise_sum(const double *x, int64_t n, int64_t step)
{
    double part[8];
    double total;
    if (n < 8) {
        total = 0.0;
        for (int64_t i = 0; i < n; i++) {
            total += x[i * step];
        }
        return total;
    }
    if (n > 128) {
        const int64_t half = n / 2 - n / 2 % 8;
        return pairwise_sum(x, half, step) + pairwise_sum(&x[half * step], n - half, step);
    }
    for (int64_t k = 0; k < 8; k++) {
        part[k] = x[k * step];
    }
    for (int64_t i = 8; i < n - n % 8; i += 8) {
        for (int64_t k = 0; k < 8; k++) {
            part[k] += x[(i + k) * step];
        }
    }
    total = (part[0] + part[1]) + (part[2] + part[3]);
    total += (part[4] + part[5]) + (part[6] + part[7]);
    for (int64_t i = n - n % 8; i < n; i++) {
        total += x[i * step];
    }
    return total;
}
""",
    "are_finite": """\
/* True if all elements of an array are finite. */
static bool are_finite(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}
""",
    "int_add": """\
/* x + y; nonzero if that is larger than 64 bits. */
static int int_add(int64_t x, int64_t y, int64_t *result)
{
    if (y > 0 ? x > INT64_MAX - y : x < INT64_MIN - y) {
        return 1;
    }
    *result = x + y;
    return 0;
}
""",
    "int_sub": """\
/* x - y; nonzero if that is larger than 64 bits. */
static int int_sub(int64_t x, int64_t y, int64_t *result)
{
    if (y > 0 ? x < INT64_MIN + y : x > INT64_MAX + y) {
        return 1;
    }
    *result = x - y;
    return 0;
}
""",
    "int_mul": """\
/* x * y; nonzero if that is larger than 64 bits. */
static int int_mul(int64_t x, int64_t y, int64_t *result)
{
    if (x > 0 ? (y > 0 ? x > INT64_MAX / y : y < INT64_MIN / x)
              : (y > 0 ? x < INT64_MIN / y : x != 0 && y < INT64_MAX / x)) {
        return 1;
    }
    *result = x * y;
    return 0;
}
""",
    "wrapped_add": """\
/* x + y modulo 2 ** 64. */
static int64_t wrapped_add(int64_t x, int64_t y)
{
    return (int64_t) ((uint64_t) x + (uint64_t) y);
}
""",
    "wrapped_sub": """\
/* x - y modulo 2 ** 64. */
static int64_t wrapped_sub(int64_t x, int64_t y)
{
    return (int64_t) ((uint64_t) x - (uint64_t) y);
}
""",
    "absolute": """\
/* The absolute value of an int above INT64_MIN. */
static int64_t absolute(int64_t x)
{
    return x < 0 ? -x : x;
}
""",
    "bit_length": """\
/* The number of bits of an int from 0. */
static int64_t bit_length(int64_t x)
{
    int64_t bits = 0;
    while (x > 0) {
        bits++;
        x /= 2;
    }
    return bits;
}
""",
    "is_inexact": """\
/* True if a double may not be equal to that int. */
static bool is_inexact(int64_t x)
{
    return x > 9007199254740992 || x < -9007199254740992;
}
""",
    "put_int": """\
/* Put an int into a place of the work memory. */
static void put_int(double *place, int64_t x)
{
    memcpy(place, &x, sizeof x);
}
""",
    "get_int": """\
/* Get an int out of a place of the work memory. */
static int64_t get_int(const double *place)
{
    int64_t x;
    memcpy(&x, place, sizeof x);
    return x;
}
""",
}
"""Functions that are printed if they are called, by name."""

WORDS = frozenset([*_KEYWORDS.split(), *_FUNCTIONS.split(), *_MACROS.split(), *SUPPORT])
"""Words that no variable and no function may be named."""

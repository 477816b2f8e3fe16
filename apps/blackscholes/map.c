/* Black-Scholes, map only: the mean price of a European call and put over 128 maturities up to the option's own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 0.02       /* riskless rate per year */
#define VOLATILITY 0.30 /* of the underlying stock, per year */
#define ITERATIONS 128

/* The standard normal distribution function, Abramowitz and Stegun 26.2.17: off by 7.5e-8 at most. */
static double normal(double d)
{
    const double a1 = 0.31938153, a2 = -0.356563782, a3 = 1.781477937, a4 = -1.821255978, a5 = 1.330274429;
    double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
    double w = 0.39894228040143267794 * exp(-0.5 * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));

    return d > 0 ? 1.0 - w : w;
}

/* What the call and the put are worth: stock price, strike price, years to maturity. */
static void price(double stock, double strike, double years, double *call, double *put)
{
    double root = sqrt(years);
    double d1 = (log(stock / strike) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / (VOLATILITY * root);
    double n1 = normal(d1), n2 = normal(d1 - VOLATILITY * root);
    double discounted = strike * exp(-RATE * years);

    *call = stock * n1 - discounted * n2;
    *put = discounted * (1.0 - n2) - stock * (1.0 - n1);
}

/* Within these bounds no step of the formula leaves the range of a double. */
static int can_be_priced(double stock, double strike, double years)
{
    return stock >= 0.01 && stock <= 1e6 && strike >= 0.01 && strike <= 1e6 && years >= 0.001 && years <= 100;
}

int main(void)
{
    char *line = NULL;
    size_t nbytes = 0;
    long id;
    double calls, puts;

#pragma mapreduce mapper key(id) value(calls) kvpairs(1)
    while (getline(&line, &nbytes, stdin) != -1) {
        double stock, strike, years, call, put;
        int i;

        if (line[strspn(line, " \t\n")] == '\0')
            continue; /* a blank line */
        if (sscanf(line, "%ld %lf %lf %lf", &id, &stock, &strike, &years) != 4 || !can_be_priced(stock, strike, years)) {
            fprintf(stderr, "blackscholes: not an option, or out of range: %s", line);
            exit(1);
        }
        calls = puts = 0;
        for (i = 1; i <= ITERATIONS; i++) {
            price(stock, strike, years * i / ITERATIONS, &call, &put);
            calls += call;
            puts += put;
        }
        calls /= ITERATIONS;
        puts /= ITERATIONS;
        printf("%ld\t%.6f %.6f\n", id, calls, puts);
    }
    free(line);
    return 0;
}

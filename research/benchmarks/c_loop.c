/* Disjoint LinUCB as a plain loop in C: score every arm, pull the best, learn by Sherman and
   Morrison. D features and K arms are known when it is compiled. A cap lowers an index, and the
   index without it settles ties. Sums are taken in the order of the kernels, so that both make
   the same pulls. */
#include <math.h>
#include <string.h>

static double dot(const double *a, const double *b) {
    double s[4] = {0, 0, 0, 0};
    for (int j = 0; j < D; j++) s[j & 3] += a[j] * b[j];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

static void times(double M[D][D], const double *x, double *y) {
    for (int j = 0; j < D; j++) y[j] = 0;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) y[j] += x[i] * M[i][j];
}

void play(long runs, long rounds, const double *x, const double *means, const double *caps,
          const long *visitors, const double *luck, double alpha, long *pulls) {
    static double M[K][D][D], theta[K][D], y[D];
    for (long run = 0; run < runs; run++) {
        memset(M, 0, sizeof M);
        memset(theta, 0, sizeof theta);
        for (int k = 0; k < K; k++)
            for (int i = 0; i < D; i++) M[k][i][i] = 1;
        for (long t = run * rounds; t < (run + 1) * rounds; t++) {
            const double *rows = x + visitors[t] * K * D;
            double best = -INFINITY, best_free = -INFINITY;
            int arm = 0;
            for (int k = 0; k < K; k++) {
                times(M[k], rows + k * D, y);
                double q = dot(y, rows + k * D);
                double free = dot(theta[k], rows + k * D) + alpha * sqrt(q > 0 ? q : 0);
                double cap = caps[visitors[t] * K + k], index = free < cap ? free : cap;
                if (index > best || (index == best && free > best_free))
                    best = index, best_free = free, arm = k;
            }
            pulls[t] = arm;
            const double *row = rows + arm * D;
            double reward = luck[t] < means[visitors[t] * K + arm];
            times(M[arm], row, y);
            double share = 1 / (1 + dot(y, row));
            double surprise = (reward - dot(theta[arm], row)) * share;
            for (int i = 0; i < D; i++) theta[arm][i] += y[i] * surprise;
            for (int i = 0; i < D; i++)
                for (int j = 0; j < D; j++) M[arm][i][j] -= y[i] * y[j] * share;
        }
    }
}

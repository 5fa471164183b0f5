// Multi-class support vector machines in one problem: all classes of a task share it.
//
// n examples x_i of classes y_i with costs C_i, a weight vector w_m for each of K classes (a bias feature of
// size B is one more feature), and h_im = 1 + (w_m - w_{y_i}).x_i for m != y_i, h_im = 0 for m = y_i:
//
//   primal   min_w  P(w) = 1/2 sum_m w_m.w_m + sum_i C_i xi_i
//            Crammer-Singer:  xi_i = max_m h_im                    (the worst class)
//            Weston-Watkins:  xi_i = sum_{m != y_i} max(0, h_im)   (each class)
//   dual     max_u  D(u) = sum_i sum_{m != y_i} u_im - 1/2 sum_m w_m.w_m
//            w_m = sum_i alpha_im x_i,  alpha_im = -u_im for m != y_i,  alpha_i,y_i = sum_{m != y_i} u_im
//            Crammer-Singer:  u_im >= 0, sum_m u_im = C_i          (u_i,y_i takes up the rest)
//            Weston-Watkins:  0 <= u_im <= C_i                     (u_i,y_i = 0)
//
// Crammer, Singer, "On the algorithmic implementation of multiclass kernel-based vector machines", JMLR 2001;
// Weston, Watkins, "Support vector machines for multi-class pattern recognition", ESANN 1999, here with the
// margin 1 instead of 2 (which only scales w and C) and without their unregularized thresholds.
//
// Sequential dual method (Keerthi, Sundararajan, Chang, Hsieh, Lin, "A sequential dual method for large scale
// multi-class linear SVMs", KDD 2008): all u_i of one example are moved together to the optimum of D over
// them (simd/class_loops.hpp), one example after the other in random order.
//
// Stopping: the duality gap P - D is a sum of non-negative terms, one for each example,
//   Crammer-Singer:  sum_m u_im (xi_i - h_im)
//   Weston-Watkins:  sum_{m != y_i} max((C_i - u_im) h_im, -u_im h_im)
// and training ends when P - D <= tol P, computed over all examples in double precision.
#pragma once

#include <cstdint>

namespace widemargin {

// All arrays belong to the caller; n examples, K classes.
struct MulticlassProblem {
    std::int64_t n, n_classes;
    const std::int64_t* classes;  // n: the class of every example, 0 .. K - 1
    const double* costs;          // n: C_i; an example of cost 0 takes no part
    const double* gram;           // n x n: a precomputed kernel matrix, or null
};

struct MulticlassOptions {
    double bias;      // size of the bias feature of the linear machine, 0 for none
    bool each_class;  // Weston-Watkins, otherwise Crammer-Singer
    double tol;       // of the relative duality gap
    std::int64_t max_passes;
    std::uint64_t seed;
};

struct MulticlassResults {
    double* alpha;  // n x K
    double* xi;     // n
    double *objective, *gap;
    std::int64_t* passes;
    std::uint8_t* converged;
    double* progress;  // 3: the relative gap, active examples and passes, read by another thread
};

// The linear machine: d features.
struct LinearClassesResults : MulticlassResults {
    double* coef;       // d x K: the order in which documents are scored
    double* intercept;  // K
};

// The kernel machine.
struct KernelClassesResults : MulticlassResults {
    double* scores;  // K x n: sum_j alpha_jm K(x_i, x_j)
};

inline void show_progress(const MulticlassResults& results, double relative_gap, std::int64_t active,
                          std::int64_t passes) {
    results.progress[0] = relative_gap;
    results.progress[1] = static_cast<double>(active);
    results.progress[2] = static_cast<double>(passes);
}

}  // namespace widemargin

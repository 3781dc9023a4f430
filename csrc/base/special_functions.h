// Special functions in double that the C++ library lacks or has with side effects.
#pragma once

namespace opentrn {

/// The inverse of erf: infinite at -1 and 1, NaN outside.
double erf_inv(double x);
/// log|gamma(x)|, without touching the C library's global sign.
double log_gamma(double x);
/// The derivative of log_gamma. NaN at negative integers; minus or plus infinity at plus or minus zero.
double digamma(double x);

}  // namespace opentrn

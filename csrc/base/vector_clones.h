// Several instruction sets for one function, chosen when the library is loaded. Not under sanitizers, whose run time is
// not yet up when that choice is made, and not where the compiler or the processor has no such thing.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPENTRN_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define OPENTRN_SANITIZED 1
#endif
#endif

#if defined(__x86_64__) && defined(__linux__) && !defined(OPENTRN_SANITIZED) && !defined(__clang__)
#define OPENTRN_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OPENTRN_VECTOR_CLONES
#endif

#pragma once

// Clang's -Wthread-safety needs annotated types of our own; std::mutex of libstdc++ carries none.
#if defined(__clang__)
#define TENURE_ANNOTATION(x) __attribute__((x))
#else
#define TENURE_ANNOTATION(x)
#endif

#define TENURE_CAPABILITY(name) TENURE_ANNOTATION(capability(name))
#define TENURE_SCOPED_CAPABILITY TENURE_ANNOTATION(scoped_lockable)
#define TENURE_GUARDED_BY(lock) TENURE_ANNOTATION(guarded_by(lock))
#define TENURE_REQUIRES(...) TENURE_ANNOTATION(requires_capability(__VA_ARGS__))
#define TENURE_ACQUIRE(...) TENURE_ANNOTATION(acquire_capability(__VA_ARGS__))
#define TENURE_RELEASE(...) TENURE_ANNOTATION(release_capability(__VA_ARGS__))
#define TENURE_TRY_ACQUIRE(...) TENURE_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define TENURE_EXCLUDES(...) TENURE_ANNOTATION(locks_excluded(__VA_ARGS__))
#define TENURE_NO_THREAD_SAFETY TENURE_ANNOTATION(no_thread_safety_analysis)

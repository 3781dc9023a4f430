#include "base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/environment.h"
#include "base/error.h"

namespace opentrn {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kInterruptPeriod{50};
constexpr int kMaxThreads = 1024;
// How long a thread looks for news before it sleeps. Waking a sleeping thread costs about as much as a small operator,
// and operators follow each other more closely than this.
constexpr std::chrono::microseconds kSpinPeriod{500};
constexpr int kPausesPerLook = 8;

std::atomic<void (*)()> interrupt_check{nullptr};

// True while this thread runs the body of a parallel_for.
thread_local bool inside_loop = false;

class InsideLoop {
 public:
  InsideLoop() { inside_loop = true; }
  ~InsideLoop() { inside_loop = false; }
  InsideLoop(const InsideLoop&) = delete;
  InsideLoop& operator=(const InsideLoop&) = delete;
};

// Lets the other thread of this core have its units for a moment.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `ready()`, for at most kSpinPeriod.
template <class Ready>
void spin_until(Ready ready) {
  const Clock::time_point deadline = Clock::now() + kSpinPeriod;
  while (!ready() && Clock::now() < deadline) {
    for (int i = 0; i < kPausesPerLook; ++i) pause();
  }
}

// One parallel_for. Lives on the caller's stack; helpers hold it only while `helpers` counts them.
struct Job {
  FunctionRef<void(int64_t, int64_t)> body;
  int64_t end;
  int64_t chunk;
  std::atomic<int64_t> next;
  std::atomic<bool> stopped{false};
  // Guarded by the pool's mutex; `helpers` may be looked at without it.
  std::atomic<int> helpers{0};
  int max_helpers = 0;
  std::exception_ptr error{};
  std::condition_variable idle{};
};

class Pool {
 public:
  void run(Job& job) {
    open(job);
    run_as_caller(job);
    close(job);
    if (job.error) std::rethrow_exception(job.error);
  }

 private:
  void open(Job& job) {
    const std::lock_guard lock(mutex_);
    while (static_cast<int>(workers_) < job.max_helpers) {
      std::thread([this] { work(); }).detach();
      ++workers_;
    }
    jobs_.push_back(&job);
    opened_.fetch_add(1, std::memory_order_relaxed);
    for (int i = spinning_; i < job.max_helpers; ++i) wake_.notify_one();
  }

  void run_as_caller(Job& job) {
    try {
      while (run_chunk(job)) check_interrupt();
    } catch (...) {
      stop(job, std::current_exception());
    }
  }

  // Waits for the helpers. The interrupt check runs outside the lock, for it may take the interpreter's lock.
  void close(Job& job) {
    std::unique_lock lock(mutex_);
    remove(job);
    if (job.helpers > 0) {
      lock.unlock();
      spin_until([&] { return job.helpers.load(std::memory_order_relaxed) == 0; });
      lock.lock();
    }
    while (job.helpers > 0) {
      job.idle.wait_for(lock, kInterruptPeriod);
      if (job.helpers == 0 || job.stopped) continue;
      lock.unlock();
      try {
        check_interrupt();
      } catch (...) {
        stop(job, std::current_exception());
      }
      lock.lock();
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = next_job(lock);
      ++job->helpers;
      lock.unlock();
      try {
        while (run_chunk(*job)) {
        }
      } catch (...) {
        stop(*job, std::current_exception());
      }
      lock.lock();
      remove(*job);
      if (--job->helpers == 0) job->idle.notify_one();
    }
  }

  // Waits for a job: awake at first, then asleep.
  Job* next_job(std::unique_lock<std::mutex>& lock) {
    Job* job = open_job();
    if (job != nullptr) return job;
    const uint64_t seen = opened_.load(std::memory_order_relaxed);
    ++spinning_;
    lock.unlock();
    spin_until([&] { return opened_.load(std::memory_order_relaxed) != seen; });
    lock.lock();
    --spinning_;
    wake_.wait(lock, [&] { return (job = open_job()) != nullptr; });
    return job;
  }

  Job* open_job() const {
    for (Job* job : jobs_) {
      if (job->helpers < job->max_helpers) return job;
    }
    return nullptr;
  }

  static bool run_chunk(Job& job) {
    if (job.stopped.load(std::memory_order_relaxed)) return false;
    const int64_t first = job.next.fetch_add(job.chunk, std::memory_order_relaxed);
    if (first >= job.end) return false;
    const InsideLoop inside;
    job.body(first, std::min(first + job.chunk, job.end));
    return true;
  }

  void stop(Job& job, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!job.error) job.error = std::move(error);
    job.stopped = true;
  }

  void remove(const Job& job) { std::erase(jobs_, &job); }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job*> jobs_;  // those that may still have chunks left
  size_t workers_ = 0;
  int spinning_ = 0;                 // workers that look for a job without being told
  std::atomic<uint64_t> opened_{0};  // jobs so far
};

// Never destroyed: workers wait in it until the process ends.
std::atomic<Pool*> current_pool{nullptr};

// A forked child has none of its parent's threads, and the pool's mutex may be held by one of them: it starts afresh.
void forget_pool() { current_pool = nullptr; }

Pool& pool() {
  static std::mutex creation;
  static const int registered = pthread_atfork(nullptr, nullptr, forget_pool);
  static_cast<void>(registered);
  if (Pool* existing = current_pool) return *existing;
  const std::lock_guard lock(creation);
  if (current_pool == nullptr) current_pool = new Pool;
  return *current_pool;
}

int hardware_threads() {
  static const int count = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return count;
}

void run_inline(int64_t begin, int64_t end, int64_t chunk, FunctionRef<void(int64_t, int64_t)> body) {
  for (int64_t first = begin; first < end; first += chunk) {
    {
      const InsideLoop inside;
      body(first, std::min(first + chunk, end));
    }
    check_interrupt();
  }
}

}  // namespace

int thread_count() {
  const std::optional<std::string> setting = environment("OPENTRN_NUM_THREADS");
  if (!setting || setting->empty()) return hardware_threads();
  int count = 0;
  const auto [end, status] = std::from_chars(setting->data(), setting->data() + setting->size(), count);
  if (status == std::errc() && end == setting->data() + setting->size() && count >= 1 && count <= kMaxThreads)
    return count;
  raise(ErrorKind::Value, {.where = "OPENTRN_NUM_THREADS",
                           .what = "not a number of threads",
                           .got = "'" + *setting + "'",
                           .expected = concat("an integer from 1 to ", kMaxThreads)});
}

void parallel_for(int64_t begin, int64_t end, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (begin >= end) return;
  const int64_t count = end - begin;
  grain = std::max<int64_t>(grain, 1);
  if (count <= grain || inside_loop) return body(begin, end);
  const int threads = thread_count();
  // Several ranges a thread even out their speeds; few enough that taking one costs nothing.
  const int64_t chunk = std::max(grain, (count - 1) / (int64_t{4} * threads) + 1);
  const int64_t chunks = (count - 1) / chunk + 1;
  if (threads == 1 || chunks == 1) return run_inline(begin, end, chunk, body);
  Job job{.body = body, .end = end, .chunk = chunk, .next = begin};
  job.max_helpers = static_cast<int>(std::min<int64_t>(threads, chunks)) - 1;
  pool().run(job);
}

void set_interrupt_check(void (*check)()) { interrupt_check = check; }

void check_interrupt() {
  void (*check)() = interrupt_check.load(std::memory_order_relaxed);
  if (check == nullptr) return;
  thread_local Clock::time_point last = Clock::now();
  const Clock::time_point now = Clock::now();
  if (now - last < kInterruptPeriod) return;
  last = now;
  check();
}

}  // namespace opentrn

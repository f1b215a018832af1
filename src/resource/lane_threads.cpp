#include <tenure/base/os.hpp>
#include <tenure/resource/lane_threads.hpp>
#include <thread>
#include <utility>

namespace tenure {

struct LaneThreads::Thread {
  Shared& shared;
  Event event;
  LaneWork* work = nullptr;  // guarded by shared.lock
};

// Counted by the object and by each thread: a thread in native code that never returns keeps it.
struct LaneThreads::Shared {
  Lock lock;
  Event ended;
  bool is_stopping TENURE_GUARDED_BY(lock) = false;
  int running TENURE_GUARDED_BY(lock) = 0;
  int references TENURE_GUARDED_BY(lock) = 1;
  std::vector<Thread*> idle TENURE_GUARDED_BY(lock);

  void unref() noexcept {
    bool is_last = false;
    {
      const LockGuard guard(lock);
      is_last = --references == 0;
    }
    if (is_last) delete this;
  }
};

namespace {
constinit thread_local bool t_is_lane = false;
}

bool LaneThreads::is_lane() noexcept { return t_is_lane; }

LaneThreads::LaneThreads() : shared_(new Shared) {}

LaneThreads::~LaneThreads() {
  stop(Duration{0});
  shared_->unref();
}

void LaneThreads::start(LaneWork& work) {
  {
    const LockGuard guard(shared_->lock);
    if (!shared_->idle.empty()) {
      Thread* thread = shared_->idle.back();
      shared_->idle.pop_back();
      thread->work = &work;
      thread->event.notify_one();  // under the lock: without it the thread could be done, and gone, by now
      return;
    }
  }
  auto* thread = new Thread{.shared = *shared_, .event = {}, .work = &work};
  {
    const LockGuard guard(shared_->lock);
    ++shared_->running;
    ++shared_->references;
    shared_->idle.reserve(static_cast<std::size_t>(shared_->running));  // going idle must not allocate
  }
  try {
    // Detached, and accounted for in `running`: one that hangs in a driver can't be joined, and must not end the process.
    std::thread([thread] { run(*thread); }).detach();
  } catch (...) {
    {
      const LockGuard guard(shared_->lock);
      --shared_->running;
    }
    shared_->unref();
    delete thread;
    throw;
  }
}

void LaneThreads::run(Thread& self) noexcept {
  os::set_thread_name("tenure-lane");
  t_is_lane = true;
  Shared& shared = self.shared;
  while (true) {
    const std::uint32_t ticket = self.event.ticket();
    LaneWork* work = nullptr;
    bool is_over = false;
    {
      const LockGuard guard(shared.lock);
      work = std::exchange(self.work, nullptr);
      is_over = work == nullptr && shared.is_stopping;
    }
    if (is_over) break;
    if (work == nullptr) {
      self.event.wait(ticket);
      continue;
    }
    work->serve();
    const LockGuard guard(shared.lock);
    if (!shared.is_stopping) shared.idle.push_back(&self);
  }
  delete &self;
  {
    const LockGuard guard(shared.lock);
    --shared.running;
  }
  shared.ended.notify_all();
  shared.unref();
}

int LaneThreads::stop(Duration deadline) noexcept {
  const auto end = std::chrono::steady_clock::now() + deadline;
  {
    const LockGuard guard(shared_->lock);
    shared_->is_stopping = true;
    for (Thread* thread : shared_->idle) thread->event.notify_one();
    shared_->idle.clear();
  }
  while (true) {
    const std::uint32_t ticket = shared_->ended.ticket();
    int running = 0;
    {
      const LockGuard guard(shared_->lock);
      running = shared_->running;
    }
    const Duration left = end - std::chrono::steady_clock::now();
    if (running == 0 || left <= Duration{0}) return running;
    shared_->ended.wait(ticket, left);
  }
}

}  // namespace tenure

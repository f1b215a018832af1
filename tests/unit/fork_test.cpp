// I19: in a child made by fork, handles are inert: they take no lock that a thread of the parent may have held.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/session_support.hpp"
#include "support/stress.hpp"

namespace tenure {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr int kWrong = 10;  // exit codes from here on name the step that was wrong

/// Runs `body` in a child that is killed where it hangs. Returns its exit code, or minus the signal that ended it.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool is_refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == ErrorCode::kFailedPrecondition;
  }
  return false;
}

struct Handles {
  explicit Handles(FakeEngine& engine) {
    RuntimeOptions options;
    options.threads = 2;
    options.hard_limit = 60s;
    runtime = std::make_unique<Runtime>(std::move(options));
    runtime->add_engine(engine.share());
    page = runtime->open("page");
    session = runtime->block_on(load_session(page.scope(), "model.fake"));
    slot = std::make_unique<SessionSlot>(page);
  }
  std::unique_ptr<Runtime> runtime;
  Owner page;
  Session session;
  std::unique_ptr<SessionSlot> slot;
};

/// All that a handle can do. 0, or the step that was wrong.
int exercise(Handles& handles, const Job& running, Deferred<float>& pending) {
  int step = kWrong;
  const auto refuses = [&step](const std::function<void()>& call) {
    ++step;
    return is_refused(call);
  };
  Session& session = handles.session;
  Owner& page = handles.page;
  const Scope scope = page.scope();
  if (!refuses([&] { static_cast<void>(session.run(some_inputs())); })) return step;
  if (!refuses([&] { static_cast<void>(session.close()); })) return step;
  if (!refuses([&] {
        std::vector<float> memory(4);
        static_cast<void>(session.run(borrow(memory), borrow(memory)));
      })) {
    return step;
  }
  if (!refuses([&] { page.launch(close_session, session); })) return step;
  if (!refuses([&] { static_cast<void>(begin_run(scope, session)); })) return step;
  if (!refuses([&] { static_cast<void>(handles.runtime->open("child")); })) return step;
  if (!refuses([&] { handles.runtime->block_on(close_session, session); })) return step;
  if (!refuses([&] { handles.slot->load("model.fake"); })) return step;
  if (!refuses([&] { static_cast<void>(start_future(page, run_once(session, 1.0F))); })) return step;
  session.request_close();
  static_cast<void>(session.state());
  static_cast<void>(session.waiting());
  static_cast<void>(session.running());
  static_cast<void>(session.signature());
  static_cast<void>(session.capabilities());
  {
    const Session copy = session;
    Session other = copy;
    other = Session();
  }
  running.cancel();
  static_cast<void>(running.state());
  static_cast<void>(running.is_complete());
  pending.cancel();
  scope.cancel();
  page.cancel();
  if (handles.runtime->shutdown(1s).is_complete) return kWrong - 1;
  session = Session();
  handles.slot.reset();
  handles.page = Owner();
  handles.runtime.reset();
  return 0;
}

TEST(ForkTest, I19_EachHandleIsInertInTheChildAndGoodInTheParent) {
  const Watchdog watchdog;
  FakeEngine engine{FakeScript{.run_time = 5ms}};
  Handles handles(engine);
  auto pending = begin_run(handles.page.scope(), handles.session);
  engine.await_runs_begun(1);
  EXPECT_EQ(in_child([&] { return exercise(handles, pending.job(), pending); }), 0);
  const float result = handles.runtime->block_on(await_deferred<float>, std::move(pending));
  EXPECT_EQ(result, 2.0F);
  EXPECT_TRUE(handles.runtime->shutdown(60s).is_complete);
  expect_clean(engine);
}

// The parent's threads are in the middle of everything when it forks, so that some hold their locks.
TEST(ForkTest, I19_NoLockOfTheParentHoldsTheChild) {
  const Watchdog watchdog;
  FakeEngine engine;
  Handles handles(engine);
  std::atomic<bool> is_over{false};
  std::vector<Job> busy;
  busy.reserve(3);
  Owner others = handles.runtime->open("others");
  for (int i = 0; i < 3; ++i) {
    busy.push_back(others.launch(
        [&](Session session) -> Task<void> {
          while (!is_over) {
            Task<float> run = run_once(session, 1.0F);
            co_await std::move(run);
            static_cast<void>(session.state());
          }
        },
        handles.session));
  }
  std::thread watcher([&] {
    while (!is_over) {
      static_cast<void>(handles.session.state());
      static_cast<void>(handles.runtime->ledger().totals());
      static_cast<void>(handles.runtime->engines());
    }
  });
  for (int round = 0; round < scaled(60); ++round) {
    auto pending = begin_run(handles.page.scope(), handles.session);
    EXPECT_EQ(in_child([&] { return exercise(handles, busy.front(), pending); }), 0) << "in round " << round;
    if (HasFailure()) break;
  }
  is_over = true;
  watcher.join();
  EXPECT_TRUE(handles.runtime->shutdown(60s).is_complete);
}

}  // namespace
}  // namespace tenure

// A page that can be left at any moment: its state lives in its owner, so nothing that runs can outlive what it uses.
#include <iostream>
#include <tenure/tenure.hpp>
#include <thread>

#include "engines/litert/litert_engine.hpp"

namespace tn = tenure;
using namespace std::chrono_literals;

struct Frame {
  int number = 0;
};

struct CameraPage {
  tn::Session faces;
  tn::Channel<Frame> frames{tn::kConflated};  // only the newest frame waits
  int shown = 0;

  tn::Task<void> show() {
    while (std::optional<Frame> frame = co_await frames.receive()) {
      tn::Inputs inputs;
      inputs.add(tn::Tensor(faces.signature().inputs[0]));
      tn::Outputs found = co_await faces.run(std::move(inputs));
      ++shown;  // on the owner's dispatcher: the UI thread
    }
  }
};

/// A camera that goes on after the page: it gets kClosed, not a dangling pointer.
class Camera {
 public:
  explicit Camera(tn::Sender<Frame> frames)
      : thread_([this, frames = std::move(frames)] {
          for (int number = 0; !is_off_; ++number) {
            if (frames.try_send(Frame{number}) == tn::TrySend::kClosed) return;
            std::this_thread::sleep_for(16ms);
          }
        }) {}
  ~Camera() {
    is_off_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> is_off_{false};
  std::thread thread_;
};

tn::Task<void> use_the_app(tn::Scope scope, tn::Runtime& runtime, tn::Dispatcher& ui, std::string model) {
  tn::Session faces = co_await scope.load(std::move(model));
  tn::Owner page = runtime.open("camera page", ui);
  tn::Kept<CameraPage> state = page.keep<CameraPage>(faces);
  Camera camera(state->frames.sender());
  state.launch(&CameraPage::show);
  co_await tn::delay(500ms);
  std::cout << state->shown << " frames shown\n";
  page.cancel();  // the user left: returns in microseconds
}

int main(int count, char** arguments) try {
  const std::string cache = count > 1 ? arguments[1] : ".cache";
  tn::LoopDispatcher ui;
  tn::Runtime runtime;
  runtime.add_engine(tn::open_litert(cache + "/engines/litert"));
  tn::Owner app = runtime.open("app", ui);
  tn::block_on(app.scope(), use_the_app, std::ref(runtime), std::ref(ui),
               cache + "/models/face_detection_short_range.tflite");
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

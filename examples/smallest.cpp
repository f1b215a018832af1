// The smallest program: load a model, run it on a picture, print the best score.
#include <algorithm>
#include <iostream>
#include <tenure/tenure.hpp>

#include "engines/litert/litert_engine.hpp"

namespace tn = tenure;

tn::Task<float> best_score(tn::Scope scope, std::string model, tn::Image photo) {
  tn::Session faces = co_await scope.load(std::move(model));
  const tn::ImageRange range{-1.0F, 1.0F};
  tn::Outputs found = co_await faces.run(photo, range);
  const auto scores = found["classificators"].view<float>();
  co_return *std::max_element(scores.begin(), scores.end());
}  // `faces` goes out of scope: drained and released behind us, in order

int main(int count, char** arguments) try {
  const std::string cache = count > 1 ? arguments[1] : ".cache";
  tn::Runtime runtime;
  runtime.add_engine(tn::open_litert(cache + "/engines/litert"));
  tn::Image photo = tn::read_image(cache + "/images/astronaut.png");
  std::cout << runtime.block_on(best_score, cache + "/models/face_detection_short_range.tflite", std::move(photo))
            << '\n';
} catch (const std::exception& error) {  // a missing file, a broken model, no engine: the message says which
  std::cerr << error.what() << '\n';
  return 1;
}

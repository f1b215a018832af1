// The first step of the demonstration: a real model on a real photograph.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <tenure/session.hpp>

#include "cli/context.hpp"
#include "cli/demo/steps.hpp"
#include "cli/face_detection.hpp"

namespace tenure::cli {
namespace {

constexpr Color kBoxColour{.red = 64, .green = 224, .blue = 96};
constexpr Color kPointColour{.red = 255, .green = 208, .blue = 64};

struct Found {
  std::vector<Face> faces;  // in fractions of the picture
};

Task<Found> find_faces(Scope scope, std::filesystem::path model, const Image* photo, const KnownModel* known) {
  const Session session = co_await scope.load(std::move(model));
  const TensorSpec& input = session.signature().inputs.at(0);
  Inputs inputs;
  inputs.add(fit(*photo, input, known->range, known->fit));
  Task<Outputs> run = session.run(std::move(inputs));
  const Outputs outputs = co_await std::move(run);
  const ImagePlacement place = placement_of(*photo, input, known->fit);
  Found found;
  for (const Face& face : decode_faces(outputs)) found.faces.push_back(undo_placement(face, place));
  co_return found;
}

PixelBox box_around(const Image& image, const Point& top_left, const Point& bottom_right, int margin) {
  const auto pixel = [](float fraction, int side) {
    return static_cast<int>(std::lround(fraction * static_cast<float>(side)));
  };
  return {.left = pixel(top_left.x, image.width) - margin,
          .top = pixel(top_left.y, image.height) - margin,
          .right = pixel(bottom_right.x, image.width) + margin,
          .bottom = pixel(bottom_right.y, image.height) + margin};
}

void draw(Image& image, const Face& face) {
  draw_box(image, box_around(image, face.top_left, face.bottom_right, 0), kBoxColour, 3);
  constexpr int kRadius = 2;
  for (const Point& point : face.points)
    draw_box(image, box_around(image, point, point, kRadius), kPointColour, kRadius);
}

Json entry_of(const Image& image, const Face& face) {
  const PixelBox box = box_around(image, face.top_left, face.bottom_right, 0);
  Json points = Json::array();
  for (const Point& point : face.points) {
    points.push_back({point.x * static_cast<float>(image.width), point.y * static_cast<float>(image.height)});
  }
  return {{"score", face.score},
          {"box", {{"left", box.left}, {"top", box.top}, {"right", box.right}, {"bottom", box.bottom}}},
          {"points", std::move(points)}};
}

}  // namespace

StepResult show_face(Context& context, const std::filesystem::path& picture) {
  const std::filesystem::path photo_file = context.cache() / "images" / "astronaut.png";
  if (!std::filesystem::exists(photo_file)) {
    throw Error(ErrorCode::kNotFound, "the photograph '" + photo_file.string() +
                                          "' is not in the cache; run tools/fetch/fetch, or name another cache");
  }
  Image photo = read_image(photo_file);
  const ModelFile model = context.model("face");
  const auto runtime = context.make_runtime();
  const Found found = runtime->block_on(find_faces, model.file, &photo, model.known);
  Json faces = Json::array();
  for (const Face& face : found.faces) {
    faces.push_back(entry_of(photo, face));
    draw(photo, face);
  }
  if (!context.wants_json) {
    print_line(fmt::format("  {} on {}, {} x {} pixels", model.file.filename().string(), photo_file.filename().string(),
                           photo.width, photo.height));
    for (const Json& face : faces) {
      const Json& box = face["box"];
      print_line(fmt::format("  a face, score {:.3f}, from ({}, {}) to ({}, {})", face["score"].get<float>(),
                             box["left"].get<int>(), box["top"].get<int>(), box["right"].get<int>(),
                             box["bottom"].get<int>()));
    }
    if (faces.empty()) print_line("  " + paint(Tone::kBad, "no face was found"));
  }
  write_png(picture, photo);
  if (!context.wants_json) print_line("  drawn into " + paint(Tone::kStrong, picture.string()));
  const bool is_found = found.faces.size() == 1;  // the photograph shows one person
  return {.is_as_promised = is_found,
          .document = {{"photo", photo_file.string()}, {"picture", picture.string()}, {"faces", std::move(faces)}}};
}

}  // namespace tenure::cli
